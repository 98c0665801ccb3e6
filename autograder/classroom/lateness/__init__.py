"""Late work: deadlines and penalties."""
