"""Chapter 13, about parts of a graph and about memory: one folder an exercise."""
