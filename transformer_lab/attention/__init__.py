"""Attention records: what every head of a model did with one sentence, labelled and scored.

The lab, the figures, the lessons and evaluation read them.
"""
