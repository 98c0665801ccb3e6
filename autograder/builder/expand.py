"""Turns a chapter's short tags into a notebook in source form, by small preprocessors.

Each preprocessor reads the tags from the `Chapter` in ``resources["chapter"]``, whose cell ``i`` is
cell ``i`` of the notebook, the exercises from ``resources["cards"]``, by name, and the minutes of
sections from ``resources["minutes"]``, by number.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import from_dict
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import CheckCellMetadata, ClearOutput

from autograder.builder.card_headings import heading, with_fold
from autograder.builder.cell_ids import id_of_text
from autograder.builder.metadata import NOTEBOOK, check_metadata, solve_metadata
from autograder.builder.sections import NUMBERED, with_minutes
from autograder.builder.solution_regions import BEGIN_HIDDEN, END_HIDDEN
from autograder.builder.source import DERIVED

Resources = dict[str, Any]
Converted = tuple[NotebookNode, Resources]


class PlainMetadata(Preprocessor):
    """Overwrites jupytext's metadata of the notebook and of its cells."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Converted:
        """Overwrite the notebook's metadata, then that of each cell."""
        nb.metadata = from_dict(NOTEBOOK)
        nb.nbformat, nb.nbformat_minor = 4, 5
        done: Converted = super().preprocess(nb, resources)  # type: ignore[no-untyped-call]
        return done

    def preprocess_cell(self, cell: NotebookNode, resources: Resources, index: int) -> Converted:
        """Remove the header's tags and the blank lines between cells."""
        cell.metadata = NotebookNode()
        cell.source = cell.source.strip("\n")
        return cell, resources


class CardHeadings(Preprocessor):
    """Adds the heading above an exercise card, and folds the card's fine print."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Converted:
        """Number the cards and add their headings."""
        chapter = resources["chapter"]
        cards = list(resources["cards"].values())
        for node, cell in zip(nb.cells, chapter.cells, strict=True):
            if cell.tag == "card":
                card = resources["cards"][cell.value]
                above = heading(card, chapter.name, cards.index(card) + 1)
                node.source = f"{above}\n\n{with_fold(node.source)}"
        return nb, resources


class SectionMinutes(Preprocessor):
    """Adds the estimated minutes to the headings of sections."""

    def preprocess_cell(self, cell: NotebookNode, resources: Resources, index: int) -> Converted:
        """Add them to one cell."""
        found = NUMBERED.match(cell.source) if cell.cell_type == "markdown" else None
        if found:
            heading = with_minutes(found[0], resources["minutes"][found["number"]])
            cell.source = heading + cell.source[found.end() :]
        return cell, resources


class GradeMetadata(Preprocessor):
    """Adds nbgrader's metadata to solve and check cells."""

    def preprocess_cell(self, cell: NotebookNode, resources: Resources, index: int) -> Converted:
        """Expand the tag of one cell."""
        tagged = resources["chapter"].cells[index]
        if tagged.tag == "solve":
            cell.metadata.nbgrader = solve_metadata(tagged.value)
        elif tagged.tag == "check":
            points = resources["cards"][tagged.value].points
            cell.metadata.nbgrader = check_metadata(tagged.value, points)
        return cell, resources


class HiddenTests(Preprocessor):
    """Adds the hidden cases to each check; nbgrader removes them on release."""

    def preprocess_cell(self, cell: NotebookNode, resources: Resources, index: int) -> Converted:
        """Add the region to one cell."""
        tagged = resources["chapter"].cells[index]
        if tagged.tag == "check":
            hidden = f"check({tagged.value}, hidden=True)"
            cell.source += f"\n### {BEGIN_HIDDEN}\n{hidden}\n### {END_HIDDEN}"
        return cell, resources


class ErrorsGoOn(Preprocessor):
    """Lets "Run all" continue after checks that fail and after cells that raise.

    Some cells must raise; others use functions that the learner has not written yet.
    """

    def preprocess_cell(self, cell: NotebookNode, resources: Resources, index: int) -> Converted:
        """Tag one cell; for a cell that must raise, also record the exception."""
        tagged = resources["chapter"].cells[index]
        if tagged.tag in ("check", "raises", "uses"):
            cell.metadata.tags = ["raises-exception"]
        if tagged.tag == "raises":
            cell.metadata.fxcourse = {"raises": tagged.value}
        return cell, resources


class FoldedProofs(Preprocessor):
    """Folds the code of proofs, in the notebooks that have them."""

    def preprocess_cell(self, cell: NotebookNode, resources: Resources, index: int) -> Converted:
        """Mark one cell."""
        if resources["chapter"].cells[index].tag == "proof":
            cell.metadata.fxcourse = {"proof": True}
            cell.metadata.jupyter = {"source_hidden": True}
        return cell, resources


class StableIds(Preprocessor):
    """Gives each cell an id from its content, so that adding a cell changes no other id."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Converted:
        """Reset the counts of texts, then name each cell."""
        self._seen: Counter[str] = Counter()
        converted: Converted = super().preprocess(nb, resources)  # type: ignore[no-untyped-call]
        return converted

    def preprocess_cell(self, cell: NotebookNode, resources: Resources, index: int) -> Converted:
        """Name a cell after its grade id, prediction or tag, and otherwise after its text."""
        tagged = resources["chapter"].cells[index]
        if "nbgrader" in cell.metadata:
            cell.id = cell.metadata.nbgrader.grade_id
        elif tagged.id:
            cell.id = tagged.id
        elif tagged.tag in ("card", "hint", *DERIVED):
            cell.id = f"{tagged.tag}-{tagged.value}"
        else:
            cell.id = self._id_of_text(tagged.kind, tagged.source)
        return cell, resources

    def _id_of_text(self, kind: str, source: str) -> str:
        name = id_of_text(kind, source)
        self._seen[name] += 1
        return name if self._seen[name] == 1 else f"{name}-{self._seen[name]}"


CHAIN = (
    PlainMetadata,
    CardHeadings,
    SectionMinutes,
    GradeMetadata,
    HiddenTests,
    ErrorsGoOn,
    FoldedProofs,
    StableIds,
    ClearOutput,
    CheckCellMetadata,
)


def expand(notebook: NotebookNode, resources: Resources) -> NotebookNode:
    """The source form of a chapter's notebook. Changes and returns the argument."""
    for link in CHAIN:
        notebook, resources = link().preprocess(notebook, resources)
    return notebook
