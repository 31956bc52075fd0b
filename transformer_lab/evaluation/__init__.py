"""Scores for translations, for their pronouns, and for attention through several layers.

Runs, studies and lessons use them; scores of single heads are in `attention.scores`.
"""
