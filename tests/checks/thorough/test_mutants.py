"""Mutants: the edits of a solution that are tried, and their results."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from autograder.builder.outputs.references import solutions_of, solve_sources
from autograder.exercises import EXERCISES
from tests.checks import mutants
from tests.checks.mutants import Mutant, plain, survivors, try_in_fork

SHORT = EXERCISES["retarget"]
"""An exercise whose solution and cases are short."""

SAMPLE = """
def answer(model: nn.Module, limit: int = 2) -> dict[str, int]:
    '''What is said is no statement.'''
    found: dict[str, int] = {}
    for node in model.graph.nodes:
        if node.op == "output" or not (node.users and type(node.target) is str):
            continue
        assert all(isinstance(arg, int) for arg in node.args)
        with model.graph.inserting_before(node):
            new = call(node.target, node.args, flag=True)
        found[new] = limit - 1
    while limit < 5.0:
        limit += 1
    return {key: value for key, value in found.items() if value}
"""


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """The definitions of the chapter of `SHORT`."""
    return solutions_of(SHORT.chapter)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("name", ["", "retarget", "inline", "optimize"])
def test_mutants_are_other_texts_that_compile(name: str) -> None:
    source = solve_sources(EXERCISES[name].chapter)[name] if name else SAMPLE
    texts = [mutant.text for mutant in mutants.mutants(source)]
    assert len(texts) > 10
    assert len({plain(source), *texts}) == len(texts) + 1
    for text in texts:
        compile(text, "<mutant>", "exec")
        assert plain(text) == text


def test_each_kind_of_edit_is_made() -> None:
    found = {mutant.what for mutant in mutants.mutants(SAMPLE)}
    assert found == {
        "drop a statement", "another comparison", "and/or", "drop an operand", "always True",
        "always False", "drop not", "another constant", "drop a keyword", "drop the last argument",
        "swap arguments", "drop if", "another attribute", "swap operands", "another operator",
        "drop with", "drop a call", "drop a method", "subclasses too", "no subclasses",
        "another function",
    }  # fmt: skip
    assert {m.what for m in mutants.mutants("x = {1, 2}")} >= {"drop an element"}


def test_annotations_and_docstrings_stay() -> None:
    def said(text: str) -> list[str]:
        (function,) = ast.parse(text).body
        assert isinstance(function, ast.FunctionDef)
        nodes = [*ast.walk(function.args), *([function.returns] if function.returns else [])]
        types = [node.annotation for node in nodes if isinstance(node, ast.arg)]
        return [ast.get_docstring(function) or "", *(ast.dump(t) for t in types if t)]

    for mutant in mutants.mutants(SAMPLE):
        assert said(mutant.text) == said(SAMPLE)
        assert "found: dict[str, int]" in mutant.text


def test_a_difference_is_the_lines_that_differ() -> None:
    mutant = Mutant("another constant", "x = 1\ny = 3")
    assert mutant.difference("x = 1  # one\ny = 2") == ["-y = 2", "+y = 3"]


@pytest.mark.parametrize(
    "old, new, passes",
    [
        ("node.target is old", "old is node.target", True),
        ("node.target is old", "node.target is not old", False),
        ("node.target = new", "pass", False),
        ("node.target = new", "raise SystemExit", False),
        ("node.target = new", "import os; os._exit(0)", False),
        ("def retarget", "def other", False),
    ],
)
def test_a_wrong_mutant_is_caught_and_an_equal_one_passes(
    old: str, new: str, passes: bool, names: dict[str, Any]
) -> None:
    text = solve_sources(SHORT.chapter)[SHORT.name]
    assert old in text
    rest = {name: value for name, value in names.items() if name != SHORT.name}
    assert (try_in_fork(SHORT, text.replace(old, new), rest) == "") is passes


def test_a_mutant_that_does_not_end_is_ended(
    names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "SECONDS_FOR_ONE", 0.5)
    text = solve_sources(SHORT.chapter)[SHORT.name]
    text = text.replace("node.target = new", "while True: pass")
    assert try_in_fork(SHORT, text, names) == "it does not end"


def test_those_that_pass_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    source = solve_sources(SHORT.chapter)[SHORT.name]
    few = [each for each in mutants.mutants(source) if each.what == "drop a statement"]
    twice = mutants.plain(source).replace("gm.recompile()", "gm.recompile(); gm.recompile()")
    few.append(mutants.Mutant("recompile twice", twice))
    monkeypatch.setattr(mutants, "mutants", lambda source: list(few))
    said: list[str] = []
    tally = survivors(SHORT, seconds=60, say=said.append)
    assert (tally.tried, tally.of, tally.survived) == (len(few), len(few), len(said))
    assert len(said) == 1 < len(few)
    assert said[0].startswith("retarget: recompile twice\n    -")
    assert survivors(SHORT, seconds=-1, say=said.append).tried == 0


def test_an_unknown_name_is_said() -> None:
    with pytest.raises(SystemExit, match="no exercise 'nobody'"):
        mutants.main(["nobody"])
