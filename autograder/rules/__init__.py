"""Rules for a good result that several exercises share."""
