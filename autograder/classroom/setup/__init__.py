"""Making a classroom: chapters, packs for students, and a sample class."""
