"""The clauses of every task, and the wrong answers that break each of them.

An exercise's ``clauses.toml`` has a short key for each clause, and the clause in our own words. The
clauses in ``tests/exercises/common.toml`` apply to every exercise. A wrong answer names the clause
that it breaks. If no answer breaks a clause, ``[reasons]`` says why. ``python -m
tests.checks.clauses`` prints the whole table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.exercises import FOLDER, Answer, all_answers, answers_to, clauses_of, folders

COMMON = "common"
"""The name for clauses of every exercise, as in ``common.lint``."""


@dataclass(frozen=True)
class Clause:
    """One requirement of a task.

    Attributes:
        id: the exercise, or ``common``, and a short key, with a dot between them.
        says: the requirement as a sentence.
        reason: why no wrong answer breaks it; empty if one does.
        answers: the wrong answers that break it, as ``exercise: style``.
    """

    id: str
    says: str
    reason: str
    answers: tuple[str, ...]

    def row(self) -> str:
        """The clause as a line of the table."""
        return f"| `{self.id}` | {self.says} | {'; '.join(self.answers) or f'*{self.reason}*'} |"


def file_of(name: str) -> Path:
    """The file with the clauses of an exercise, or with the common ones."""
    return FOLDER / f"{COMMON}.toml" if name == COMMON else folders()[name] / "clauses.toml"


def read(name: str) -> tuple[dict[str, str], dict[str, str]]:
    """The clauses of an exercise, or the common ones, and the reasons, both by short keys."""
    said = tomllib.loads(file_of(name).read_text(encoding="utf-8"))
    reasons = said.pop("reasons", {})
    return said, reasons


def broken_by(answers: Iterable[Answer]) -> dict[str, list[str]]:
    """For each clause that these answers name, the wrong answers that break it."""
    found: dict[str, list[str]] = {}
    for answer in answers:
        for clause in clauses_of(answer):
            found.setdefault(clause, []).append(str(answer))
    return found


def rows(name: str, answers: Iterable[Answer]) -> list[Clause]:
    """The clauses of an exercise, or the common ones, with the answers that break each of them."""
    broken, (said, reasons) = broken_by(answers), read(name)
    return [
        Clause(id, says, reasons.get(key, ""), tuple(broken.get(id, ())))
        for key, says in said.items()
        for id in [f"{name}.{key}"]
    ]


@cache
def table() -> tuple[Clause, ...]:
    """Every clause, with the answers that break it or the reason why none does."""
    return tuple(clause for name in (*folders(), COMMON) for clause in rows(name, all_answers()))


def of_exercise(name: str) -> list[Clause]:
    """The clauses of one exercise; only its own answers are imported."""
    return rows(name, answers_to(name))


if __name__ == "__main__":
    lines = [clause.row() for clause in table()]
    print("| clause | says | broken by |", "|---|---|---|", *lines, sep="\n")
