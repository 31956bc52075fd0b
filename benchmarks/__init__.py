"""This package side by side with its peers: speed, memory, imports. Run by hand: `make bench`."""
