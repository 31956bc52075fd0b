"""Lesson 15: a recurrent translator without and with attention, and the Transformer."""
