"""Properties of a good result that several exercises share, one small rule each."""
