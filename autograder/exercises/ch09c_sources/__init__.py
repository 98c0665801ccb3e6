"""Chapter 09c, a deep dive: one folder an exercise."""
