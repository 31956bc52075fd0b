"""Lesson 14: the rows of the paper's Table 3, in miniature."""
