"""Changes are made together or not at all, and nothing of them is left."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.core.changes import ABSENT, Change, change_of, made, source_digest


class Library:
    """What is changed."""

    def work(self) -> str:
        """As it is shipped."""
        return "shipped"


STOCK = Library.work


@pytest.fixture
def changes() -> tuple[Change, ...]:
    table: dict[str, Any] = {"there": 1}
    return (
        change_of(Library, "work", lambda self: "quick"),
        change_of(table, "there", 2),
        change_of(table, "new", 3),
    )


def standing(changes: tuple[Change, ...]) -> list[bool]:
    """Which of the changes are made."""
    return [change.now is change.after for change in changes]


def test_they_are_there_within_and_not_afterwards(changes: tuple[Change, ...]) -> None:
    with made(changes):
        assert standing(changes) == [True] * 3
        assert Library().work() == "quick"
        assert changes[1].owner == {"there": 2, "new": 3}
    assert Library.work is STOCK and changes[1].owner == {"there": 1}


def test_an_error_takes_them_back(changes: tuple[Change, ...]) -> None:
    with pytest.raises(KeyboardInterrupt), made(changes):
        raise KeyboardInterrupt
    assert standing(changes) == [False] * 3


def test_within_themselves_they_stay(changes: tuple[Change, ...]) -> None:
    with made(changes):
        with made(changes):
            assert standing(changes) == [True] * 3
        assert standing(changes) == [True] * 3
    assert standing(changes) == [False] * 3


def test_what_somebody_else_has_changed_keeps_all_as_it_is(changes: tuple[Change, ...]) -> None:
    changes[1].owner["there"] = 7
    with made(changes):
        assert standing(changes) == [False] * 3
    assert changes[1].owner == {"there": 7}


def test_what_is_changed_meanwhile_stays(
    changes: tuple[Change, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def mine(self: Library) -> str:
        return "mine"

    monkeypatch.setattr(Library, "work", STOCK)  # and it is so again after this test
    with made(changes):
        Library.work = mine  # type: ignore[method-assign]
        del changes[1].owner["new"]
    assert Library.work is mine
    assert changes[1].owner == {"there": 1}


def test_a_name_that_is_not_there_is_said() -> None:
    with pytest.raises(AttributeError, match="'play'"):
        change_of(Library, "play", None)
    with pytest.raises(AttributeError, match="'play'"):
        change_of(SimpleNamespace(), "play", None)
    assert change_of({}, "play", 1).before is ABSENT


def test_line_ends_do_not_change_the_digest_of_a_module(tmp_path: Path) -> None:
    texts = {"a": b"x = 1\ny = 2\n", "b": b"x = 1\r\ny = 2\r\n", "c": b"x = 1\ny = 3\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_bytes(text)
    same, windows, other = (
        source_digest([SimpleNamespace(__file__=tmp_path / f"{name}.py")]) for name in texts
    )
    assert same == windows != other
    assert source_digest([SimpleNamespace(__file__=tmp_path / "none.py")]) == ""
