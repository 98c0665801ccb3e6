"""An instructor's own exercise: written from a template that works, and tested.

`write` copies ``template`` into a classroom, `trying` tests the exercise there.
"""
