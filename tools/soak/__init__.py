"""Translator, live explorer and bench, used for a long time: does what they hold grow? `make soak`."""
