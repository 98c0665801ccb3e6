"""Finds and identifies submissions before grading, and refuses those that cannot be read."""
