"""Lesson 12: where in a translator is the noun behind a pronoun found, and by which head?"""
