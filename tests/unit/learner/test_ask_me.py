"""`ask_me` in a kernel: when it opens, which letters it takes, and what it keeps on disk."""

from __future__ import annotations

import json
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from autograder import api
from autograder.asking.client import Reply
from autograder.asking.code import Code, code_of
from autograder.asking.question import Choice, Question
from autograder.learner import ask_me

CELL = "def retarget(gm, old, new):\n    return gm\n"
CHOICES = (Choice("`a`", "no"), Choice("`b`", "yes"), Choice("`c`", "no"))
QUESTIONS = tuple(
    Question("holds", f"Question {n}?", "class Model: ...", "", CHOICES, 1, {"line": n})
    for n in (1, 2)
)


class Client:
    """Counts requests, and replies with two questions."""

    def __init__(self) -> None:
        self.asked: list[Code] = []
        self.reply = Reply(QUESTIONS, "")

    def ask(self, exercise: str, code: Code, turn: int = 1) -> Reply:
        self.asked.append(code)
        return self.reply


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    made = Client()
    monkeypatch.setattr(ask_me, "CLIENT", made)
    monkeypatch.setattr(ask_me, "_passed", {})
    yield made


def answer(cell: str = CELL, file: str = "<cell 1>") -> Any:
    """A function that is defined in a cell."""
    linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(cell, file, "exec"), space)
    return space["retarget"]


def kept(turn: int = 1) -> Path:
    return ask_me._path("retarget", turn)


def test_it_opens_after_a_pass(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    api.ask_me("retarget", "?", "?")
    said = capsys.readouterr().out
    assert said == "This opens after your own pass: run check(retarget) first.\n"
    assert not client.asked and not kept().exists()


def test_letters_reveal_one_question_after_the_other(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    ask_me.note_pass("retarget", answer())
    assert client.asked == []  # nothing is made before somebody asks
    api.ask_me("retarget", "?", "?")
    assert "You picked" not in capsys.readouterr().out
    api.ask_me("retarget", "a", "?")
    assert capsys.readouterr().out.count("You picked") == 1
    api.ask_me("retarget", "B", "c")
    said = capsys.readouterr().out
    assert "You picked b, and that is right. Your first pick, a, is the one that counts." in said
    assert "You picked c, and b is right." in said
    assert len(client.asked) == 1
    first = json.loads(kept().read_text(encoding="utf-8"))["first"]
    assert sorted(first.values()) == ["a", "c"]


def test_after_a_restart_the_card_comes_from_the_file(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    ask_me.note_pass("retarget", answer())
    api.ask_me("retarget", "a")
    ask_me._passed.clear()
    capsys.readouterr()
    api.ask_me("retarget", "?", "?")
    assert "Question 1?" in capsys.readouterr().out and len(client.asked) == 1
    assert "yes" not in kept().read_text(encoding="utf-8")  # the key is not readable by accident


def test_changed_code_gets_new_questions_and_a_comment_does_not(client: Client) -> None:
    for number, cell in enumerate(
        (CELL, f"# a comment\n{CELL}", CELL.replace("gm\n", "gm or old\n"))
    ):
        ask_me.note_pass("retarget", answer(cell, f"<cell {number}>"))
        api.ask_me("retarget")
    assert len(client.asked) == 2


@pytest.mark.parametrize("letters", [("d",), ("?", "x"), ("ab",), ("a", "b", "c"), (7,)])
def test_a_wrong_letter_is_an_error_and_keeps_nothing(client: Client, letters: Any) -> None:
    ask_me.note_pass("retarget", answer())
    with pytest.raises(ask_me.CannotAnswer, match="option|at most"):
        api.ask_me("retarget", *letters)
    assert not kept().exists()


def test_there_are_two_turns(client: Client) -> None:
    ask_me.note_pass("retarget", answer())
    api.ask_me("retarget", turn=2)
    assert kept(2).exists() and not kept(1).exists()
    with pytest.raises(ask_me.CannotAnswer, match="no turn 3"):
        api.ask_me("retarget", turn=3)


def test_a_damaged_file_is_replaced(client: Client) -> None:
    ask_me.note_pass("retarget", answer())
    kept().parent.mkdir(parents=True)
    kept().write_text("{", encoding="utf-8")
    api.ask_me("retarget")
    assert json.loads(kept().read_text(encoding="utf-8"))["exercise"] == "retarget"


def test_it_says_why_there_is_no_question(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    client.reply = Reply((), "Your code draws random numbers.")
    ask_me.note_pass("retarget", answer())
    api.ask_me("retarget", "?", "?")
    said = capsys.readouterr().out
    assert (
        said
        == "There is no question about your code of retarget. Your code draws random numbers.\n"
    )


def test_nothing_is_asked_while_a_notebook_is_graded(
    client: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    ask_me.note_pass("retarget", answer())
    api.ask_me("retarget", "?", "?")
    assert capsys.readouterr().out == "" and not client.asked


def test_the_text_has_what_it_names_from_other_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    helper = "import operator\n\n\ndef is_add(node):\n    return node.target is operator.add\n"
    file = "<cell 8>"
    linecache.cache[file] = (len(helper), None, helper.splitlines(keepends=True), file)
    notebook = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", notebook)
    space = vars(notebook)
    exec(compile(helper, file, "exec"), space)
    cell = "def retarget(gm, old, new):\n    return [is_add(n) for n in gm.graph.nodes]\n"
    linecache.cache["<cell 9>"] = (len(cell), None, cell.splitlines(keepends=True), "<cell 9>")
    exec(compile(cell, "<cell 9>", "exec"), space)
    code = code_of("retarget", space["retarget"])
    assert code is not None and code.cell == cell
    assert "def is_add" in code.before and "import operator" in code.before
