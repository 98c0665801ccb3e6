"""The deep dive of chapter 14, about pairs that share a scale: one folder an exercise."""
