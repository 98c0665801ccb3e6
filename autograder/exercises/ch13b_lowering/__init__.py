"""The deep dive of chapter 13, about parts of a graph for a backend: one folder an exercise."""
