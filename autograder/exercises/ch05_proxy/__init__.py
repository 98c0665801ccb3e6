"""Chapter 05: one folder an exercise."""
