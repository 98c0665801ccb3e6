"""Optional part of chapter 11: one folder an exercise."""
