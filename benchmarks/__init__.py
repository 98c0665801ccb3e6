"""Figures about the checks, each as a ratio or a count in one run: `make bench`."""
