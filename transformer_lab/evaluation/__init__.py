"""Scores for translations and their pronouns, and attention rollout through several layers.

Runs, studies and lessons use them; scores of single heads are in `attention.scores`.
"""
