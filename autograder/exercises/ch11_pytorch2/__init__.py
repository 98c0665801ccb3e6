"""Chapter 11: one folder an exercise."""
