"""Tutorials of the documentation, run as a reader would."""
