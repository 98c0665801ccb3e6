"""Chapter 07b: one folder an exercise."""
