"""Chapter 14: one folder an exercise."""
