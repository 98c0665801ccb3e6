"""Large classes with known scores: for the figures of grading, and to be graded by hand.

`course` makes a class that answers the course's own exercises, `two_questions` one with a small
notebook whose cost is the import and the machinery.
"""
