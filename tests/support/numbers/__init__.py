"""A toy course about numbers: its models, a classroom and a syllabus."""
