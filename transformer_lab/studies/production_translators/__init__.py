"""Lesson 18's studies: the same questions for a production translator and for two of our own."""
