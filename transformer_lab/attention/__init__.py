"""Attention records: what every head of a model did with one sentence, with labels and scores.

The lab, the figures, the lessons and the evaluation code use them.
"""
