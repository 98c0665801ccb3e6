"""Cards: verdicts, hints and progress, as HTML and as plain text."""
