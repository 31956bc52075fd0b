"""Lessons 03 and 05: their small training runs, repeated with more seeds."""
