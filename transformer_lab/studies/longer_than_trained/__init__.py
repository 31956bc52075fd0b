"""Lesson 13: what happens to a model on inputs longer than any in its training?"""
