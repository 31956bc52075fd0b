"""Lessons 11 and 12: when in training does the pronoun's circuit appear?"""
