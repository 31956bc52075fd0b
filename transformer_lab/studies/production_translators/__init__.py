"""Lesson 18's studies: the same questions put to a production translator and to two of our own."""
