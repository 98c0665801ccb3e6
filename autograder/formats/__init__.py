"""A graded notebook in the forms that other programs and platforms read."""
