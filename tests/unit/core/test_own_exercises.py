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


def test_an_old_name_in_a_key() -> None:
    key = "from autograder.judge.answer_key import OfChoice\n"
    own_exercises.install({"mine/cases.py": "", "mine/key.py": key})
    with pytest.raises(ImportError, match="`OfChoice` is now called `RecipeOracle`"):
        __import__("own_exercises.mine.key")
