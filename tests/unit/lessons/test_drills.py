"""Drills: a learner's cell, the reply to a value, and the record."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx

from autograder import builder, drill, lessons
from autograder.builder.drills import drill_of, findings
from autograder.builder.minutes import DRILL_MINUTES, effort
from autograder.builder.outputs import lesson_data
from autograder.builder.source import Chapter, read
from autograder.learner import drill as drill_module
from autograder.learner.drill import CannotDrill, first_difference
from autograder.lessons import Drill
from autograder.workspace import progress_file
from tests.support import build_fixture
from tests.support.build_fixture import CARDS, CHAPTER, line_of

ASKED = """\
# %% [markdown]
# **Drill 07.1a.** Which numbers are even?

# %% drill=true
even = [number for number in numbers if number % 2 == 0]
drill("07.1a", even)
# Mistake: Zero is even,
# too.
# even = [number for number in numbers if number and number % 2 == 0]

"""
PLACE = '# %% [markdown] card="after"'
WITH = CHAPTER.replace(PLACE, f"# %%\nnumbers = [0, 1, 2]\n\n{ASKED}{PLACE}")
GIVEN = 'even = ...\ndrill("07.1a", even)'
TASK = "even = [number for number in numbers if number % 2 == 0]"


def asked() -> Drill:
    (cell,) = read_text(WITH).tagged("drill")
    return drill_of(cell)


def read_text(text: str) -> Chapter:
    with tempfile.TemporaryDirectory() as folder:
        return read(build_fixture.write(Path(folder), text))[0]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Collect the output of the small chapter's drill, as text."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(drill_module, "drills", lambda: {"07_numbers": {"07.1a": asked()}})
    cards: list[str] = []
    monkeypatch.setattr("autograder.cards.display.show", lambda card: cards.append(repr(card)))
    return cards


numbers = [0, 1, 2]  # a drill reads the values of the module that calls it


def test_a_learner_gets_the_cell_without_its_line(tmp_path: Path) -> None:
    path = build_fixture.write(tmp_path, WITH)
    given = {cell.id: cell.source for cell in builder.build(path, CARDS).cells}
    assert given["drill-07-1a"] == GIVEN and "%" not in given["drill-07-1a"]
    solved = builder.source_notebook(path, CARDS, solved=True)
    (cell,) = (cell for cell in solved.cells if cell.id == "drill-07-1a")
    assert cell.source == f'{TASK}\ndrill("07.1a", even)'
    assert "number % 2" not in lesson_data.lesson_text(path, CARDS), "nobody reads it by accident"


def test_a_file_of_lessons_has_all_of_a_drill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = lesson_data.lesson_text(build_fixture.write(tmp_path, WITH), CARDS)
    monkeypatch.setattr(lessons, "_lessons", lambda: {"07_numbers": json.loads(text)})
    assert lessons.drills.__wrapped__() == {"07_numbers": {"07.1a": asked()}}


def test_a_drill_takes_minutes_and_is_not_read(tmp_path: Path) -> None:
    drilled, plain = read_text(WITH), read_text(WITH.replace(ASKED, ""))
    more = effort(drilled, CARDS), effort(plain, CARDS)
    assert more[0].small - more[1].small == DRILL_MINUTES and more[0].lines == more[1].lines


def test_right_is_remembered_once(shown: list[str]) -> None:
    drill("07.1a", (0, 2))
    assert shown == ["✓ Drill 07.1a: right."]
    assert progress_file.passed_drills() == {asked().mark}
    assert drill_module.drilled() == {"07_numbers": (1, 1)}
    drill("07.1a", [])
    assert drill_module.drilled() == {"07_numbers": (1, 1)}


def test_a_wrong_value_is_told_with_its_first_difference(shown: list[str]) -> None:
    drill("07.1a", [0, 3])
    assert shown == ["✗ Drill 07.1a: not right yet.\nThe 2nd item of your value is 3, not 2."]
    assert not progress_file.passed_drills()


def test_the_likely_mistake_has_a_sentence(shown: list[str]) -> None:
    drill("07.1a", [2])
    assert shown[0].endswith("Zero is even, too.")


@pytest.mark.parametrize(("value", "name"), [([0], "not right yet"), ([0, 2], "right")])
def test_a_screen_reader_announces_a_drill(
    shown: list[str], monkeypatch: pytest.MonkeyPatch, value: list[int], name: str
) -> None:
    monkeypatch.setattr("autograder.cards.display.show", lambda card: shown.append(card.html()))
    drill("07.1a", value)
    assert shown[0].startswith(f'<div role="region" aria-label="Drill 07.1a: {name}" ')


def test_dots_are_not_attempted(shown: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    drill("07.1a", ...)
    assert capsys.readouterr().out.startswith("Drill 07.1a: not attempted yet.") and not shown


def test_a_drill_changes_no_name(shown: list[str]) -> None:
    drill("07.1a", [0])
    assert "even" not in globals() and "number" not in globals()


def test_cells_that_were_not_run_are_named(
    shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(globals(), "numbers")
    with pytest.raises(CannotDrill, match="NameError: name 'numbers'.*Run all cells above"):
        drill("07.1a", [0])
    with pytest.raises(CannotDrill, match="no drill '07.1b'. Did you mean \"07.1a\""):
        drill("07.1b", [0])


def test_a_graded_notebook_says_and_notes_nothing(
    shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    drill("07.1a", [0])
    assert shown == []


GM = fx.symbolic_trace(lambda x: x + x.sin())
SAME = [
    ([1, 2], (1, 2)),
    ({"a": 1}.keys(), ["a"]),
    (GM.graph.nodes, list(GM.graph.nodes)),
    (["a"], {"a"}),
    (frozenset("ab"), {"b", "a"}),
    (1.0000000001, 1.0),
    (float("nan"), float("nan")),
    (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, float("nan")])),
    (torch.float32, torch.float32),
    ({"a": [1]}, {"a": (1,)}),
    ((number for number in (1, 2)), [1, 2]),
]


@pytest.mark.parametrize(("value", "expected"), SAME)
def test_the_same_value(value: Any, expected: Any) -> None:
    assert first_difference(value, expected) == ""


x, sin, add, output = GM.graph.nodes
DIFFERENT = [
    (1, True, "Your value is an `int`, not a `bool`."),
    (1, 1.0, "Your value is an `int`, not a `float`."),
    (2, 3, "Your value is 2, not 3."),
    ("sin", sin, "Your value is a `str`, not a `Node`."),
    ([sin], [sin, add], "Your value has 1 item, not 2."),
    ([sin, x], [sin, add], "The 2nd item of your value is x, not add."),
    ({"a"}, {"a", "b"}, "Your value has 1 item, not 2."),
    ({"a": 1}, {"a": 2}, "Your value at key 'a' is 1, not 2."),
    (
        torch.tensor([[1, 2]]),
        torch.tensor([[1, 3]]),
        "Your value has other values: at [0, 1] it is 2, not 3; the largest difference is 1.",
    ),
    (torch.sin, torch.cos, None),
]


@pytest.mark.parametrize(("value", "expected", "says"), DIFFERENT)
def test_another_value(value: Any, expected: Any, says: str | None) -> None:
    found = first_difference(value, expected)
    assert found if says is None else found == says


REFUSED = {
    "no mistake": ("# Mistake: Zero", "# Zero", "does not have the form of a drill"),
    "a sentence without an end": ("# too.\n", "# too\n", "does not have the form of a drill"),
    "another variable": ("even = [number for number in numbers if number % 2", "odd = [number for "
                         "number in numbers if number % 2", "does not set 'even'"),
    "another chapter": ('drill("07.1a"', 'drill("08.1a"', "is in chapter 07_numbers"),
    "not in the text": ("**Drill 07.1a.**", "**Drill.**", "does not name drill 07.1a"),
    "too long": (TASK, "even = [\n0,\n2,\n\n\n]\neven = even\neven = even", "more than 5 lines"),
    "given away": ("# even = [number for number in numbers if number and number % 2 == 0]",
                   '# even = ["Zero"]', "names 'Zero'"),
    "twice": (ASKED, ASKED + ASKED, "Drill 07.1a comes after 07.1a"),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_a_drill_without_its_form_is_refused(why: str) -> None:
    old, new, says = REFUSED[why]
    assert WITH.count(old) == 1
    found = [problem.message for problem in findings(read_text(WITH.replace(old, new)))]
    assert any(says in message for message in found), found
    assert not list(findings(read_text(WITH)))


def test_no_cell_needs_the_variable_of_a_drill(tmp_path: Path) -> None:
    text = WITH.replace(PLACE, f"# %%\nprint(even)\n\n{PLACE}")
    with pytest.raises(builder.BuildRefused) as caught:
        builder.build(build_fixture.write(tmp_path, text), CARDS)
    (line,) = caught.value.lines()
    assert f":{line_of(text, 'print(even)') - 1}: 'even' is set by a drill" in line
