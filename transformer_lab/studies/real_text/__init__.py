"""Lesson 09: Debian's package descriptions, twenty minutes of training on real text."""
