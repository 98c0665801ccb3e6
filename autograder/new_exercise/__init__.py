"""A new exercise: written from templates that work, and tested.

`write` writes an instructor's own exercise into a classroom, `trying` tests it there. `course`
writes an exercise into a chapter of the course. Both fill in the same `templates`.
"""
