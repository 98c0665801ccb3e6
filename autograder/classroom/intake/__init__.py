"""Submissions before they are graded: found, identified, and refused where they cannot be read."""
