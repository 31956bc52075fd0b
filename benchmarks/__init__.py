"""Comparisons of this package with its peers in speed, memory and imports: `make bench` runs them."""
