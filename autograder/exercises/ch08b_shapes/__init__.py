"""Chapter 08b: one folder an exercise."""
