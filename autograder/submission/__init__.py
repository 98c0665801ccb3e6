"""A submission: what goes in and comes out, how it is put right, scored and cleaned.

Both sides know this room: `classroom`, which keeps the gradebook and decodes nothing that a student
wrote, and `boxed.judge_service`, which does all that in a box.
"""
