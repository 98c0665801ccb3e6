"""Records of a classroom: gradebook, journal, and what a run has changed."""
