"""Converts a solved notebook to a page of the book, with all answers folded."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import replace

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook, new_output

from autograder.book.headings import Heading
from autograder.book.links import Links
from autograder.cards.debrief import DebriefCard
from autograder.cards.hints import Hints
from autograder.cards.prediction import PredictionCard
from autograder.exercises import EXERCISES
from autograder.lessons import debriefs, predictions

ANSWER, SOLUTION, DEBRIEF = "The answer, and why", "The solution", "Debrief: a trap and two answers"
PROOF, LINE = "A proof of the text above", "The line"
LEFT_OUT = (
    "*Only the headings of this chapter are here: `fxcourse book --pages` executes nothing. "
    "`fxcourse book` has the whole chapter.*"
)
_SEE = re.compile(r"\s+See how far you are:\s*$")
_CALL = re.compile(r"^(predict|hint|debrief)\(\"([\w.]+)\"")
_DRILL = re.compile(r"^drill\(\"", re.M)
_SITE_PACKAGES = re.compile(r"/\S*/site-packages/")
"""The folder of packages on this machine; readers have another one."""


def page_of(notebook: NotebookNode, found: Sequence[Heading], links: Links) -> NotebookNode:
    """The page of a chapter.

    Args:
        notebook: in solved form, with outputs; without outputs, the page has none.
        found: its headings.
        links: the chapters and sections that links can lead to.

    Returns:
        A notebook whose tags tell myst-nb which cells to fold: solutions, answers of predictions,
        debriefs, proofs, drills.
    """
    page = copy.deepcopy(notebook)
    for index, cell in enumerate(page.cells):
        grading = cell.metadata.get("nbgrader", {})
        is_proof = cell.metadata.get("fxcourse", {}).get("proof", False)
        cell.metadata = NotebookNode()
        if cell.cell_type == "markdown":
            labels = {each.line: each.label for each in found if each.cell == index}
            cell.source = _prose(cell.source, labels, links, found[0].chapter)
        elif is_proof:
            _fold(cell, PROOF, "hide-input")
        elif cell.cell_type == "code":
            _code(cell, grading, found[0].chapter)
    page.cells = [cell for cell in page.cells if not _is_omitted(cell)]
    return page


def stub_of(found: Sequence[Heading]) -> NotebookNode:
    """A chapter in a book without executed chapters: only the headings, so that links work."""
    title, *others = (f"({each.label})=\n{'#' * each.level} {each.text}" for each in found)
    text = "\n\n".join([title, LEFT_OUT, *others])
    page: NotebookNode = new_notebook(cells=[new_markdown_cell(text)])
    return page


def _prose(text: str, labels: dict[int, str], links: Links, chapter: str) -> str:
    lines = text.split("\n")
    marked = [f"({labels[at]})=\n{line}" if at in labels else line for at, line in enumerate(lines)]
    whole = _SEE.sub("", "\n".join(marked))
    return links.linked(whole, chapter)


def _code(cell: NotebookNode, grading: NotebookNode, chapter: str) -> None:
    call = _CALL.match(cell.source)
    if grading.get("solution"):
        _fold(cell, SOLUTION, "hide-input")
    elif grading.get("grade"):
        cell.source = cell.source.split("\n")[0]  # the next line checks the hidden cases
        cell.outputs = cell.outputs[-1:]
    elif _DRILL.search(cell.source):
        _fold(cell, LINE, "hide-input")
    elif call and call[1] == "predict":
        asked = replace(predictions()[chapter][call[2]], proof="")  # the next cell is the proof
        cell.outputs = [_shown(PredictionCard(asked, "", ""))]
        _fold(cell, ANSWER, "remove-input", "hide-output")
    elif call and call[1] == "debrief":
        cell.outputs = [_shown(DebriefCard(call[2], debriefs()[call[2]]))]
        _fold(cell, DEBRIEF, "remove-input", "hide-output")
    elif call and call[1] == "hint":
        cell.outputs = [_shown(Hints(EXERCISES[call[2]]))]
        cell.metadata["tags"] = ["remove-input"]
    for output in cell.outputs:
        if "text/html" in output.get("data", {}):
            output.data = NotebookNode({"text/html": output.data["text/html"]})
        if output.output_type == "error":
            output.traceback = [_SITE_PACKAGES.sub("", line) for line in output.traceback]


def _shown(card: PredictionCard | DebriefCard | Hints) -> NotebookNode:
    output: NotebookNode = new_output("display_data", {"text/html": card.html()})
    return output


def _fold(cell: NotebookNode, title: str, *tags: str) -> None:
    cell.metadata["tags"] = list(tags)
    cell.metadata["mystnb"] = {"code_prompt_show": title, "code_prompt_hide": title}


def _is_omitted(cell: NotebookNode) -> bool:
    """Whether the book omits a cell, because it shows the learner's own progress."""
    return bool(cell.cell_type == "code" and cell.source.strip() == "progress()")
