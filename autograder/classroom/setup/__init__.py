"""Creates classrooms, changes their chapters, packs them for students, and makes a sample class."""
