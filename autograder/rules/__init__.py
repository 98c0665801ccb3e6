"""Rules of answer keys that several exercises share."""
