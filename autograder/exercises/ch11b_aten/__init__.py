"""Deep dive of chapter 11: one folder an exercise."""
