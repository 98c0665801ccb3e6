"""Chapter 03b: one folder an exercise."""
