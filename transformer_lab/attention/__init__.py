"""Attention records (the weights of every head for one sentence), and names and scores for heads.

The lab, the figures, the lessons and the evaluation code use them.
"""
