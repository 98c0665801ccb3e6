"""Deep dive of chapter 11 about exported programs: one folder an exercise."""
