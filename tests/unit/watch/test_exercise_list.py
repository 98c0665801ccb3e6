"""The list of all exercises: search, filter, selection, and lines that fit."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.text import Text

from autograder.watch.catalogue import State
from autograder.watch.exercise_list import KEYS, SEARCH_KEYS, ExerciseList
from autograder.watch.files import ExerciseFile
from autograder.watch.keys import BACKSPACE, DOWN, ENTER, ESCAPE, UP

STATES: list[State] = ["passed", "not passed", "not begun"]


def one(number: int) -> ExerciseFile:
    name = f"exercise_{number}"
    heading = f"Exercise 3.{number} `{name}` · Title {number} · ★ · 5 minutes"
    return ExerciseFile(name, heading, Path("03_x") / f"{name}.py", "")


@pytest.fixture
def shown() -> ExerciseList:
    exercises = [one(number) for number in range(1, 31)]
    states = {each.name: STATES[i % 3] for i, each in enumerate(exercises)}
    return ExerciseList(exercises, states, "exercise_2")


def rows(shown: ExerciseList, room: int = 40) -> list[str]:
    return [line.plain.rstrip() for line in shown.lines(room)]


def selected(shown: ExerciseList) -> str:
    (row,) = [row for row in rows(shown) if row.startswith(">")]
    return row.split("exercise_")[1].split()[0]


def press(shown: ExerciseList, *keys: str) -> None:
    for key in keys:
        assert shown.press(key) is None


def test_rows_have_the_state_in_words(shown: ExerciseList) -> None:
    assert rows(shown)[:3] == [
        "  ✓ passed        3.1 exercise_1   Title 1 · ★",
        "> ✗ not passed    3.2 exercise_2   Title 2 · ★",
        "  ○ not begun     3.3 exercise_3   Title 3 · ★",
    ]
    assert shown.heading == "Exercises: all · 10 of 30 passed" and shown.keys == KEYS


def test_the_rows_around_the_selected_one_are_shown(shown: ExerciseList) -> None:
    for _ in range(40):
        press(shown, DOWN)
        assert len(rows(shown, 10)) == 10 and any(r.startswith(">") for r in rows(shown, 10))
    assert selected(shown) == "30" and "exercise_30" in rows(shown, 10)[-2]
    press(shown, *[UP] * 40)
    assert selected(shown) == "1" and "exercise_1 " in rows(shown, 10)[0]
    press(shown, "j", "j", "k")
    assert selected(shown) == "2"


def test_a_filter_leaves_what_is_not_passed(shown: ExerciseList) -> None:
    press(shown, "f")
    assert not any("✓" in row for row in rows(shown)) and len(rows(shown)) == 21
    assert shown.heading == "Exercises: not passed yet · 10 of 30 passed"
    press(shown, "f")
    assert len(rows(shown)) == 31


def test_a_search_by_number_name_or_title(shown: ExerciseList) -> None:
    press(shown, *"/title 12")
    assert shown.keys == SEARCH_KEYS and rows(shown)[-1] == "Search: title 12_"
    assert len(rows(shown)) == 2 and selected(shown) == "12"
    press(shown, BACKSPACE, *" 3.1")
    assert selected(shown) == "1" and len(rows(shown)) == 12  # Title 1, and 10 to 19
    press(shown, DOWN)
    assert selected(shown) == "10"
    chosen = shown.press(ENTER)
    assert chosen is not None and chosen.name == "exercise_10" and shown.is_closed


def test_letters_are_text_while_searching(shown: ExerciseList) -> None:
    press(shown, *"/qlfjk")
    assert not shown.is_closed and rows(shown)[-1] == "Search: qlfjk_"
    assert rows(shown)[0] == "No exercise is left here."
    press(shown, DOWN, ENTER)
    assert not shown.is_closed
    press(shown, ESCAPE)
    assert len(rows(shown)) == 31 and not shown.is_closed
    press(shown, ESCAPE)
    assert shown.is_closed


@pytest.mark.parametrize("key", ["q", "l", ESCAPE])
def test_keys_that_close_it(shown: ExerciseList, key: str) -> None:
    press(shown, key)
    assert shown.is_closed


def test_another_heading_is_a_title(shown: ExerciseList) -> None:
    other = ExerciseFile("mine", "My own exercise", Path("x/mine.py"), "")
    text = Text("\n").join(ExerciseList([other], {"mine": "passed"}, "mine").lines(5)).plain
    assert text.startswith("> ✓ passed            mine  My own exercise")
