"""Scores of translations, of their pronouns, and of attention through several layers.

Runs, studies and lessons use them; scores of single heads are in `attention.scores`.
"""
