"""Translator, live lab and lab in a page, used for a long time: `python -m tools.stress soak`."""
