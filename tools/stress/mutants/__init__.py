"""Small changes to the package that its tests should notice: `python -m tools.stress mutants`."""
