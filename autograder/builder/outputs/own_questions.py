"""Cells that ask a learner about their own answer, in the notebooks of the course alone.

The notebooks of a class, which are graded, do not have them.
"""

from __future__ import annotations

import copy
import re

from nbformat.notebooknode import NotebookNode

from autograder.builder.cell_ids import id_of_text
from autograder.builder.unfold import add_import

CALL = "ask_me"
_DEBRIEF = re.compile(r'debrief\("(\w+)"\)')

NOT_ASKED = {
    "backbone_c4_c5": "its models are whole networks",
    "compare_latency": "what its code holds are measured times",
    "count_matches": "one call of a matcher computes the number",
    "fresh_noise": "it draws random numbers",
    "kept_bytes": "its models are whole training steps",
    "node_names": "an answer is one line",
    "sign_flip": "an answer is one or two lines, without a graph",
    "worst_node": "its models are too large",
}
"""Exercises whose answers are not asked about, with the reason."""


def with_own_questions(notebook: NotebookNode) -> NotebookNode:
    """Add a cell after each debrief. Changes and returns the argument."""
    cells: list[NotebookNode] = []
    for cell in notebook.cells:
        cells.append(cell)
        found = _DEBRIEF.fullmatch(cell.source) if cell.cell_type == "code" else None
        if found and found[1] not in NOT_ASKED:
            asks = copy.deepcopy(cell)
            asks.source, asks.id = f'{CALL}("{found[1]}", "?", "?")', f"{CALL}-{found[1]}"
            cells.append(asks)
    if len(cells) > len(notebook.cells):
        changed = add_import(cells, CALL)
        if changed is not None:
            changed.id = id_of_text("code", changed.source)
    notebook.cells = cells
    return notebook
