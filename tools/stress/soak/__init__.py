"""Translator, live explorer and bench, used for a long time: `python -m tools.stress soak`."""
