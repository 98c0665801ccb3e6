"""Chapter 04: one folder an exercise."""
