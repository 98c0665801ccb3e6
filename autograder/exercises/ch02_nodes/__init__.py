"""Chapter 02: one folder an exercise."""
