"""Scores of translations and of heads."""
