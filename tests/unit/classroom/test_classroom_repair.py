"""Students' damage to cells that nbgrader tracks is repaired and reported."""

from __future__ import annotations

import copy
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.preprocessors import OverwriteCells

from autograder.classroom.records.gradebook_cells import source_cells_of
from autograder.submission.repair import NOTES, repair
from autograder.submission.source_cells import SourceCell, grade_id
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
    retype,
    set_metadata,
    split,
)

AFTER = "def after(number):\n    return number + 1"
HALF = "def half(number):\n    return number / 2"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return numbers.room(tmp_path_factory.mktemp("repair"))


@pytest.fixture(scope="module")
def released(room: Path) -> NotebookNode:
    return rooms.released(room, numbers.CHAPTER)


@pytest.fixture(scope="module")
def source_cells(room: Path) -> dict[str, SourceCell]:
    return source_cells_of(f"sqlite:///{room}/gradebook.db", numbers.CHAPTER, numbers.CHAPTER)


def edit_and_repair(
    released: NotebookNode, source_cells: dict[str, SourceCell], *edits: Edit
) -> tuple[NotebookNode, list[str]]:
    """Edit and repair a notebook, which nbgrader must then accept; return it with the notes."""
    nb = edited(released, *edits)
    said = [found.sentence for found in repair(nb, source_cells)]
    nbformat.validate(nb)
    MetadataValidator().validate_nb(nb)
    for source_cell in source_cells.values():
        cells = [cell for cell in nb.cells if grade_id(cell) == source_cell.name]
        if source_cell.solution and not cells:
            continue  # the student deleted it, and nothing replaces it
        (cell,) = cells
        assert cell.cell_type == source_cell.cell_type
        assert cell.metadata.nbgrader == source_cell.metadata()
        assert not source_cell.locked or cell.source == source_cell.source
    assert nb.metadata[NOTES] == {"repairs": said}
    return nb, said


def code(nb: NotebookNode) -> str:
    return "\n\n".join(cell.source for cell in nb.cells if cell.cell_type == "code")


def test_master_cells_are_known(source_cells: dict[str, SourceCell]) -> None:
    assert list(source_cells) == ["after", "check-after", "half", "check-half"]
    check = source_cells["check-after"]
    assert (check.exercise, check.points, check.locked) == ("after", 6, True)
    assert "hidden=True" in check.source and check.released.strip() == "check(after)"
    assert source_cells["after"].exercise is None and source_cells["after"].points is None


@pytest.mark.parametrize("edits", [(), (fill("after", AFTER), add("after(1)", below="after"))])
def test_sound_notebook_is_left_alone(
    released: NotebookNode, source_cells: dict[str, SourceCell], edits: tuple[Edit, ...]
) -> None:
    nb, said = edit_and_repair(released, source_cells, *edits)
    assert said == []
    before = [cell.source for cell in edited(released, *edits).cells if grade_id(cell) is None]
    assert [cell.source for cell in nb.cells if grade_id(cell) is None] == before


REPAIRS: dict[str, tuple[list[Edit], str]] = {
    "deleted check": ([delete("check-after")], "`check-after` was missing"),
    "all checks deleted": (
        [delete("check-after"), delete("check-half")],
        "`check-half` was missing",
    ),
    "deleted exercise": ([delete("half"), delete("check-half"), add(HALF)], "was missing"),
    "duplicated check": ([duplicate("check-after")], "`check-after` was there 2 times"),
    "split check": ([split("check-after", 0)], "`check-after` was there 2 times"),
    "edited check": ([fill("check-after", "assert True")], "made to pass without an answer"),
    "emptied check": ([fill("check-after", "")], "had been changed (it was empty)"),
    "retyped check": ([retype("check-after")], "had been made a markdown cell"),
    "raw check": ([retype("check-after", "raw")], "had been made a raw cell"),
    "retyped answer": ([fill("after", AFTER), retype("after")], "had been made a markdown cell"),
    "forged points": ([set_metadata("check-after", points=500)], "points of the cell"),
    "points of an answer": ([set_metadata("after", points=5, grade=True)], "points of the cell"),
    "flag flipped": ([set_metadata("check-after", grade=False)], "flags of the cell"),
    "made an answer": ([set_metadata("check-after", solution=True)], "flags of the cell"),
    "metadata lost": ([lose_metadata("check-after"), lose_metadata("after")], "recognised"),
    "stub without metadata": ([lose_metadata("after")], "`after` had lost its metadata"),
    "old metadata": ([set_metadata("check-after", schema_version=1)], ""),
    "odd metadata": ([set_metadata("check-after", points="many", locked=None)], "points of"),
    "foreign cell": ([set_metadata("after", grade_id="else")], "`after` had lost its metadata"),
    "grade id of no kind": ([set_metadata("after", grade_id=[1])], "`after` had lost"),
}


@pytest.mark.parametrize("name", REPAIRS)
def test_repair(released: NotebookNode, source_cells: dict[str, SourceCell], name: str) -> None:
    edits, expected = REPAIRS[name]
    _, said = edit_and_repair(released, source_cells, *edits)
    assert expected in "\n".join(said)
    assert all(sentence.endswith(".") for sentence in said)


def test_deleted_check_comes_back_below_its_answer(
    released: NotebookNode, source_cells: dict[str, SourceCell]
) -> None:
    nb, _ = edit_and_repair(released, source_cells, delete("check-after"), fill("after", AFTER))
    assert rooms_place(nb, "check-after") == rooms_place(nb, "after") + 1
    nb, _ = edit_and_repair(
        released, source_cells, delete("check-half"), delete("half"), add(HALF, above="after")
    )
    assert rooms_place(nb, "check-half") == rooms_place(nb, "half") + 1


@pytest.mark.parametrize("more", [[], [lose_metadata("after")]])
def test_a_check_above_its_answer_is_not_taken_for_the_one_that_was_deleted(
    released: NotebookNode, source_cells: dict[str, SourceCell], more: list[Edit]
) -> None:
    example = [add("check(after)", above="after"), add("def after():\n    ...", above="after")]
    edits = [*example, fill("after", AFTER), delete("check-after"), *more]
    nb, said = edit_and_repair(released, source_cells, *edits)
    assert "The cell `check-after` was missing; it was put back." in said
    assert rooms_place(nb, "check-after") == rooms_place(nb, "after") + 1


def test_a_trial_below_a_check_without_metadata_leaves_it_where_it_is(
    released: NotebookNode, source_cells: dict[str, SourceCell]
) -> None:
    trial = add("def after(number):\n    ...", below="check-after")
    edits = [fill("after", AFTER), trial, lose_metadata("check-after")]
    nb, _ = edit_and_repair(released, source_cells, *edits)
    assert rooms_place(nb, "check-after") == rooms_place(nb, "after") + 1


def rooms_place(nb: NotebookNode, name: str) -> int:
    return [grade_id(cell) for cell in nb.cells].index(name)


def test_untouched_copy_of_an_answer_does_not_undo_it(
    released: NotebookNode, source_cells: dict[str, SourceCell]
) -> None:
    stub = released.cells[rooms_place(released, "after")].source
    nb, said = edit_and_repair(
        released, source_cells, fill("after", AFTER), duplicate("after", stub)
    )
    assert said == ["The cell `after` was there 2 times; the last one with work counts."]
    assert code(nb).count("def after") == 1 and AFTER in code(nb)


def test_both_copies_with_work_are_kept(
    released: NotebookNode, source_cells: dict[str, SourceCell]
) -> None:
    better = AFTER.replace("+ 1", "+ 1 if number >= 0 else number - 1")
    nb, _ = edit_and_repair(
        released, source_cells, fill("after", AFTER), duplicate("after", better)
    )
    assert AFTER in code(nb) and better in code(nb)
    assert nb.cells[rooms_place(nb, "after")].source == better


@pytest.mark.parametrize("line", [1, 2])
def test_halves_of_an_answer_are_joined(
    released: NotebookNode, source_cells: dict[str, SourceCell], line: int
) -> None:
    answer = AFTER.replace("    return", "    one = 1\n    return")
    nb, said = edit_and_repair(released, source_cells, fill("after", answer), split("after", line))
    assert said == ["The cell `after` was split within its code; its parts were joined."]
    assert nb.cells[rooms_place(nb, "after")].source == answer


def test_helper_and_answer_may_be_two_cells(
    released: NotebookNode, source_cells: dict[str, SourceCell]
) -> None:
    nb, _ = edit_and_repair(
        released, source_cells, fill("after", f"one = 1\n{AFTER}"), split("after", 1)
    )
    assert "one = 1" in code(nb) and AFTER in code(nb)


def test_edited_copy_of_a_check_stays_as_a_cell_of_the_student(
    released: NotebookNode, source_cells: dict[str, SourceCell]
) -> None:
    mine = "assert after(1) == 2"
    nb, _ = edit_and_repair(released, source_cells, duplicate("check-after", mine))
    assert mine in code(nb)
    nb, _ = edit_and_repair(released, source_cells, duplicate("check-after"))
    assert code(nb).count("check(after)") == 1


def test_everything_at_once(released: NotebookNode, source_cells: dict[str, SourceCell]) -> None:
    edits = [edit for edits, _ in REPAIRS.values() for edit in edits]
    for seed in range(40):
        order = sorted(edits, key=lambda edit: hash((seed, edits.index(edit))))
        tried: list[Edit] = []
        nb = copy.deepcopy(released)
        for edit in order:
            try:
                edit(nb)
            except (StopIteration, KeyError):
                continue  # an earlier edit removed the cell
            tried.append(edit)
        edit_and_repair(released, source_cells, *tried)


MARKS = {
    NOTES: {
        "unreadable": 0, "seed": 7, "status": "graded", "repairs": ["<script>"], "happened": ["x"],
        "checks": {"after": "passed"},
    },
    "nbgrader": {"grade_id": "check-after", "schema_version": 3},
}  # fmt: skip
"""All marks of the course and nbgrader in a notebook's metadata."""


@pytest.mark.parametrize("mark", [*MARKS, *MARKS[NOTES]])
def test_no_mark_of_ours_is_read_from_what_was_handed_in(
    mark: str, released: NotebookNode, source_cells: dict[str, SourceCell]
) -> None:
    plain, marked = copy.deepcopy(released), copy.deepcopy(released)
    marked.metadata |= {mark: MARKS[mark]} if mark in MARKS else {NOTES: {mark: MARKS[NOTES][mark]}}
    for nb in (plain, marked):
        nb.cells[-1].source = "assert True"
    assert repair(marked, source_cells) == repair(plain, source_cells)
    assert marked == plain


def test_notebooks_that_are_odd_as_files(
    released: NotebookNode, source_cells: dict[str, SourceCell]
) -> None:
    nb = copy.deepcopy(released)
    nb.cells[1].metadata = None
    nb.cells[2].source = ["a", "b"]
    nb.cells[3].pop("outputs")
    nb.cells[3]["attachments"] = {}
    nb.cells[0].cell_type = "heading"
    nb.cells[4].id = nb.cells[5].id
    nb.metadata["widgets"] = {"state": {}}
    nb.metadata |= MARKS
    said = [found.sentence for found in repair(nb, source_cells)]
    nbformat.validate(nb)
    assert said == ["Cell 1 was of an unknown type; it is kept as raw text."]
    assert nb.cells[2].source == "ab" and "widgets" not in nb.metadata


def test_stock_nbgrader_has_nothing_left_to_change(
    room: Path, released: NotebookNode, source_cells: dict[str, SourceCell]
) -> None:
    nb, _ = edit_and_repair(released, source_cells, delete("check-half"), retype("after"))
    before = copy.deepcopy(nb)
    ids = {"notebook": numbers.CHAPTER, "assignment": numbers.CHAPTER}
    db_url = f"sqlite:///{room}/gradebook.db"
    after, _ = OverwriteCells().preprocess(nb, {"nbgrader": {**ids, "db_url": db_url}})
    assert after == before


def test_cells_without_ids_are_given_the_same_ones_every_time(
    released: NotebookNode, source_cells: dict[str, SourceCell]
) -> None:
    nb = copy.deepcopy(released)
    nb.nbformat_minor = 4
    for cell in nb.cells:
        del cell["id"]
    nb.cells[1].id = nb.cells[-1].id = "twice"
    first, again = (edit_and_repair(nb, source_cells)[0] for _ in range(2))
    ids = [cell.id for cell in first.cells]
    assert ids == [cell.id for cell in again.cells]
    assert len(set(ids)) == len(ids)
    assert ids[1] == "twice"
