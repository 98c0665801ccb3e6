"""Questions about a learner's own answer after a pass.

A question is about one run of the learner's code on a small model. Its right and its wrong options
are results of runs, and its key is computed in two ways. All of this happens in the process of
`child`, which gets text only. The learner's kernel never runs changed code.
"""
