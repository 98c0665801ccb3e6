"""Records of a classroom: the gradebook, the journal, and the changes of a run."""
