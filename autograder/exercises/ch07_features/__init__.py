"""Chapter 07: one folder an exercise."""
