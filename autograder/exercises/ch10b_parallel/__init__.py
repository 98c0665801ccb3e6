"""The exercise of the optional part of chapter 10."""
