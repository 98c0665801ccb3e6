"""Large classes with known scores, for benchmarks of grading and for grading by hand.

`course` makes a class that answers the course's own exercises; `two_questions` makes one with a
small notebook, whose cost is mostly imports and overhead.
"""
