"""Lesson 15: a recurrent translator, the same with attention, and the Transformer."""
