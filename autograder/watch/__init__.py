"""Exercises as Python files for the learner's own editor, checked on every save."""
