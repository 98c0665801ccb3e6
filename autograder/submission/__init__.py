"""A submission: input and result of grading, its repair, scores and cleaning.

Two packages import this one: `classroom`, which writes the gradebook and does not decode students'
files, and `boxed.judge_service`, which does so in a sandbox.
"""
