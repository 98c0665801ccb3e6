"""The exercise of chapter 15."""
