"""From a chapter's short tags to a notebook in source form: small links, each with one job.

Each link reads the tags from the `Chapter` in ``resources["chapter"]``, whose cell ``i`` is
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
    """Overwrites what jupytext noted, of the notebook and of its cells."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Converted:
        """Overwrite the notebook's metadata, then that of each cell."""
        nb.metadata = from_dict(NOTEBOOK)
        nb.nbformat, nb.nbformat_minor = 4, 5
        done: Converted = super().preprocess(nb, resources)  # type: ignore[no-untyped-call]
        return done

    def preprocess_cell(self, cell: NotebookNode, resources: Resources, index: int) -> Converted:
        """Forget the header's tags and the blank lines between cells."""
        cell.metadata = NotebookNode()
        cell.source = cell.source.strip("\n")
        return cell, resources


class CardHeadings(Preprocessor):
    """Puts the heading above an exercise card, and folds its fine print."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Converted:
        """Number the cards and head them."""
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
    """Gives solve and check cells nbgrader's metadata."""

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
    """Adds to each check the hidden cases, which nbgrader removes on release."""

    def preprocess_cell(self, cell: NotebookNode, resources: Resources, index: int) -> Converted:
        """Add the region to one cell."""
        tagged = resources["chapter"].cells[index]
        if tagged.tag == "check":
            hidden = f"check({tagged.value}, hidden=True)"
            cell.source += f"\n### {BEGIN_HIDDEN}\n{hidden}\n### {END_HIDDEN}"
        return cell, resources


class ErrorsGoOn(Preprocessor):
    """Lets "Run all" go on past checks that fail and past cells that raise.

    Some are meant to; others use what the learner has not written yet.
    """

    def preprocess_cell(self, cell: NotebookNode, resources: Resources, index: int) -> Converted:
        """Tag one cell; a cell that must raise also says what."""
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
    """Gives each cell an id that says what it is: a cell more, or elsewhere, changes no other's."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> Converted:
        """Count anew which texts have come."""
        self._came: Counter[str] = Counter()
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
        self._came[name] += 1
        return name if self._came[name] == 1 else f"{name}-{self._came[name]}"


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
    """The source form of a chapter's notebook. The argument is changed and returned."""
    for link in CHAIN:
        notebook, resources = link().preprocess(notebook, resources)
    return notebook
