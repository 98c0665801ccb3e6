"""Measurements of the checks, each a ratio or a count within one run: `make bench`."""
