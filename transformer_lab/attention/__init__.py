"""Attention records (the weights of every head for one sentence), head names and head scores.

The lab, the figures, the lessons and the evaluation code use them.
"""
