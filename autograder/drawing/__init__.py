"""Pictures of graphs, and of the differences between two graphs.

Every picture has a text form. Nothing here runs a learner's code, except that `draw` traces a
module that is not traced yet.
"""
