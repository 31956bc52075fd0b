"""Lesson 09: which small translation tasks can a reader train in two minutes? Three seeds each."""
