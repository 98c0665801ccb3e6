"""Chapter 06: one folder an exercise."""
