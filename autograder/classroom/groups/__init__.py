"""Groups of wrong answers: those that fail the same cases in the same way, with one comment."""
