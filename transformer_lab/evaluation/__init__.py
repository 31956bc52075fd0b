"""Scores for translations and their pronouns, word alignment, and attention rollout.

Runs, studies and lessons use this package; scores for single heads are in `attention.scores`.
"""
