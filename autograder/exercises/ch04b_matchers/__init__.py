"""Chapter 04b: one folder an exercise."""
