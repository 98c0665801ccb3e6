"""Chapter 08: one folder an exercise."""
