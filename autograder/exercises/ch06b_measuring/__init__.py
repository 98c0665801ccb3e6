"""Chapter 06b: one folder an exercise."""
