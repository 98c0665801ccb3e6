"""Puts right what students' notebooks have been seen to do to the cells that nbgrader tracks.

Stock nbgrader drops such a submission, stops the whole class at it, or leaves its points
open for ever. Each function here mends one thing, in place, and yields what it did. The sentences
name cells by their grade ids, which are the course's, and say what was changed in fixed words,
never in a student's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.submission.nbgrader_parts import utils
from autograder.submission.normalize import set_type
from autograder.submission.source_cells import SourceCell, grade_id, normal
from autograder.submission.tampering import (
    defined,
    is_long,
    is_replaced,
    own_code,
    pretends,
    tree_of,
    what_changed,
)


class Kind(Enum):
    """What a repair says of the one who handed in."""

    NOTED = "nothing: the notebook is as it was given out once"
    MENDED = "nothing: editors and slips do this to notebooks"
    RESTORED = "something was changed that students leave alone, and nothing could be gained by it"
    FORGED = "something was changed that could have gained points"


@dataclass(frozen=True)
class Repair:
    """One thing that was put right.

    Attributes:
        kind: what it says of the one who handed in.
        sentence: what was found, and what was done.
    """

    kind: Kind
    sentence: str


SourceCells = Mapping[str, SourceCell]
Step = Callable[[NotebookNode, SourceCells], Iterator[Repair]]


def _mended(sentence: str) -> Repair:
    return Repair(Kind.MENDED, sentence)


def know_earlier_names(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Cells that had another name when they were given out, and the same text."""
    present = {grade_id(cell) for cell in nb.cells}
    now: dict[str, list[str]] = {}
    for master in source_cells.values():
        for name in {given.name for given in master.given} - {master.name}:
            now.setdefault(name, []).append(master.name)
    for cell in nb.cells:
        name = grade_id(cell) or ""
        found = [new for new in now.get(name, ()) if new not in present]
        if len(now.get(name, ())) == 1 and found and name not in source_cells:
            cell.metadata["nbgrader"]["grade_id"] = found[0]
            present.add(found[0])
            text = f"The cell `{found[0]}` had another name in an earlier release; it counts."
            yield Repair(Kind.NOTED, text)


def forget_unknown(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Metadata of cells that the course does not have, or that cannot be read."""
    for number, cell in enumerate(nb.cells, start=1):
        if "nbgrader" in cell.metadata and grade_id(cell) not in source_cells:
            claimed = grade_id(cell) is not None
            del cell.metadata["nbgrader"]
            if claimed:
                yield _mended(
                    f"Cell {number} came from another notebook, or from an earlier release; "
                    "it counts as an ordinary cell."
                )


def recognise(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Cells whose metadata was lost, as some editors and converters lose it."""
    present = {grade_id(cell) for cell in nb.cells}
    missing = [master for master in source_cells.values() if master.name not in present]
    if not missing:
        return
    looks = _Looks(nb.cells)
    for master in missing:
        found = looks.last_like(master)
        if found is not None:
            found.metadata["nbgrader"] = NotebookNode(master.metadata())
            yield _mended(f"The cell `{master.name}` had lost its metadata; it was recognised.")


class _Looks:
    """What cells look like that have no name: each is looked at once."""

    def __init__(self, cells: list[NotebookNode]) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        named = {name: n for n, cell in enumerate(cells) if (name := grade_id(cell))}
        self._answers: dict[str, int] = {}
        self._cells = cells
        for number, cell in enumerate(cells):
            names = defined(cell.source) if cell.cell_type == "code" else frozenset()
            self._answers |= dict.fromkeys(names, number)
            if grade_id(cell) is not None:
                continue
            self._numbers["id", str(cell.get("id"))] = number
            if cell.cell_type == "code":
                self._numbers["text", normal(cell.source)] = number
                self._numbers |= {("name", name): number for name in names}
        self._answers |= named

    def last_like(self, master: SourceCell) -> NotebookNode | None:
        """The last cell that looks like one of the course's and has not been taken yet.

        A check above its answer is none of these, but an example of the chapter's or a trial: what
        counts is not written there yet.
        """
        keys = [("id", master.name)]
        if master.solution:
            keys.append(("name", master.name))
        elif master.locked:
            answer = self._answers.get(master.exercise or "", -1)
            texts = [("text", text) for text in master.texts if text]
            keys += [key for key in texts if self._numbers.get(key, -1) > answer]
        numbers = [self._numbers[key] for key in keys if key in self._numbers]
        free = [n for n in numbers if grade_id(self._cells[n]) is None]
        return self._cells[max(free)] if free else None


def join_halves(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """An answer that was split into cells of which not each one is Python by itself."""
    start = 0
    while start < len(nb.cells):
        name, end = grade_id(nb.cells[start]), start + 1
        while name and end < len(nb.cells) and grade_id(nb.cells[end]) == name:
            end += 1
        parts = [cell.source for cell in nb.cells[start:end]]
        if (
            name
            and len(parts) > 1
            and source_cells[name].solution
            and source_cells[name].cell_type == "code"
        ):
            whole = "\n".join(parts)
            if not all(map(_stands_alone, parts)) and _stands_alone(whole):
                nb.cells[start].source = whole
                del nb.cells[start + 1 : end]
                end = start + 1
                yield _mended(
                    f"The cell `{name}` was split within its code; its parts were joined."
                )
        start = end


def _stands_alone(source: str) -> bool:
    """Whether a cell is Python by itself, and does not begin within something."""
    if source.lstrip("\n").startswith((" ", "\t")):
        return False  # IPython would run it, without the indentation
    return is_long(source) or tree_of(source) is not None


def keep_one_of_each(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Copies: copying or splitting a cell copies its metadata too."""
    copies: dict[str, list[NotebookNode]] = {}
    for cell in nb.cells:
        copies.setdefault(grade_id(cell) or "", []).append(cell)
    dropped: set[int] = set()
    for name, master in source_cells.items():
        cells = copies.get(name, [])
        if len(cells) < 2:
            continue
        as_given = [cell for cell in cells if _is_as_given(cell, master)]
        worked_in = [cell for cell in cells if not _is_as_given(cell, master)]
        keep = ((as_given if master.locked else worked_in) or cells)[-1]
        for cell in worked_in:
            if cell is not keep:
                del cell.metadata["nbgrader"]  # an ordinary cell from now on
        # A copy as it was given holds no work, and run below the answer it would undo it.
        dropped |= {id(cell) for cell in as_given if cell is not keep}
        kind = "as given" if master.locked else "with work"
        which = "the last one" if keep is cells[-1] else f"the last one {kind}"
        yield _mended(f"The cell `{name}` was there {len(cells)} times; {which} counts.")
    nb.cells = [cell for cell in nb.cells if id(cell) not in dropped]


def _is_as_given(cell: NotebookNode, master: SourceCell) -> bool:
    source = normal(cell.source)
    part = master.locked and any(source in text for text in master.texts)
    return not source or part or source in master.texts


def restore_type(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """A code cell that was made a markdown cell, or the other way round."""
    for cell, master in _tracked(nb, source_cells):
        if cell.cell_type != master.cell_type:
            now, then = cell.cell_type, master.cell_type
            yield _mended(
                f"The cell `{master.name}` had been made a {now} cell; it is a {then} cell again."
            )
            set_type(cell, master.cell_type)


def restore_metadata(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Points and flags that were changed, and keys that are missing."""
    for cell, master in _tracked(nb, source_cells):
        claimed, true = cell.metadata["nbgrader"], master.metadata()
        yield from _points_of(claimed, master)
        yield from _flags_of(cell, master)
        cell.metadata["nbgrader"] = NotebookNode(true)


def _points_of(claimed: Mapping[str, Any], master: SourceCell) -> Iterator[Repair]:
    if "points" not in claimed or not (master.grade or master.task or claimed.get("grade")):
        return  # nbgrader reads no points there
    points, true = _number(claimed["points"]), master.points or 0.0
    given = [one.points or 0.0 for one in master.given]
    if points == true:
        return
    whose = f"The points of the cell `{master.name}`"
    if points in given:
        yield Repair(Kind.NOTED, f"{whose} are those of an earlier release; the new ones count.")
    elif points is not None and points > max([true, *given]):
        yield Repair(Kind.FORGED, f"{whose} had been raised; they are restored.")
    else:
        yield Repair(Kind.RESTORED, f"{whose} had been changed; they are restored.")


def _number(points: Any) -> float | None:
    try:
        return float(points)
    except (TypeError, ValueError, OverflowError):
        return None


def _flags_of(cell: NotebookNode, master: SourceCell) -> Iterator[Repair]:
    claimed = tuple(bool(value(cell)) for value in (utils.is_grade, utils.is_solution,
                                                    utils.is_task, utils.is_locked))  # fmt: skip
    known = set(cell.metadata["nbgrader"])
    if not known & {"grade", "solution", "task", "locked"}:
        return  # lost, and not changed
    true = (master.grade, master.solution, master.task, master.locked)
    given = [(one.grade, one.solution, one.task, one.locked) for one in master.given]
    if claimed == true:
        return
    whose = f"The flags of the cell `{master.name}`"
    if claimed in given:
        yield Repair(Kind.NOTED, f"{whose} are those of an earlier release; the new ones count.")
    elif master.locked and not claimed[3] and is_replaced(cell.source, master):
        text = f"The cell `{master.name}` had been unlocked, and its test replaced; it is restored."
        yield Repair(Kind.FORGED, text)
    else:
        yield Repair(Kind.RESTORED, f"{whose} had been changed; they are restored.")


def restore_source(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """The text of cells that students may not change; what they wrote into them is kept beside."""
    present = {grade_id(cell) for cell in nb.cells}
    cells: list[NotebookNode | None] = []
    for cell in nb.cells:
        master = source_cells.get(grade_id(cell) or "")
        if master is None or not master.locked:
            cells.append(cell)
            continue
        source, cell.source = cell.source, master.source
        if master.is_present(source):
            cells.append(cell)
        elif master.was_given(source):
            cells.append(cell)
            text = f"The cell `{master.name}` is that of an earlier release; the new one counts."
            yield Repair(Kind.NOTED, text)
        else:
            own, answer = _own_cell(source, master, source_cells, present)
            cells += [cell, own] if master.cell_type == "markdown" else [own, cell]
            yield _about(source, master, answer)
    nb.cells = [cell for cell in cells if cell is not None]


def _own_cell(
    source: str, master: SourceCell, source_cells: SourceCells, present: set[str | None]
) -> tuple[NotebookNode | None, SourceCell | None]:
    """What a student wrote into a locked cell, as a cell; and the answer that it is, if any."""
    own = own_code(source, master)
    if not own:
        return None, None
    if master.cell_type != "code":
        return new_markdown_cell(own), None
    cell, names = new_code_cell(own), defined(own)
    absent = [m for m in source_cells.values() if m.solution and m.name not in present]
    answer = next((m for m in absent if m.name in names or _defines_as(m, names)), None)
    if answer is not None and answer.cell_type == "code":
        present.add(answer.name)
        cell.metadata["nbgrader"] = NotebookNode(answer.metadata())
        return cell, answer
    return cell, None


def _defines_as(master: SourceCell, names: frozenset[str]) -> bool:
    """Whether these are the names that an answer's cell defines as it is given out."""
    own = defined(master.source)
    return bool(own) and own <= names


def _about(source: str, master: SourceCell, answer: SourceCell | None) -> Repair:
    if answer is not None:
        return _mended(
            f"The cells `{answer.name}` and `{master.name}` had been merged; they are two again."
        )
    if pretends(source, master):
        text = f"The cell `{master.name}` had been made to pass without an answer; it is restored."
        return Repair(Kind.FORGED, text)
    what = what_changed(source, master)
    text = f"The cell `{master.name}` had been changed ({what}); its text is restored."
    return Repair(Kind.RESTORED, text)


def add_missing(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Cells that carry points and were deleted."""
    present = {grade_id(cell) for cell in nb.cells}
    missing = [
        master
        for master in source_cells.values()
        if master.name not in present and (master.grade or master.task)
    ]
    names = [defined(cell.source) for cell in nb.cells] if missing else []
    for master in missing:
        code = master.cell_type == "code"
        new: Callable[..., NotebookNode] = new_code_cell if code else new_markdown_cell
        source = (
            _WAS_MISSING[master.cell_type] + master.source if master.solution else master.source
        )
        cell = new(source, metadata={"nbgrader": NotebookNode(master.metadata())})
        place = _place_of(master, source_cells, nb, names)
        nb.cells.insert(place, cell)
        names.insert(place, frozenset())
        more = " A person must look for the answer." if master.solution else ""
        yield _mended(f"The cell `{master.name}` was missing; it was put back.{more}")


_WAS_MISSING = {
    "code": "# This cell was missing when the notebook was handed in.\n",
    "markdown": "*This cell was missing when the notebook was handed in.*\n\n",
}
"""Stands above an answer that people grade: as it was given out, it would count as no answer."""


def _place_of(
    master: SourceCell, source_cells: SourceCells, nb: NotebookNode, names: list[frozenset[str]]
) -> int:
    """Where a cell that was deleted belongs: below the answer that it checks, or as it was."""
    tracked = {grade_id(cell): i for i, cell in enumerate(nb.cells)}
    order, name = list(source_cells), master.exercise
    places = [i for i, known in enumerate(names) if name in known]
    if name in tracked:
        return tracked[name] + 1
    if name and places:
        return places[-1] + 1
    above = [tracked[other] for other in order[: order.index(master.name)] if other in tracked]
    return above[-1] + 1 if above and not name else len(nb.cells)


def _tracked(
    nb: NotebookNode, source_cells: SourceCells
) -> Iterator[tuple[NotebookNode, SourceCell]]:
    for cell in nb.cells:
        name = grade_id(cell)
        if name is not None:
            yield cell, source_cells[name]


STEPS: tuple[Step, ...] = (
    know_earlier_names,
    forget_unknown,
    recognise,
    restore_type,
    join_halves,
    keep_one_of_each,
    restore_metadata,
    restore_source,
    add_missing,
)
