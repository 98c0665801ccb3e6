"""Repairs damage to nbgrader-tracked cells that occurs in real submissions.

Stock nbgrader drops such a submission, stops grading the whole class, or leaves its points open
forever. Each function here repairs one kind of damage in place, and yields its repairs. The
sentences contain only fixed words and the course's own grade ids, never a student's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader import utils

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


class RepairKind(Enum):
    """The suspicion that a repair raises against the student."""

    HARMLESS = "nothing: the notebook is as it was given out once"
    REPAIRED = "nothing: editors and slips do this to notebooks"
    RESTORED = "something was changed that students leave alone, and nothing could be gained by it"
    FORGED = "something was changed that could have gained points"


@dataclass(frozen=True)
class Repair:
    """One repair.

    Attributes:
        kind: the suspicion that it raises against the student.
        sentence: the damage and its repair.
    """

    kind: RepairKind
    sentence: str


SourceCells = Mapping[str, SourceCell]
Step = Callable[[NotebookNode, SourceCells], Iterator[Repair]]


def _repaired(sentence: str) -> Repair:
    return Repair(RepairKind.REPAIRED, sentence)


def know_earlier_names(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Rename cells that had another name in an earlier release, and the same text."""
    present = {grade_id(cell) for cell in nb.cells}
    now: dict[str, list[str]] = {}
    for source_cell in source_cells.values():
        for name in {given.name for given in source_cell.given} - {source_cell.name}:
            now.setdefault(name, []).append(source_cell.name)
    for cell in nb.cells:
        name = grade_id(cell) or ""
        found = [new for new in now.get(name, ()) if new not in present]
        if len(now.get(name, ())) == 1 and found and name not in source_cells:
            cell.metadata["nbgrader"]["grade_id"] = found[0]
            present.add(found[0])
            text = f"The cell `{found[0]}` had another name in an earlier release; it counts."
            yield Repair(RepairKind.HARMLESS, text)


def forget_unknown(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Drop metadata of cells that the course does not have, or that cannot be read."""
    for number, cell in enumerate(nb.cells, start=1):
        if "nbgrader" in cell.metadata and grade_id(cell) not in source_cells:
            claimed = grade_id(cell) is not None
            del cell.metadata["nbgrader"]
            if claimed:
                yield _repaired(
                    f"Cell {number} came from another notebook, or from an earlier release; "
                    "it counts as an ordinary cell."
                )


def recognise(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Restore the metadata of cells that lost it in an editor or converter."""
    present = {grade_id(cell) for cell in nb.cells}
    missing = [
        source_cell for source_cell in source_cells.values() if source_cell.name not in present
    ]
    if not missing:
        return
    unnamed = _UnnamedCells(nb.cells)
    for source_cell in missing:
        found = unnamed.last_like(source_cell)
        if found is not None:
            found.metadata["nbgrader"] = NotebookNode(source_cell.metadata())
            yield _repaired(
                f"The cell `{source_cell.name}` had lost its metadata; it was recognised."
            )


class _UnnamedCells:
    """An index of the cells without a name by id, text and defined names."""

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

    def last_like(self, source_cell: SourceCell) -> NotebookNode | None:
        """The last unnamed cell that matches one of the course's cells.

        A check above its answer does not match, but counts as an example of the chapter or a trial:
        the answer that counts follows later.
        """
        keys = [("id", source_cell.name)]
        if source_cell.solution:
            keys.append(("name", source_cell.name))
        elif source_cell.locked:
            answer = self._answers.get(source_cell.exercise or "", -1)
            texts = [("text", text) for text in source_cell.texts if text]
            keys += [key for key in texts if self._numbers.get(key, -1) > answer]
        numbers = [self._numbers[key] for key in keys if key in self._numbers]
        free = [n for n in numbers if grade_id(self._cells[n]) is None]
        return self._cells[max(free)] if free else None


def join_halves(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Join an answer that was split into cells of which some are not Python by themselves."""
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
                yield _repaired(
                    f"The cell `{name}` was split within its code; its parts were joined."
                )
        start = end


def _stands_alone(source: str) -> bool:
    """Whether a cell is Python by itself, and is not indented."""
    if source.lstrip("\n").startswith((" ", "\t")):
        return False  # IPython would run it without the indentation
    return is_long(source) or tree_of(source) is not None


def keep_one_of_each(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Keep one of several copies of a cell: copying or splitting it also copies its metadata."""
    copies: dict[str, list[NotebookNode]] = {}
    for cell in nb.cells:
        copies.setdefault(grade_id(cell) or "", []).append(cell)
    dropped: set[int] = set()
    for name, source_cell in source_cells.items():
        cells = copies.get(name, [])
        if len(cells) < 2:
            continue
        as_given = [cell for cell in cells if _is_as_given(cell, source_cell)]
        worked_in = [cell for cell in cells if not _is_as_given(cell, source_cell)]
        keep = ((as_given if source_cell.locked else worked_in) or cells)[-1]
        for cell in worked_in:
            if cell is not keep:
                del cell.metadata["nbgrader"]  # it becomes an ordinary cell
        # An unchanged copy contains no work, and would undo the answer if it ran below it.
        dropped |= {id(cell) for cell in as_given if cell is not keep}
        kind = "as given" if source_cell.locked else "with work"
        which = "the last one" if keep is cells[-1] else f"the last one {kind}"
        yield _repaired(f"The cell `{name}` was there {len(cells)} times; {which} counts.")
    nb.cells = [cell for cell in nb.cells if id(cell) not in dropped]


def _is_as_given(cell: NotebookNode, source_cell: SourceCell) -> bool:
    source = normal(cell.source)
    part = source_cell.locked and any(source in text for text in source_cell.texts)
    return not source or part or source in source_cell.texts


def restore_type(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Restore a code cell that was changed to markdown, or the other way round."""
    for cell, source_cell in _tracked(nb, source_cells):
        if cell.cell_type != source_cell.cell_type:
            now, then = cell.cell_type, source_cell.cell_type
            yield _repaired(
                f"The cell `{source_cell.name}` had been made a {now} cell; "
                f"it is a {then} cell again."
            )
            set_type(cell, source_cell.cell_type)


def restore_metadata(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Restore points and flags that were changed, and keys that are missing."""
    for cell, source_cell in _tracked(nb, source_cells):
        claimed, true = cell.metadata["nbgrader"], source_cell.metadata()
        yield from _points_of(claimed, source_cell)
        yield from _flags_of(cell, source_cell)
        cell.metadata["nbgrader"] = NotebookNode(true)


def _points_of(claimed: Mapping[str, Any], source_cell: SourceCell) -> Iterator[Repair]:
    if "points" not in claimed or not (
        source_cell.grade or source_cell.task or claimed.get("grade")
    ):
        return  # nbgrader does not read points there
    points, true = _number(claimed["points"]), source_cell.points or 0.0
    given = [one.points or 0.0 for one in source_cell.given]
    if points == true:
        return
    whose = f"The points of the cell `{source_cell.name}`"
    if points in given:
        yield Repair(
            RepairKind.HARMLESS, f"{whose} are those of an earlier release; the new ones count."
        )
    elif points is not None and points > max([true, *given]):
        yield Repair(RepairKind.FORGED, f"{whose} had been raised; they are restored.")
    else:
        yield Repair(RepairKind.RESTORED, f"{whose} had been changed; they are restored.")


def _number(points: Any) -> float | None:
    try:
        return float(points)
    except (TypeError, ValueError, OverflowError):
        return None


def _flags_of(cell: NotebookNode, source_cell: SourceCell) -> Iterator[Repair]:
    claimed = tuple(bool(value(cell)) for value in (utils.is_grade, utils.is_solution,
                                                    utils.is_task, utils.is_locked))  # fmt: skip
    known = set(cell.metadata["nbgrader"])
    if not known & {"grade", "solution", "task", "locked"}:
        return  # the flags were lost, not changed
    true = (source_cell.grade, source_cell.solution, source_cell.task, source_cell.locked)
    given = [(one.grade, one.solution, one.task, one.locked) for one in source_cell.given]
    if claimed == true:
        return
    whose = f"The flags of the cell `{source_cell.name}`"
    if claimed in given:
        yield Repair(
            RepairKind.HARMLESS, f"{whose} are those of an earlier release; the new ones count."
        )
    elif source_cell.locked and not claimed[3] and is_replaced(cell.source, source_cell):
        name = source_cell.name
        text = f"The cell `{name}` had been unlocked, and its test replaced; it is restored."
        yield Repair(RepairKind.FORGED, text)
    else:
        yield Repair(RepairKind.RESTORED, f"{whose} had been changed; they are restored.")


def restore_source(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Restore the text of locked cells; additions of the student move to a cell next to it."""
    present = {grade_id(cell) for cell in nb.cells}
    cells: list[NotebookNode | None] = []
    for cell in nb.cells:
        source_cell = source_cells.get(grade_id(cell) or "")
        if source_cell is None or not source_cell.locked:
            cells.append(cell)
            continue
        source, cell.source = cell.source, source_cell.source
        if source_cell.is_present(source):
            cells.append(cell)
        elif source_cell.was_given(source):
            cells.append(cell)
            text = (
                f"The cell `{source_cell.name}` is that of an earlier release; the new one counts."
            )
            yield Repair(RepairKind.HARMLESS, text)
        else:
            own, answer = _own_cell(source, source_cell, source_cells, present)
            cells += [cell, own] if source_cell.cell_type == "markdown" else [own, cell]
            yield _repair_of_text(source, source_cell, answer)
    nb.cells = [cell for cell in cells if cell is not None]


def _own_cell(
    source: str, source_cell: SourceCell, source_cells: SourceCells, present: set[str | None]
) -> tuple[NotebookNode | None, SourceCell | None]:
    """The student's addition to a locked cell as a new cell, and the answer that it contains."""
    own = own_code(source, source_cell)
    if not own:
        return None, None
    if source_cell.cell_type != "code":
        return new_markdown_cell(own), None
    cell, names = new_code_cell(own), defined(own)
    absent = [m for m in source_cells.values() if m.solution and m.name not in present]
    answer = next((m for m in absent if m.name in names or _defines_as(m, names)), None)
    if answer is not None and answer.cell_type == "code":
        present.add(answer.name)
        cell.metadata["nbgrader"] = NotebookNode(answer.metadata())
        return cell, answer
    return cell, None


def _defines_as(source_cell: SourceCell, names: frozenset[str]) -> bool:
    """Whether the names include all that an answer's released cell defines, at least one."""
    own = defined(source_cell.source)
    return bool(own) and own <= names


def _repair_of_text(source: str, source_cell: SourceCell, answer: SourceCell | None) -> Repair:
    name = source_cell.name
    if answer is not None:
        return _repaired(
            f"The cells `{answer.name}` and `{name}` had been merged; they are two again."
        )
    if pretends(source, source_cell):
        text = f"The cell `{name}` had been made to pass without an answer; it is restored."
        return Repair(RepairKind.FORGED, text)
    what = what_changed(source, source_cell)
    text = f"The cell `{name}` had been changed ({what}); its text is restored."
    return Repair(RepairKind.RESTORED, text)


def add_missing(nb: NotebookNode, source_cells: SourceCells) -> Iterator[Repair]:
    """Insert deleted cells that have points."""
    present = {grade_id(cell) for cell in nb.cells}
    missing = [
        source_cell
        for source_cell in source_cells.values()
        if source_cell.name not in present and (source_cell.grade or source_cell.task)
    ]
    names = [defined(cell.source) for cell in nb.cells] if missing else []
    for source_cell in missing:
        code = source_cell.cell_type == "code"
        new: Callable[..., NotebookNode] = new_code_cell if code else new_markdown_cell
        source = (
            _WAS_MISSING[source_cell.cell_type] + source_cell.source
            if source_cell.solution
            else source_cell.source
        )
        cell = new(source, metadata={"nbgrader": NotebookNode(source_cell.metadata())})
        place = _place_of(source_cell, source_cells, nb, names)
        nb.cells.insert(place, cell)
        names.insert(place, frozenset())
        more = " A person must look for the answer." if source_cell.solution else ""
        yield _repaired(f"The cell `{source_cell.name}` was missing; it was put back.{more}")


_WAS_MISSING = {
    "code": "# This cell was missing when the notebook was handed in.\n",
    "markdown": "*This cell was missing when the notebook was handed in.*\n\n",
}
"""First line of a restored answer that people grade: unchanged, it would count as no answer."""


def _place_of(
    source_cell: SourceCell,
    source_cells: SourceCells,
    nb: NotebookNode,
    names: list[frozenset[str]],
) -> int:
    """The position of a deleted cell: below the answer that it checks, or the original order."""
    tracked = {grade_id(cell): i for i, cell in enumerate(nb.cells)}
    order, name = list(source_cells), source_cell.exercise
    places = [i for i, known in enumerate(names) if name in known]
    if name in tracked:
        return tracked[name] + 1
    if name and places:
        return places[-1] + 1
    above = [tracked[other] for other in order[: order.index(source_cell.name)] if other in tracked]
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
