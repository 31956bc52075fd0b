"""Lesson 10c: is the translation that the others agree with better than the beam's?"""
