"""Lessons 03 and 05: their small training runs again, with more seeds than a lesson has time for."""
