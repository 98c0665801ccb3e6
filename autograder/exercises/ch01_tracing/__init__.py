"""Chapter 01: one folder an exercise."""
