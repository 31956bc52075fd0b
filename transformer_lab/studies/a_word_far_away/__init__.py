"""Lesson 15: which models answer from a word that stands far away, and at what cost?"""
