"""Lesson 13: what becomes of a model on inputs longer than any it was trained on?"""
