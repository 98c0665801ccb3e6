"""Exercises as Python files, for people who live in an editor: checked on every save."""
