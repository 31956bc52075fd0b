"""Translator, live explorer and lab, used for a long time: `python -m tools.stress soak`."""
