"""How a graph, a before/after pair, a verdict, hints and progress look.

Every picture has a text form. Nothing here runs a learner's code, except that
`draw` traces a module that is not traced yet.
"""
