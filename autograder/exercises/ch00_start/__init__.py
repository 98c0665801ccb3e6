"""Chapter 00: one folder an exercise."""
