"""The clauses of every task: where each stands, the cases that show it, and what breaks it.

An exercise's ``clauses.toml`` has a table for each clause:

* ``says``: the clause in our own words.
* ``card``: the words that require it, quoted from the exercise's card or stub. The rules of duels
  are in the text of their chapter.
* ``cases``: the names of the cases that are about it.
* ``reason``: why no wrong answer breaks it. Most clauses have none, as a wrong answer names them.

The clauses in ``tests/exercises/common.toml`` apply to every exercise. In the file of an exercise,
the table ``[common.lint]`` has only ``cases``: those that are about the common clause ``lint``.
``python -m tests.checks.clauses`` prints all clauses.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.exercises import FOLDER, Answer, all_answers, answers_to, clauses_of, folders

COMMON = "common"
"""The name for clauses of every exercise, as in ``common.lint``."""


@dataclass(frozen=True)
class Clause:
    """One requirement of a task.

    Attributes:
        id: the exercise, or ``common``, and a short key, with a dot between them.
        says: the requirement as a sentence.
        card: the words that require it, quoted from the task.
        reason: why no wrong answer breaks it; empty if one does.
        answers: the wrong answers that break it, as ``exercise: style``.
    """

    id: str
    says: str
    card: str
    reason: str
    answers: tuple[str, ...]

    def row(self) -> str:
        """The clause as a line of the table."""
        return f"| `{self.id}` | {self.says} | {'; '.join(self.answers) or f'*{self.reason}*'} |"


def file_of(name: str) -> Path:
    """The file with the clauses of an exercise, or with the common ones."""
    return FOLDER / f"{COMMON}.toml" if name == COMMON else folders()[name] / "clauses.toml"


def broken_by(answers: Iterable[Answer]) -> dict[str, list[str]]:
    """For each clause that these answers name, the wrong answers that break it."""
    found: dict[str, list[str]] = {}
    for answer in answers:
        for clause in clauses_of(answer):
            found.setdefault(clause, []).append(str(answer))
    return found


@cache
def _tables(name: str) -> dict[str, Any]:
    """The tables in the file of an exercise, or in that of the common clauses, by their ids."""
    own = tomllib.loads(file_of(name).read_text(encoding="utf-8"))
    common = own.pop(COMMON, {})
    named = {name: own, COMMON: common} if common else {name: own}
    return {f"{of}.{key}": said for of, tables in named.items() for key, said in tables.items()}


def rows(name: str, broken: Mapping[str, list[str]]) -> list[Clause]:
    """The clauses of an exercise, or the common ones, with the answers that break each of them."""
    return [
        Clause(
            id,
            *(said.get(key, "") for key in ("says", "card", "reason")),
            tuple(broken.get(id, ())),
        )
        for id, said in _tables(name).items()
        if id.startswith(f"{name}.")
    ]


@cache
def table() -> tuple[Clause, ...]:
    """Every clause, with the answers that break it or the reason why none does."""
    broken = broken_by(all_answers())
    return tuple(clause for name in (*folders(), COMMON) for clause in rows(name, broken))


@cache
def of_exercise(name: str) -> tuple[Clause, ...]:
    """The clauses of one exercise; only its own answers are imported."""
    return tuple(rows(name, broken_by(answers_to(name))))


def cases_by_clause(name: str) -> dict[str, list[str]]:
    """The names of an exercise's cases, by the id of the clause that they are about."""
    return {id: said.get("cases", []) for id, said in _tables(name).items()}


def cases_for(answer: Answer) -> list[str]:
    """The names of the cases that are about the clauses which a wrong answer breaks."""
    cases = cases_by_clause(answer.exercise)
    return [case for clause in clauses_of(answer) for case in cases.get(clause, [])]


def running_text(source: str) -> str:
    """A text without comment marks, and with one space between words."""
    return " ".join(re.sub(r"^ *# ?", "", source, flags=re.M).split())


if __name__ == "__main__":
    lines = [clause.row() for clause in table()]
    print("| clause | says | broken by |", "|---|---|---|", *lines, sep="\n")
