"""No update of the course loses a learner's work, whatever the two have changed."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

import pytest
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.builder.metadata import check_metadata, solve_metadata
from autograder.workspace.carry import carry
from autograder.workspace.cells import Notebooks, grade_id, is_answer

STUB = "def {name}(x):\n    raise NotImplementedError"


def text(words: str, name: str) -> NotebookNode:
    return new_markdown_cell(words, id=f"text-{name}")


def code(words: str, name: str) -> NotebookNode:
    return new_code_cell(words, id=f"code-{name}")


def exercise(name: str) -> list[NotebookNode]:
    solve = new_code_cell(STUB.format(name=name), id=name)
    solve.metadata.nbgrader = solve_metadata(name)
    check = new_code_cell(f"check({name})", id=f"check-{name}")
    check.metadata.nbgrader = check_metadata(name, 2)
    return [solve, check]


def asked(number: int, mark: str) -> NotebookNode:
    return new_code_cell(f'predict("03.{number}", "?")  # a, b or c', id=f"predict-{mark}")


def course() -> Notebooks:
    """Two chapters with text, code, predictions and exercises."""
    first = [text("# 1", "a"), code("import torch", "b"), asked(1, "p"), *exercise("one")]
    first += [text("More.", "c"), *exercise("two"), code("two(1)", "d")]
    second = [text("# 2", "e"), *exercise("three"), asked(2, "q"), text("The end.", "f")]
    return {"01_first": new_notebook(cells=first), "02_second": new_notebook(cells=second)}


def texts_of(notebooks: Notebooks) -> list[str]:
    return [cell.source for nb in notebooks.values() for cell in nb.cells]


def carried(mine: Notebooks, given: Notebooks, new: Notebooks) -> Notebooks:
    return {name: one.notebook for name, one in carry(mine, given, new).items()}


def cell(notebooks: Notebooks, name: str) -> NotebookNode:
    (found,) = (c for nb in notebooks.values() for c in nb.cells if name in (c.id, grade_id(c)))
    return found


def test_what_nobody_has_touched_is_as_the_new_version_has_it() -> None:
    new = course()
    new["01_first"].cells[5].source = "Less."
    assert texts_of(carried(course(), course(), new)) == texts_of(new)


def test_an_answer_goes_to_its_exercise_wherever_that_is_now() -> None:
    mine, new = course(), course()
    cell(mine, "two").source = "def two(x):\n    return x"
    moved, new["01_first"].cells = new["01_first"].cells[6:8], new["01_first"].cells[:6]
    new["02_second"].cells += moved
    found = carry(mine, course(), new)
    (answer,) = (c for c in found["02_second"].notebook.cells if grade_id(c) == "two")
    assert answer.source == "def two(x):\n    return x"
    assert is_answer(answer)
    assert (found["01_first"].answers, found["02_second"].answers) == (0, 1)


def test_an_answer_keeps_what_it_shows() -> None:
    mine = course()
    output = {"output_type": "stream", "name": "stdout", "text": "4"}
    cell(mine, "code-d").outputs = [NotebookNode(output)]
    assert cell(carried(mine, course(), course()), "code-d").outputs == [output]


def test_own_cells_stay_after_the_cell_that_they_followed() -> None:
    mine, new = course(), course()
    mine["01_first"].cells.insert(2, new_code_cell("torch.ones(3)"))
    mine["01_first"].cells.insert(0, new_markdown_cell("My notes."))
    new["01_first"].cells.insert(1, text("New.", "new"))
    found = texts_of(carried(mine, course(), new))[:5]
    assert found == ["My notes.", "# 1", "New.", "import torch", "torch.ones(3)"]


def test_a_picked_letter_goes_into_the_prediction_under_its_new_number() -> None:
    mine, new = course(), course()
    cell(mine, "predict-p").source = 'predict("03.1", "b")  # a, b or c'
    cell(new, "predict-p").source = 'predict("03.4", "?")  # a, b or c'
    found = cell(carried(mine, course(), new), "predict-p")
    assert found.source == 'predict("03.4", "b")  # a, b or c'


def test_a_cell_that_both_have_changed_is_there_twice() -> None:
    mine, new = course(), course()
    cell(mine, "code-d").source = "two(2)"
    cell(new, "code-d").source = "two(3)"
    found = carry(mine, course(), new)["01_first"]
    assert [c.source for c in found.notebook.cells[-2:]] == ["two(3)", "two(2)"]
    assert found.beside == 1
    again = carry({"01_first": found.notebook, "02_second": mine["02_second"]}, new, new)
    assert [c.source for c in again["01_first"].notebook.cells] == [
        c.source for c in found.notebook.cells
    ]


def test_what_a_learner_deleted_stays_deleted_but_no_exercise() -> None:
    mine = course()
    mine["01_first"].cells = mine["01_first"].cells[:2]
    found = carried(mine, course(), course())["01_first"]
    assert [c.id for c in found.cells] == [
        "text-a",
        "code-b",
        "one",
        "check-one",
        "two",
        "check-two",
    ]


def test_an_answer_whose_exercise_is_gone_is_kept_and_no_longer_graded() -> None:
    mine, new = course(), course()
    cell(mine, "two").source = "def two(x):\n    return 2 * x"
    new["01_first"].cells = [c for c in new["01_first"].cells if "two" not in c.id]
    found = carried(mine, course(), new)["01_first"]
    (kept,) = (c for c in found.cells if "return 2 * x" in c.source)
    assert "nbgrader" not in kept.metadata


def test_notebooks_without_ids_are_matched_by_their_text() -> None:
    mine, given = course(), course()
    for notebook in mine.values():
        for one in notebook.cells:
            one.id = "x"
    cell_of = {grade_id(c): c for c in mine["01_first"].cells}
    cell_of["one"].source = "def one(x):\n    return 1"
    found = carried(mine, given, course())
    assert len(texts_of(found)) == len(texts_of(given))
    assert cell(found, "one").source == "def one(x):\n    return 1"


def test_a_chapter_that_is_gone_gives_what_has_no_place_to_nobody_else() -> None:
    mine, new = course(), course()
    del new["02_second"]
    cell(mine, "three").source = "def three(x):\n    return 3"
    found = carry(mine, course(), new)
    assert [c.source for c in found["02_second"].notebook.cells] == ["def three(x):\n    return 3"]


# ------------------------------------------------------------------ random edits


def edited_by_a_learner(draw: random.Random, notebooks: Notebooks, number: int) -> set[str]:
    """Edit some cells of notebooks, in place; return the learner's texts that must be kept."""
    marks = set()
    for step in range(draw.randint(1, 6)):
        cells = draw.choice([*notebooks.values()]).cells
        mark = f"MINE {number} {step}"
        place = draw.randrange(len(cells) + 1)
        what = draw.choice(
            ["insert", "change", "change", "answer", "copy", "move", "delete", "retype"]
        )
        if what == "insert" or not cells:
            make: Callable[..., NotebookNode] = draw.choice([new_code_cell, new_markdown_cell])
            cells.insert(place, make(mark))
            marks.add(mark)
            continue
        one = draw.choice(cells)
        if what == "delete":
            if "MINE" not in one.source:
                cells.remove(one)
        elif what == "move":
            cells.remove(one)
            cells.insert(draw.randrange(len(cells) + 1), one)
        elif what == "copy":
            other = copy.deepcopy(one)
            other.id = draw.choice([one.id, f"copy{step}"])
            other.source += mark
            cells.insert(place, other)
            marks.add(mark)
        elif what == "retype":
            other = (new_markdown_cell if one.cell_type == "code" else new_code_cell)(one.source)
            other.id, other.source = one.id, other.source + mark
            cells[cells.index(one)] = other
            marks.add(mark)
        else:
            answers = [c for c in cells if is_answer(c)]
            one = draw.choice(answers) if what == "answer" and answers else one
            one.source = f"{one.source if 'MINE' in one.source else ''}{mark}"
            marks.add(mark)
    return marks


def edited_by_the_course(draw: random.Random, notebooks: Notebooks) -> Notebooks:
    """Return the notebooks of a new version."""
    new = copy.deepcopy(notebooks)
    for step in range(draw.randint(0, 6)):
        name = draw.choice([*new])
        cells = new[name].cells
        what = draw.choice(
            ["insert", "change", "delete", "move", "rename", "split", "away", "drop"]
        )
        place = draw.randrange(len(cells) + 1)
        if what == "insert":
            cells.insert(place, text(f"New {step}.", f"new{draw.getrandbits(32)}"))
        elif what in ("change", "delete", "move", "away") and cells:
            one = draw.choice(cells)
            if what == "change":
                one.source += " Changed."
            else:
                cells.remove(one)
            if what == "move":
                cells.insert(draw.randrange(len(cells) + 1), one)
            if what == "away":
                new[draw.choice([*new])].cells.append(one)
        elif what == "rename":
            new[f"{name}{step}"] = new.pop(name)
        elif what == "split":
            new[f"{name}b{step}"] = new_notebook(cells=cells[place:])
            new[name].cells = cells[:place]
        elif what == "drop" and len(new) > 1:
            del new[name]
    return new


@pytest.mark.parametrize("is_known", [True, False])
def test_random_edits_lose_nothing(is_known: bool) -> None:
    nothing_is_lost(range(50), is_known)


def nothing_is_lost(numbers: range, is_known: bool) -> None:
    """Carry random work through random updates, and look for each text of the learner."""
    for number in numbers:
        draw = random.Random(number)
        given = course()
        mine, marks = course(), set()
        for _ in range(draw.randint(1, 3)):  # several updates in a row
            marks |= edited_by_a_learner(draw, mine, number)
            present = "\n".join(texts_of(mine))
            marks = {mark for mark in marks if mark in present}
            new = edited_by_the_course(draw, given)
            found = carried(mine, given if is_known else {}, new)
            after = "\n".join(texts_of(found))
            lost = {mark for mark in marks if mark not in after}
            assert not lost, f"run {number}: {sorted(lost)}"
            for notebook in (found[name] for name in new):
                ids = [c.id for c in notebook.cells]
                assert len(ids) == len(set(ids)), number
            mine, given = {n: nb for n, nb in found.items() if n in new}, new
            present = "\n".join(texts_of(mine))
            marks = {mark for mark in marks if mark in present}
