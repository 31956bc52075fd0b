"""Lesson 09: what makes the translator learn the pronoun sooner?"""
