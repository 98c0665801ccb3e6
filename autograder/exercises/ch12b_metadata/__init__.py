"""Deep dive of chapter 12: one folder an exercise."""
