"""The contract, clause by clause, and the wrong answers that break each of them.

A file of this folder holds the clauses of one chapter, one table for each exercise: a short key,
and what must hold, in our own words. The clauses in ``common.toml`` hold for every exercise. A
wrong answer of the exam names the clause that it breaks. Where none does, ``[reasons]`` says why.
``python -m tests.exam.clauses`` prints the whole table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from autograder.exercises import EXERCISES
from tests.exam.answers import Answer, all_answers, answers_to, clauses_of

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Clause:
    """One thing that the contract asks for.

    Attributes:
        id: the exercise, or ``common``, and a short key, with a dot between them.
        says: what must hold.
        reason: why no wrong answer of the exam breaks it; empty where one does.
        answers: the wrong answers that break it, as ``exercise: style``.
    """

    id: str
    says: str
    reason: str
    answers: tuple[str, ...]

    def row(self) -> str:
        """The clause as a line of the table."""
        return f"| `{self.id}` | {self.says} | {'; '.join(self.answers) or f'*{self.reason}*'} |"


def files() -> list[Path]:
    """The files of clauses, in the order of the chapters."""
    return sorted(HERE.glob("*.toml"))


def read(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The clauses of a file and the reasons in it, both by their ids."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    reasons = tables.pop("reasons", {})
    said = {f"{name}.{key}": text for name, rows in tables.items() for key, text in rows.items()}
    return said, reasons


def broken_by(answers: Iterable[Answer]) -> dict[str, list[str]]:
    """The wrong answers, of these, that break each clause which any of them names."""
    found: dict[str, list[str]] = {}
    for answer in answers:
        for clause in clauses_of(answer):
            found.setdefault(clause, []).append(str(answer))
    return found


def rows(path: Path, answers: Iterable[Answer], exercise: str = "") -> list[Clause]:
    """The clauses of a file, or of one exercise in it, with the answers that break each of them."""
    broken, (said, reasons) = broken_by(answers), read(path)
    return [
        Clause(id, says, reasons.get(id, ""), tuple(broken.get(id, ())))
        for id, says in said.items()
        if id.startswith(f"{exercise}." if exercise else "")
    ]


@lru_cache(maxsize=1)
def table() -> tuple[Clause, ...]:
    """Every clause with what breaks it, or why nothing does."""
    return tuple(clause for path in files() for clause in rows(path, all_answers()))


def of_exercise(name: str) -> list[Clause]:
    """The clauses of one exercise; only its own answers are imported."""
    return rows(HERE / f"{EXERCISES[name].chapter}.toml", answers_to(name), name)
