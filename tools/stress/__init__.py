"""Long trials of the package, and lists for a release: `python -m tools.stress`."""
