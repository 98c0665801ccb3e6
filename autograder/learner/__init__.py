"""Notebook commands that are more than a check: predictions, drills, debriefs, and stale cells."""
