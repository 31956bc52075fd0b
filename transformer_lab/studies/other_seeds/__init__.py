"""Lesson 12: which heads choose the pronoun if only the training seed differs?"""
