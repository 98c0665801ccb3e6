"""Makes the reference files from the solutions, by one command."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jupytext

from autograder.core.codec import Plain
from autograder.core.exercise import Exercise
from autograder.core.limits import bounded_output
from autograder.core.outcome import Reference
from autograder.judge import references
from autograder.judge.compare import difference
from autograder.judge.references import FOLDER
from autograder.runner import run
from autograder.exercises import EXERCISES

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"


def solutions_of(chapter: str) -> dict[str, Any]:
    """What a chapter's solve cells define, and its first code cell imports."""
    notebook = jupytext.read(SOLUTIONS / f"{chapter}.py", fmt="py:percent")
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    names: dict[str, Any] = {"__name__": "solutions"}
    for i, cell in enumerate(cells):
        if i == 0 or "solve" in cell.metadata:
            code = compile(cell.source, f"<solution {chapter} cell {i}>", "exec")
            with bounded_output(0):  # a first cell prints which PyTorch it runs on
                exec(code, names)
    return names


def solve_sources(chapter: str) -> dict[str, str]:
    """The source of each solve cell of a chapter, by the exercise's name."""
    notebook = jupytext.read(SOLUTIONS / f"{chapter}.py", fmt="py:percent")
    return {c.metadata["solve"]: c.source for c in notebook.cells if "solve" in c.metadata}


def make(exercise: Exercise, solution: Any) -> dict[str, Reference]:
    """References for all cases of an exercise."""
    found = {}
    for case in exercise.cases:
        outcome = run(exercise, solution, case)
        if outcome.ended != "returned" and "raises" not in case.expect:
            raise RuntimeError(f"{exercise.name}, {case.name}: {outcome.ended}: {outcome.error}")
        found[case.name] = Reference.of_outcome(outcome)
    return found


def write_all(check_only: bool = False, only: tuple[str, ...] = ()) -> list[str]:
    """Bring the reference files up to date.

    A stored reference that is the same within the tolerances of its dtype is kept, so that
    another processor does not change the files.

    Args:
        check_only: write nothing.
        only: the chapters to look at; all by default.

    Returns:
        The chapters whose file is (or would be) changed.
    """
    changed = []
    for chapter in dict.fromkeys(exercise.chapter for exercise in EXERCISES.values()):
        if only and chapter not in only:
            continue
        path = FOLDER / f"{chapter}.json"
        stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        fresh = _chapter_json(chapter, stored)
        text = json.dumps(fresh, indent=1, sort_keys=True) + "\n"
        if not path.exists() or text != path.read_text(encoding="utf-8"):
            changed.append(chapter)
            if not check_only:
                path.write_text(text, encoding="utf-8", newline="\n")
    references.forget()
    return changed


def _chapter_json(chapter: str, stored: dict[str, Any]) -> dict[str, Any]:
    names = solutions_of(chapter)
    data: dict[str, Any] = {}
    for exercise in EXERCISES.values():
        if exercise.chapter != chapter or exercise.name not in names:
            continue
        data[exercise.name] = {}
        for case, made in make(exercise, names[exercise.name]).items():
            old = stored.get(exercise.name, {}).get(case)
            keep = old is not None and _same(Reference.from_json(old), made)
            data[exercise.name][case] = old if keep else made.to_json()
    return data


def _same(a: Reference, b: Reference) -> bool:
    if [run.get("error") for run in a.runs] != [run.get("error") for run in b.runs]:
        return False
    return difference(_values(a), a.tensors, _values(b), b.tensors) is None


def _values(reference: Reference) -> Plain:
    """All values of a reference as one; what was raised is no value."""
    rows = [
        {"dict": [[key, run[key]] for key in sorted(run) if key != "error"]}
        for run in reference.runs
    ]
    return {"list": [reference.value, *rows]}


if __name__ == "__main__":
    print("changed:", ", ".join(write_all(only=tuple(sys.argv[1:]))) or "nothing")
