"""Chapter 09c, an optional part: one folder an exercise."""
