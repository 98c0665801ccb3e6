"""Carries a learner's work from existing notebooks into those of a new version.

Three versions are compared, cell by cell and by the cells' names: as released before, as it is now,
and as released now. Cells that the learner has not changed are replaced by new ones. Their own text
stays in its cell, or follows the cell that it followed before. No text of theirs is lost.
"""

from __future__ import annotations

import copy
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nbformat.notebooknode import NotebookNode

from autograder.workspace.cells import (
    Notebooks,
    grade_id,
    is_answer,
    is_of_old_layout,
    name_of,
    picked,
    text_of,
    with_letter,
)

_SHOWN = ("outputs", "execution_count")
"""The output of a cell, which a new version of the same cell keeps."""


@dataclass
class Carried:
    """A chapter after its update.

    Attributes:
        notebook: the chapter, with the learner's work in it.
        answers: number of answers that were carried.
        own: number of the learner's own cells.

    The remaining number counts cells that both the learner and the course have changed; the
    learner's text then follows the new cell.
    """

    notebook: NotebookNode
    answers: int = 0
    own: int = 0
    beside: int = 0


@dataclass
class _Slot:
    """A cell of the new version, with the learner's cells that follow it."""

    cell: NotebookNode
    after: list[NotebookNode] = field(default_factory=list)
    taken: bool = False
    left_out: bool = False


@dataclass
class _Chapter:
    """A chapter of the new version, under construction."""

    notebook: NotebookNode
    slots: list[_Slot]
    before: list[NotebookNode] = field(default_factory=list)
    answers: int = 0
    own: int = 0
    beside: int = 0

    def done(self) -> Carried:
        """The finished chapter, with unique ids."""
        cells = list(self.before)
        for slot in self.slots:
            cells += [] if slot.left_out else [slot.cell]
            cells += slot.after
        ids = {slot.cell.id for slot in self.slots}
        theirs = [cell for cell in cells if not any(cell is slot.cell for slot in self.slots)]
        for cell in theirs:
            if cell.get("id") in ids or not cell.get("id"):
                cell.id = uuid.uuid4().hex[:8]
            ids.add(cell.id)
        notebook = copy.copy(self.notebook)
        notebook.cells = cells
        return Carried(notebook, self.answers, self.own, self.beside)


def carry(mine: Notebooks, given: Mapping[str, NotebookNode], new: Notebooks) -> dict[str, Carried]:
    """The chapters of a new version, with all of a learner's work in them.

    Args:
        mine: the learner's notebooks.
        given: the same as released; some may be missing, as for an early version.
        new: the notebooks of the new version. They may have other names, and contain cells that
            were in another chapter.

    Returns:
        All chapters of the new version. In addition, a notebook that is in no new chapter, if it
        contains work of the learner that has no place in any other.
    """
    chapters = {
        name: _Chapter(nb, [_Slot(copy.deepcopy(cell)) for cell in nb.cells])
        for name, nb in new.items()
    }
    places = _Places(chapters)
    stray: dict[str, Carried] = {}
    for name, notebook in mine.items():
        left = _carry_one(name, notebook, given.get(name), places)
        if left:
            kept = copy.copy(notebook)
            kept.cells = left
            stray[name] = Carried(kept, own=len(left))
    return {name: chapter.done() for name, chapter in chapters.items()} | stray


class _Places:
    """Index of the cells of the new version."""

    def __init__(self, chapters: Mapping[str, _Chapter]) -> None:
        self.chapters = chapters
        self._named: dict[str, list[tuple[str, _Slot]]] = {}
        self._texts: dict[tuple[str, str], list[tuple[str, _Slot]]] = {}
        self._asked: dict[str, list[tuple[str, _Slot]]] = {}
        for name, chapter in chapters.items():
            for slot in chapter.slots:
                place = (name, slot)
                self._named.setdefault(name_of(slot.cell), []).append(place)
                self._texts.setdefault(_kind_and_text(slot.cell), []).append(place)
                pick = picked(slot.cell)
                if pick:
                    self._asked.setdefault(pick[0], []).append(place)

    def of(self, cell: NotebookNode, chapter: str, *, by_text: bool) -> tuple[str, _Slot] | None:
        """The place of a cell of the course; None if it was removed.

        Args:
            cell: the cell as released.
            chapter: its chapter, which is searched first.
            by_text: nothing is known about the release, so that its id may mean nothing.
        """
        found = self._free(self._named.get(name_of(cell), ()), chapter)
        if found or not by_text:
            return found
        found = self._free(self._texts.get(_kind_and_text(cell), ()), chapter)
        pick = picked(cell)
        if not found and pick:
            found = self._free(self._asked.get(pick[0], ()), chapter)
        return found

    @staticmethod
    def _free(places: Iterable[tuple[str, _Slot]], chapter: str) -> tuple[str, _Slot] | None:
        free = [place for place in places if not place[1].taken]
        return next((place for place in free if place[0] == chapter), free[0] if free else None)


class _AsGiven:
    """Maps each of a learner's cells to the cell of the course, as released.

    Args:
        notebook: the learner's.
        given: the same as released; None if it is no longer known.
    """

    def __init__(self, notebook: NotebookNode, given: NotebookNode | None) -> None:
        self.is_known = given is not None
        self.named = {name_of(cell): cell for cell in given.cells} if given is not None else {}
        names = {name_of(cell) for cell in notebook.cells}
        # Some editors write no ids. Only a cell whose id is lost is found by its text.
        self._texts = {
            _kind_and_text(cell): cell for name, cell in self.named.items() if name not in names
        }
        self.seen: set[str] = set()

    def of(self, cell: NotebookNode) -> NotebookNode | None:
        """The cell as released; None for one of the learner's own, or a copy."""
        if self.is_known:
            was: NotebookNode | None = self.named.get(name_of(cell))
            was = was or self._texts.get(_kind_and_text(cell))
        else:
            was = cell if grade_id(cell) or picked(cell) or is_of_old_layout(cell) else None
        if was is None or name_of(was) in self.seen:
            return None
        self.seen.add(name_of(was))
        return was

    def is_untouched(self, cell: NotebookNode, was: NotebookNode) -> bool:
        """Whether a cell is as released, except for the letter of a prediction."""
        if not self.is_known:
            return is_of_old_layout(cell) or self._is_only_picked(cell, cell)
        same = cell.cell_type == was.cell_type and text_of(cell) == text_of(was)
        return same or self._is_only_picked(cell, was)

    def _is_only_picked(self, cell: NotebookNode, was: NotebookNode) -> bool:
        """Whether the letter of a prediction is the only difference."""
        old = picked(was)
        if old is None or picked(cell) is None:
            return False
        if not self.is_known:
            plain = copy.copy(cell)
            plain.source = with_letter(cell, "?")
            return is_of_old_layout(plain)
        return with_letter(cell, old[1]).strip() == text_of(was)


def _carry_one(
    name: str, notebook: NotebookNode, given: NotebookNode | None, places: _Places
) -> list[NotebookNode]:
    """Carry one notebook's work. Returns the cells that have no place in any chapter."""
    as_given = _AsGiven(notebook, given)
    chapter = here = places.chapters.get(name)
    anchor: _Slot | None = None
    waiting: list[NotebookNode] = []
    for cell in notebook.cells:
        was = as_given.of(cell)
        found = places.of(was, name, by_text=given is None) if was is not None else None
        untouched = was is not None and as_given.is_untouched(cell, was)
        if found and was is not None:
            chapter, anchor = places.chapters[found[0]], found[1]
            anchor.taken = True
            chapter.before += waiting  # the cells before the first cell that has a place
            waiting = []
            _fill(chapter, anchor, cell, was, untouched)
        elif not untouched:
            own = _own(cell)
            if chapter is None:
                waiting.append(own)
                continue
            chapter.own += 1
            (anchor.after if anchor else chapter.before).append(own)
    if here is not None:
        _leave_out(here, as_given)
    return waiting


def _fill(
    chapter: _Chapter, slot: _Slot, cell: NotebookNode, was: NotebookNode, untouched: bool
) -> None:
    """Put a learner's cell into its slot in the new version."""
    new = slot.cell
    same_kind = cell.cell_type == new.cell_type
    pick = picked(cell)
    if same_kind and text_of(cell) == text_of(new):
        _show_on(new, cell)
    elif same_kind and untouched and pick and picked(new):
        new.source = with_letter(new, pick[1])
        _show_on(new, cell)
    elif untouched:
        return
    elif same_kind and is_answer(new):
        new.source = cell.source
        chapter.answers += 1
        _show_on(new, cell)
    elif same_kind and text_of(new) == text_of(was) and was is not cell and not grade_id(new):
        new.source = cell.source
        _show_on(new, cell)
    else:
        slot.after.append(_own(cell))
        chapter.beside += 1


def _leave_out(chapter: _Chapter, as_given: _AsGiven) -> None:
    """Leave out cells that the learner has deleted, unless they belong to an exercise."""
    for slot in chapter.slots:
        name = name_of(slot.cell)
        if name not in as_given.named or name in as_given.seen or slot.taken:
            continue
        same = text_of(slot.cell) == text_of(as_given.named[name])
        slot.left_out = same and not grade_id(slot.cell)


def _own(cell: NotebookNode) -> NotebookNode:
    """A copy of a cell without nbgrader's metadata, as one of the learner's own."""
    own = copy.deepcopy(cell)
    for key in ("nbgrader", "deletable", "editable"):
        own.metadata.pop(key, None)
    return own


def _show_on(new: NotebookNode, cell: NotebookNode) -> None:
    """Copy the output of a cell to its new version."""
    if cell.cell_type == new.cell_type == "code":
        for key in _SHOWN:
            new[key] = copy.deepcopy(cell.get(key, [] if key == "outputs" else None))


def _kind_and_text(cell: NotebookNode) -> tuple[str, str]:
    return cell.cell_type, text_of(cell)
