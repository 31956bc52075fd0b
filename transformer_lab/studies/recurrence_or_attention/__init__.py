"""Lesson 15: recurrent translators with and without attention, and the Transformer."""
