"""Chapter 09b: one folder an exercise."""
