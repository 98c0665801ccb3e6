"""From ``solutions/NN_topic.py`` to notebooks, through jupytext and nbgrader's preprocessors.

Reading goes this way: `source` (file to cells), `rules` (what a chapter must keep to),
`expand` (short tags to nbgrader's metadata), `release` (what learners get), `forms` (the
functions below), `course` (all files), `execute` (running a notebook as a proof).
"""

from autograder.builder.execute import ExecutionFailed, execute, solved
from autograder.builder.notebook_forms import as_text, build, source_notebook
from autograder.builder.paths import chapters
from autograder.builder.problems import BuildRefused, Problem
from autograder.builder.release import configure

__all__ = [
    "BuildRefused",
    "ExecutionFailed",
    "Problem",
    "as_text",
    "build",
    "chapters",
    "configure",
    "execute",
    "solved",
    "source_notebook",
]
