"""The contract, clause by clause, and the wrong answers that break each of them.

A file of this folder holds the clauses of one chapter, one table for each exercise: a short key,
and what must hold, in our own words. The clauses in ``common.toml`` hold for every exercise. A
wrong answer of the exam names the clause that it breaks. Where none does, ``[reasons]`` says why.
``python -m tests.exam.clauses`` prints the whole table.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from autograder.exercises import EXERCISES
from tests.exam.answers import all_answers, clauses_of

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


def broken_by() -> dict[str, list[str]]:
    """The wrong answers that break each clause which any answer names."""
    found: dict[str, list[str]] = {}
    for answer in all_answers():
        for clause in clauses_of(answer):
            found.setdefault(clause, []).append(str(answer))
    return found


@lru_cache(maxsize=1)
def table() -> tuple[Clause, ...]:
    """Every clause with what breaks it, or why nothing does."""
    broken = broken_by()
    return tuple(
        Clause(id, says, reasons.get(id, ""), tuple(broken.get(id, ())))
        for said, reasons in map(read, files())
        for id, says in said.items()
    )


def without_clauses() -> list[str]:
    """Exercises of which no file has a clause."""
    told = {clause.id.partition(".")[0] for clause in table()}
    return [name for name in EXERCISES if name not in told]
