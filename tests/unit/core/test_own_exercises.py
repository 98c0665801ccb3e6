"""An instructor's own exercises: an old name is followed by the new one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from autograder.core import own_exercises


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    own_exercises.install({})


@pytest.mark.parametrize(("line", "words"), [
    ("Expect(look='here')", "`look` is now called `advice`"),
    ("Expect(still=())", "`still` is now called `still_holds`"),
    ("Expect(names=1, other=2)", "argument 'other'$"),
])  # fmt: skip
def test_an_old_name_is_told_with_the_new_one(line: str, words: str) -> None:
    cases = f"from autograder.core.exercise import Expect\nEXERCISE = {line}\n"
    own_exercises.install({"mine/cases.py": cases, "mine/key.py": ""})
    with pytest.raises(TypeError, match=words):
        own_exercises.exercise("mine")


@pytest.mark.parametrize(("arguments", "words"), [
    ("procedure='analysis'", "is now kind="),
    ("rubric='mine.rubric'", "Rename rubric.py to key.py"),
])  # fmt: skip
def test_an_old_argument_is_told_with_what_to_change(arguments: str, words: str) -> None:
    cases = "from autograder.authoring.question import Exercise\n"
    cases += f"EXERCISE = Exercise({arguments})\n"
    own_exercises.install({"mine/cases.py": cases, "mine/key.py": ""})
    with pytest.raises(TypeError, match=words):
        own_exercises.exercise("mine")


EMPTY = (
    "from autograder.authoring.question import Case, Exercise\n"
    "CASE = Case('one', 'task', int)\n"
    "EXERCISE = Exercise('', 1, 1, 1, 'analysis', (), (CASE,), ())\n"
)


def test_the_folder_says_the_rest() -> None:
    redraws = "from own_exercises.mine.cases import CASE\nREDRAWS = (CASE,)\n"
    own_exercises.install({"mine/cases.py": EMPTY, "mine/key.py": "", "mine/redraws.py": redraws})
    found = own_exercises.exercise("mine")
    assert (found.name, found.chapter, found.key) == ("mine", "mine", "own_exercises.mine.key")
    assert [(case.name, case.hidden) for case in found.cases] == [
        ("one", False), ("redraw: one", True),
    ]  # fmt: skip
    assert own_exercises.exercise("mine") is found
    own_exercises.install({"mine/cases.py": EMPTY, "mine/key.py": ""})
    assert [case.name for case in own_exercises.exercise("mine").cases] == ["one"]


def test_a_hidden_case_among_the_visible_ones_is_refused() -> None:
    cases = EMPTY.replace("'task', int", "'task', int, hidden=True")
    own_exercises.install({"mine/cases.py": cases, "mine/key.py": ""})
    with pytest.raises(ValueError, match="into redraws.py: 'one' is in cases.py"):
        own_exercises.exercise("mine")


def test_an_old_name_in_a_key() -> None:
    key = "from autograder.judge.answer_key import OfChoice\n"
    own_exercises.install({"mine/cases.py": "", "mine/key.py": key})
    with pytest.raises(ImportError, match="`OfChoice` is now called `RecipeOracle`"):
        __import__("own_exercises.mine.key")
