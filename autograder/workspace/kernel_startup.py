"""Python runs this file in each kernel that `fxcourse lab` starts, in the learner's namespace."""

try:
    from autograder.workspace.first_cell import begin as _begin
except ImportError:  # another Python, started in a terminal of JupyterLab
    pass
else:
    _begin()
    del _begin
