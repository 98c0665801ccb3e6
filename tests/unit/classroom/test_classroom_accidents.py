"""Accidents of honest students, editors and instructors cost no points and bring no accusation."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbformat.notebooknode import NotebookNode
from nbgrader.coursedir import CourseDirectory

from autograder.boxed.judge_service import _status
from autograder.classroom.intake.release_history import KEPT, given_out
from autograder.classroom.records.gradebook_cells import source_cells_of
from autograder.classroom.room.nbgrader_api import api
from autograder.submission.repair import read_forgivingly, repair
from autograder.submission.source_cells import SourceCell, checked_exercise
from tests.support.numbers import numbers_room as numbers
from tests.support.submissions import room as rooms
from tests.support.submissions.edits import (
    Edit,
    add,
    delete,
    duplicate,
    edited,
    fill,
    lose_metadata,
    place_of,
    set_metadata,
)

AFTER = "def after(number):\n    return number + 1 if number >= 0 else number - 1"
HALF = "def half(number):\n    return number / 2"
GOOD = (fill("after", AFTER), fill("half", HALF))
ALL = {"after": True, "half": True}

ASKED: dict[str, Callable[[Any], bool]] = {
    "after": lambda after: after(1) == 2 and after(-1) == -2,
    "half": lambda half: half(4) == 2.0,
}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return numbers.room(tmp_path_factory.mktemp("accidents"))


@pytest.fixture(scope="module")
def released(room: Path) -> NotebookNode:
    return rooms.released(room, numbers.CHAPTER)


@pytest.fixture(scope="module")
def source_cells(room: Path) -> dict[str, SourceCell]:
    return source_cells_in(room)


def source_cells_in(room: Path) -> dict[str, SourceCell]:
    """The source cells of a classroom, earlier releases included."""
    given = given_out(CourseDirectory(config=api(room).config), numbers.CHAPTER, numbers.CHAPTER)
    return source_cells_of(
        f"sqlite:///{room}/gradebook.db", numbers.CHAPTER, numbers.CHAPTER, given
    )


def handed_in(nb: NotebookNode) -> bytes:
    text = nbformat.writes(nb) if nb.nbformat_minor >= 5 else json.dumps(nb)
    return text.encode()


def graded(
    nb: NotebookNode, source_cells: dict[str, SourceCell]
) -> tuple[str, dict[str, bool], str]:
    """Repair and run a notebook; return the status, the right answers and the notes."""
    nb, why_unread = read_forgivingly(handed_in(nb))
    repairs = repair(nb, source_cells, why_unread)
    names: dict[str, Any] = {"check": print}
    right = {}
    for cell in nb.cells:
        asked = checked_exercise(cell)
        if cell.cell_type == "code" and asked:
            right[asked] = is_right(asked, names)
        elif cell.cell_type == "code":
            try:
                exec(TransformerManager().transform_cell(cell.source), names)
            except Exception:
                continue
    return _status([], repairs), right, " ".join(found.sentence for found in repairs)


def is_right(asked: str, names: dict[str, Any]) -> bool:
    try:
        return ASKED[asked](names[asked])
    except Exception:
        return False


def append(name: str, text: str) -> Edit:
    def edit(nb: NotebookNode) -> None:
        nb.cells[place_of(nb, name)].source += text

    return edit


def prepend(name: str, text: str) -> Edit:
    def edit(nb: NotebookNode) -> None:
        cell = nb.cells[place_of(nb, name)]
        cell.source = text + cell.source

    return edit


def everywhere(change: Callable[[NotebookNode], None]) -> Edit:
    """Make the same change to every cell."""

    def edit(nb: NotebookNode) -> None:
        for cell in nb.cells:
            change(cell)

    return edit


def with_points(make: Callable[[float], Any]) -> Edit:
    """Change the points of all cells."""
    return of_graded(lambda data: data.update(points=make(data["points"])))


def of_graded(change: Callable[[dict[str, Any]], None]) -> Edit:
    """Make the same change to the metadata of every graded cell."""

    def change_one(cell: NotebookNode) -> None:
        if "points" in cell.metadata.get("nbgrader", {}):
            change(cell.metadata["nbgrader"])

    return everywhere(change_one)


def merge(first: str, second: str, *, keep: str) -> Edit:
    """Merge two cells; the result has the metadata of one of them."""

    def edit(nb: NotebookNode) -> None:
        one, two = nb.cells[place_of(nb, first)], nb.cells[place_of(nb, second)]
        text = f"{one.source}\n{two.source}"
        kept, gone = (one, two) if keep == first else (two, one)
        kept.source = text
        nb.cells.remove(gone)

    return edit


def foreign(name: str) -> Edit:
    """Paste a cell of another chapter, with its metadata."""

    def edit(nb: NotebookNode) -> None:
        twin = copy.deepcopy(nb.cells[place_of(nb, name)])
        twin.metadata["nbgrader"]["grade_id"] = f"other-{name}"
        twin.id = f"other-{name}"
        twin.source = "other = 1"
        nb.cells.insert(3, twin)

    return edit


def colab(nb: NotebookNode) -> None:
    nb.nbformat_minor = 0
    nb.metadata["colab"] = {"provenance": []}
    for number, cell in enumerate(nb.cells):
        cell.pop("id", None)
        cell.metadata |= {"id": f"x{number}", "outputId": "y", "colab": {"base_uri": "https://x"}}


def vscode(nb: NotebookNode) -> None:
    for number, cell in enumerate(nb.cells):
        cell["id"] = f"#VSC-{number:x}"
        cell.metadata["vscode"] = {"languageId": "python"}


def round_trip(nb: NotebookNode) -> None:
    nb.cells = jupytext.reads(jupytext.writes(nb, fmt="py:percent"), fmt="py:percent").cells


def format_three(nb: NotebookNode) -> None:
    nb.cells = nbformat.convert(nbformat.convert(nb, 3), 4).cells


def with_line_ends(cell: NotebookNode) -> None:
    cell.source = cell.source.replace("\n", "\r\n")


def with_blanks(cell: NotebookNode) -> None:
    cell.source = "\n".join(f"{line}  " for line in cell.source.split("\n"))


def without_metadata(cell: NotebookNode) -> None:
    cell.metadata = NotebookNode()


GRADED, REPAIRED, RESTORED = "graded", "graded after repair", "restored"

ACCIDENTS: dict[str, tuple[str, tuple[Edit, ...], str]] = {
    "untouched": (GRADED, (), ""),
    "a print behind a check": (
        RESTORED,
        (append("check-after", "\nprint(after(1))"),),
        "something was added to it",
    ),
    "a check commented out": (RESTORED, (prepend("check-after", "# "),), "commented out"),
    "a check emptied": (RESTORED, (fill("check-after", ""),), "it was empty"),
    "a check timed": (RESTORED, (prepend("check-after", "%%time\n"),), "something was added"),
    "a check timed in its line": (RESTORED, (prepend("check-after", "%time "),), "in another way"),
    "other arguments": (
        RESTORED,
        (fill("check-after", "check(after, hidden=True)"),),
        "`check` was called in another way",
    ),
    "a semicolon": (RESTORED, (append("check-after", ";"),), "something was added"),
    "a comment": (RESTORED, (append("check-after", "  # finally!"),), "something was added"),
    "an import in a check that is needed below": (
        RESTORED,
        (prepend("check-after", "two = 2\n"), fill("half", HALF.replace("2", "two"))),
        "something was added",
    ),
    "an answer in place of its check": (
        RESTORED,
        (fill("check-after", AFTER), fill("after", "def after(number):\n    raise ValueError")),
        "its text was another one",
    ),
    "ends of lines": (GRADED, (everywhere(with_line_ends),), ""),
    "blanks at ends of lines": (GRADED, (everywhere(with_blanks),), ""),
    "blank lines": (GRADED, (prepend("check-after", "\n\n"), append("check-after", "\n\n")), ""),
    "Colab": (GRADED, (colab,), ""),
    "VS Code": (GRADED, (vscode,), ""),
    "points as numbers with a point": (GRADED, (with_points(float),), ""),
    "points as text": (GRADED, (with_points(str),), ""),
    "unlocked in Create Assignment": (GRADED, (set_metadata("check-after", locked=False),), ""),
    "made a manual answer in Create Assignment": (
        RESTORED,
        (set_metadata("after", grade=True, points=0),),
        "flags of the cell `after`",
    ),
    "a check made a manual answer in Create Assignment": (
        RESTORED,
        (set_metadata("check-after", solution=True, locked=False),),
        "flags of the cell `check-after`",
    ),
    "an answer pasted from another chapter": (REPAIRED, (foreign("after"),), "another notebook"),
    "a check pasted from another chapter": (
        REPAIRED,
        (foreign("check-after"),),
        "another notebook",
    ),
    "metadata lost": (REPAIRED, (everywhere(without_metadata),), "lost its metadata"),
    "a check copied": (REPAIRED, (duplicate("check-after", at_end=True),), "was there 2 times"),
    "a check deleted": (REPAIRED, (delete("check-after"),), "was missing"),
    "the check merged into the answer": (
        REPAIRED,
        (merge("after", "check-after", keep="after"),),
        "was missing",
    ),
    "the answer merged into the check": (
        REPAIRED,
        (merge("after", "check-after", keep="check-after"),),
        "had been merged",
    ),
    "the check above the answer merged into it": (
        REPAIRED,
        (merge("check-after", "half", keep="check-after"),),
        "had been merged",
    ),
    "jupytext": (GRADED, (round_trip,), ""),
    "the format of old": (GRADED, (format_three,), ""),
    "a cell of one's own": (GRADED, (add("1 / 0", below="after"),), ""),
    "ids lost": (REPAIRED, (lose_metadata("check-half"),), "lost its metadata"),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCIDENTS)
def test_costs_nothing_and_is_no_reproach(
    released: NotebookNode, source_cells: dict[str, SourceCell], name: str
) -> None:
    status, edits, said = ACCIDENTS[name]
    ended, right, notes = graded(edited(released, *GOOD, *edits), source_cells)
    assert (ended, right) == (status, ALL), notes
    assert said in notes and bool(said) == bool(notes)


FORGED: dict[str, tuple[Edit, ...]] = {
    "points raised": (set_metadata("check-after", points=600),),
    "points raised, as text": (set_metadata("check-after", points="600"),),
    "points given to an answer": (set_metadata("after", grade=True, points=5),),
    "a check that asserts nothing": (fill("check-after", "assert True"),),
    "a check that shows points": (fill("check-after", "print('done')\n6.0"),),
    "another check": (prepend("check-after", "check = lambda answer: True\n"),),
    "another check, imported": (prepend("check-after", "from mine import check\n"),),
    "unlocked, and replaced": (
        set_metadata("check-after", solution=True, locked=False),
        fill("check-after", "after(1)"),
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_is_called_tampered(
    released: NotebookNode, source_cells: dict[str, SourceCell], name: str
) -> None:
    ended, right, _ = graded(edited(released, fill("half", HALF), *FORGED[name]), source_cells)
    assert (ended, right) == ("tampered", {"after": False, "half": True})


# ------------------------------------------------------------------ earlier releases


@pytest.fixture(scope="module")
def later(room: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The classroom after a change of points, a test and a name, and a second release."""
    folder = Path(shutil.copytree(room, tmp_path_factory.mktemp("later") / "class"))
    path = folder / "source" / numbers.CHAPTER / f"{numbers.CHAPTER}.ipynb"
    nb = nbformat.read(path, as_version=4)
    for edit in (
        set_metadata("check-after", points=4),
        append("check-half", "\n# See above."),
        set_metadata("half", grade_id="a-half"),
    ):
        edit(nb)
    nbformat.write(nb, path)
    assert api(folder).generate_assignment(numbers.CHAPTER, force=True)["success"]
    return folder


def test_every_version_that_was_given_out_is_kept_once(room: Path, later: Path) -> None:
    assert len((room / KEPT).read_text().splitlines()) == 1
    assert len((later / KEPT).read_text().splitlines()) == 2
    assert api(later).generate_assignment(numbers.CHAPTER, force=True)["success"]
    source_cells = source_cells_in(later)
    assert len((later / KEPT).read_text().splitlines()) == 2
    assert {given.points for given in source_cells["check-after"].given} == {4, 6}


def test_a_release_that_was_made_by_other_means_is_taken_in(later: Path) -> None:
    kept = (later / KEPT).read_text()
    (later / KEPT).unlink()
    assert {given.points for given in source_cells_in(later)["check-after"].given} == {4}
    (later / KEPT).write_text(kept + '{"assignment": ')  # an incomplete line
    assert {given.points for given in source_cells_in(later)["check-after"].given} == {4, 6}


def test_what_was_released_earlier_is_nobodys_fault(released: NotebookNode, later: Path) -> None:
    source_cells = source_cells_in(later)
    ended, right, notes = graded(edited(released, *GOOD), source_cells)
    assert (ended, right) == ("graded", ALL)
    assert "points of the cell `check-after` are those of an earlier release" in notes
    assert "`check-half` is that of an earlier release" in notes
    assert "`a-half` had another name in an earlier release" in notes
    present = edited(rooms.released(later, numbers.CHAPTER), *GOOD[:1], fill("a-half", HALF))
    assert graded(present, source_cells) == ("graded", ALL, "")
    raised = edited(released, *GOOD, set_metadata("check-after", points=7))
    assert graded(raised, source_cells)[0] == "tampered"
