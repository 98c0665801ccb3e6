"""Chapter 05b: one folder an exercise."""
