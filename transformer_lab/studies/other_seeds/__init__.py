"""Lesson 12: which heads choose the pronoun when only the seed of training differs?"""
