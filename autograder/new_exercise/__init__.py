"""An instructor's own exercise: written from a template that works, and tried.

`write` copies ``template`` into a classroom, `trying` tries what lies there.
"""
