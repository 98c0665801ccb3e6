"""Chapter 02b: one folder an exercise."""
