"""Chapter 03: one folder an exercise."""
