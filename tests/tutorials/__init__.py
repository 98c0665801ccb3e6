"""Tutorials of the documentation, run as a reader runs them."""
