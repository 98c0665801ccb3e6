"""Prevents students' content from running in the browser of the person who grades it.

Formgrader and the feedback pages insert raw HTML unescaped: from outputs, from markdown, from
diagrams in markdown, and even from an execution count.

`nh3`, which parses like browsers, rebuilds all HTML of outputs from the tags and attributes that
`policy` and `styles` allow. This includes pictures and cards of the course, because nothing proves
where the output of a student's process came from. The real cards are put below the check cells
afterwards, and are not cleaned.

Markdown contains HTML in pieces, with more markdown between them. A piece stays unchanged if every
browser reads it in the same way and every tag in it is known to be harmless; everything else is
shown as text.
"""

from __future__ import annotations

import re
from typing import Any

from nbformat.notebooknode import NotebookNode

from autograder.environment.visible import in_a_line
from autograder.submission.sanitize.cells import NOT_SHOWN, clean_cell, length_of, taken_ids
from autograder.submission.sanitize.fields import LONE_SURROGATE, whole_number
from autograder.submission.sanitize.outputs import clean_outputs

__all__ = ["clean_cell", "clean_notebook", "clean_outputs", "in_a_line", "taken_ids"]


MOST_TEXT = 1_000_000
"""Most characters of text in a notebook; the largest of this course has some 30,000."""

_WORD = re.compile(r"[\w .,+()/:-]{0,80}")
_NOT_FOR_US = ("comment", "score", "extra_credit")


def clean_notebook(nb: NotebookNode) -> list[str]:
    """Clean markdown and raw cells in place, and drop all metadata that is not needed.

    Outputs are left to `clean_outputs`, because those of check cells are the course's.

    Returns:
        A sentence for each cell that was not harmless.
    """
    nb.metadata = NotebookNode(_known_metadata(nb.metadata))
    said, left = [], MOST_TEXT
    for cell in nb.cells:
        cell.metadata = NotebookNode(_known_cell_metadata(cell.get("metadata")))
    taken = taken_ids(nb)
    for number, cell in enumerate(nb.cells, start=1):
        cell.source = LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", cell.source)
        if cell.cell_type == "code":
            # The templates insert an execution count unescaped.
            cell.execution_count = whole_number(cell.get("execution_count"))
        if cell.cell_type == "markdown":
            left -= length_of(cell.source)
            if left < 0:
                cell.source = NOT_SHOWN
                said.append(f"Cell {number}: There is too much text in this notebook to show it.")
        sentence = clean_cell(cell, taken)
        if sentence:
            said.append(f"Cell {number}: {sentence}")
    return said


def _known_metadata(metadata: Any) -> dict[str, Any]:
    known = {"kernelspec": ("name", "display_name", "language"),
             "language_info": ("name", "version", "mimetype", "file_extension",
                               "pygments_lexer")}  # fmt: skip
    kept: dict[str, Any] = {}
    for key, names in known.items():
        part = metadata.get(key)
        if isinstance(part, dict):
            kept[key] = {n: part[n] for n in names if _is_word(part.get(n))}
    if not kept.get("kernelspec", {}).get("name"):
        kept.pop("kernelspec", None)
    else:
        kept["kernelspec"].setdefault("display_name", kept["kernelspec"]["name"])
    if not kept.get("language_info", {}).get("name"):
        kept.pop("language_info", None)
    return kept


def _known_cell_metadata(metadata: Any) -> dict[str, Any]:
    metadata = metadata if isinstance(metadata, dict) else {}
    kept = {k: metadata[k] for k in ("editable", "deletable") if isinstance(metadata.get(k), bool)}
    own = metadata.get("nbgrader")
    if isinstance(own, dict) and re.fullmatch(r"[\w-]{1,100}", str(own.get("grade_id", "-"))):
        kept["nbgrader"] = {k: v for k, v in own.items() if k not in _NOT_FOR_US}
    return kept


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(_WORD.fullmatch(value))
