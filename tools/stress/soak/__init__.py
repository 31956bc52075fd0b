"""Long use of the translator, the live lab and the lab in a page: `python -m tools.stress soak`."""
