"""The box in which a student's code runs: a forked process behind walls, and a wire to it.

`worker` is the only part that a grader uses. Behind it, `warm` is a process that has imported
what chapters import; for each notebook it forks a process that raises `walls` around itself,
takes `bounds` upon itself, and lets `student` run cells and try answers. A `keeper` inside the
walls ends everything when memory or time is used up. What comes out crosses `frames`, and is a
claim: plain data, read with limits.

Nothing is imported here: the forked side must hold no more than it needs.
"""
