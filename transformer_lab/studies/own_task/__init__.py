"""Lesson 09: which small translation tasks a reader can train in two minutes, with three seeds each."""
