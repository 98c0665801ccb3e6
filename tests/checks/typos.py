"""Typos in right answers: one name misspelled, as if typed in a hurry.

They are derived from the text of an answer, and are always the same.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import random
import sys
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn

from autograder.core.global_state import preserve_global_state
from autograder.core.limits import bounded_output
from autograder.core.verdict import Finding
from autograder.exercises import EXERCISES
from autograder.judge import findings_of
from autograder.runner import run
from tests.exercises import Answer, answers_to

CASES = 4
"""Maximum number of cases to try until one shows the typo."""


@dataclass(frozen=True)
class Typo:
    """A right answer with one misspelled name.

    Attributes:
        answer: the right answer.
        what: the kind of typo.
        meant: the right name, as a card should suggest it.
        typed: the misspelled name.
        text: the text of the answer with the typo.
    """

    answer: Answer
    what: str
    meant: str
    typed: str
    text: str

    def __str__(self) -> str:
        return f"{self.answer}: {self.what}: {self.typed} for {self.meant}"

    def written(self) -> Any:
        """The answer with the typo, with its source available to Python like a cell's."""
        file = f"<typo {self}>"
        linecache.cache[file] = (len(self.text), None, self.text.splitlines(keepends=True), file)
        names = dict(vars(sys.modules[self.answer.write.__module__])) | {"__name__": "typo"}
        exec(compile(self.text, file, "exec"), names)
        return names[self.answer.write.__name__]


def typos_in(answer: Answer, seed: int = 0) -> list[Typo]:
    """All typos of an answer, shuffled; none unless its text is one function or class."""
    write = answer.write
    closed = getattr(write, "__closure__", None) or hasattr(write, "__wrapped__")
    if not isinstance(write, types.FunctionType | type) or closed or write.__name__ == "_":
        return []
    text = textwrap.dedent(inspect.getsource(write))
    tree = ast.parse(text)
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef | ast.ClassDef):
        return []
    first = function.lineno - 1  # skip the decorator of the registry
    text = "".join(text.splitlines(keepends=True)[first:])
    draw = random.Random(f"{seed} {answer}")
    found = list(_typos(answer, text, draw))
    draw.shuffle(found)
    return found


def _typos(answer: Answer, text: str, draw: random.Random) -> Iterator[Typo]:
    lines = text.splitlines(keepends=True)

    def replaced(line: int, start: int, end: int, new: str) -> str:
        whole = list(lines)
        old = whole[line - 1]
        whole[line - 1] = old[:start] + new + old[end:]
        return "".join(whole)

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            end, name = node.end_col_offset or 0, node.attr
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                value = node.value
                yield Typo(answer, "self forgotten", f"self.{name}", name,
                           replaced(value.lineno, value.col_offset, end, name))  # fmt: skip
            if isinstance(node.value, ast.Name) and node.value.id in _MODULES:
                value = node.value
                place = value.lineno, value.col_offset, value.end_col_offset or 0
                for other in _MODULES:
                    if not hasattr(_MODULES[other], name):
                        yield Typo(answer, "another module", name, f"{other}.{name}",
                                   replaced(*place, other))  # fmt: skip
                        break
            place = node.end_lineno or 0, end - len(name), end
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            place, name = (node.lineno, node.col_offset, node.end_col_offset or 0), node.id
        elif isinstance(node, ast.keyword) and node.arg:
            place = node.lineno, node.col_offset, node.col_offset + len(node.arg)
            name = node.arg
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if not node.args and not node.keywords:
                method = node.func.attr
                yield Typo(answer, "parentheses forgotten", f"{method}()", method, replaced(
                    node.end_lineno or 0, (node.end_col_offset or 0) - 2, node.end_col_offset or 0,
                    ""))  # fmt: skip
            continue
        else:
            continue
        for what, typed in _misspelled(name, draw):
            yield Typo(answer, what, name, typed, replaced(*place, typed))


_MODULES = {"fx": fx, "nn": nn, "torch": torch, "F": nn.functional}


def _misspelled(name: str, draw: random.Random) -> Iterator[tuple[str, str]]:
    if len(name) < 3:
        return
    at = draw.randrange(1, len(name))
    yield "a letter is missing", name[:at] + name[at + 1 :]
    yield "a letter is there twice", name[:at] + name[at] + name[at:]
    yield "two letters exchanged", name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :]
    yield "another case", name.lower() if name != name.lower() else name.title()
    words = name.split("_")
    if len(words) > 1 and all(words):
        yield "words exchanged", "_".join([words[1], words[0], *words[2:]])


def finding_on(typo: Typo) -> Finding | None:
    """The finding on a typo that raises an exception; ``None`` if none does."""
    exercise = EXERCISES[typo.answer.exercise]
    try:
        write = typo.written()
    except Exception:  # the cell itself raises, so no check runs
        return None
    for case in exercise.visible_cases()[:CASES]:
        outcome = run(exercise, write, case)
        with preserve_global_state(), bounded_output(0):
            found = findings_of(exercise, case, outcome)
        if found:
            return found[0] if found[0].raised else None
    return None


def right_ones(exercise: str) -> list[Answer]:
    """The right answers to an exercise whose texts can be misspelled."""
    return [a for a in answers_to(exercise) if a.finding is None and typos_in(a)]
