"""From ``solutions/NN_topic.py`` to notebooks, through jupytext and nbgrader's preprocessors.

Reading goes this way: `source` (file to cells), `chapter_lint` (what a chapter must keep to),
`unfold` (cells made of others, such as predictions), `expand` (short tags to nbgrader's metadata),
`release` (what learners get), `notebook_forms` (the functions below), `lesson_data` (what is told
afterwards), `generate` (all files), `execute` (running a notebook as a proof).
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
