"""Pictures of graphs, and of what two of them differ in.

Every picture has a text form. Nothing here runs a learner's code, except that `draw` traces a
module that is not traced yet.
"""
