"""What a verdict, hints and progress look like: cards, and their text form."""
