"""The exercise of the deep dive of chapter 10."""
