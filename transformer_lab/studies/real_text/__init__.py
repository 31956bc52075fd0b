"""Lesson 09: twenty minutes of training on real text, Debian's package descriptions."""
