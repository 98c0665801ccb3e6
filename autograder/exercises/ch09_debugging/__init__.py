"""Chapter 09: one folder an exercise."""
