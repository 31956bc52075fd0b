"""Lessons 03 and 05: their small trainings again, with more seeds than a lesson has time for."""
