"""Lesson 12: which heads choose the pronoun if only the seed of training differs?"""
