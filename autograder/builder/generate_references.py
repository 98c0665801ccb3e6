"""Makes the reference files from the solutions, by one command."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jupytext

from autograder.core.codec import Plain
from autograder.core.exercise import Case, Exercise
from autograder.core.global_state import kept_state
from autograder.core.limits import bounded_output
from autograder.core.outcome import Reference
from autograder.exercises import EXERCISES, of_chapter
from autograder.judge import references
from autograder.judge.answer_key import OfChoice, key_of, module_of
from autograder.judge.compare import difference
from autograder.judge.evidence import Evidence
from autograder.runner import run

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


def made_by(exercise: Exercise, solution: Any) -> dict[str, Reference]:
    """What a solution gives on each case of an exercise that does not ask for an exception."""
    found = {}
    for case in exercise.cases:
        outcome = run(exercise, solution, case)
        if case.expect.raises:
            continue
        if outcome.ended != "returned":
            raise RuntimeError(f"{exercise.name}, {case.name}: {outcome.ended}: {outcome.error}")
        found[case.name] = _reference_of(Evidence(exercise, case, outcome))
    return found


def _reference_of(evidence: Evidence) -> Reference:
    """What a solution gave; where the judge itself makes the result of it, what that gives."""
    outcome = evidence.outcome
    if outcome is evidence.claimed:
        return Reference.of_outcome(outcome)
    return Reference(None, evidence.done("results"), evidence.tensors_from("results"))


def write_all(check_only: bool = False, only: tuple[str, ...] = ()) -> list[str]:
    """Bring the reference files up to date.

    What an exercise's oracle knows is not stored. A stored reference that is the same within the
    tolerances of its dtype is kept, so that another processor does not change the files.

    Args:
        check_only: write nothing.
        only: the chapters to look at; all by default.

    Returns:
        The exercises whose file is (or would be) changed.
    """
    changed = []
    for chapter in only or dict.fromkeys(exercise.chapter for exercise in EXERCISES.values()):
        names = solutions_of(chapter)
        for exercise in of_chapter(chapter):
            rows = _rows(exercise, names[exercise.name])
            for hidden in (False, True):
                path = references.path_of(module_of(exercise), hidden=hidden)
                fresh = [
                    line if case.hidden is hidden else json.dumps({"case": case.name})
                    for case, line in rows
                    if case.hidden or not hidden
                ]
                if fresh != references.lines_of(path):
                    changed.append(path.parent.name)
                    if not check_only:
                        _write(path, fresh)
    references.forget()
    return changed


def _write(path: Path, lines: list[str]) -> None:
    if lines:
        text = "".join(f"{line}\n" for line in lines)
        path.write_text(text, encoding="utf-8", newline="\n")
    else:
        path.unlink(missing_ok=True)


def _rows(exercise: Exercise, solution: Any) -> list[tuple[Case, str]]:
    """What must be stored for an exercise: what its oracle does not know."""
    stored = references.stored(module_of(exercise))
    cases = {case.name: case for case in exercise.cases}
    rows: list[tuple[Case, str]] = []
    for name, made in made_by(exercise, solution).items():
        if knows(exercise, cases[name], made):
            continue
        old = stored.get(name)
        keep = old is not None and _same(Reference.from_json(old), made)
        row = {"case": name, **(old if old is not None and keep else made.to_json())}
        rows.append((cases[name], json.dumps(row, separators=(",", ":"))))
    return rows


def knows(exercise: Exercise, case: Case, made: Reference) -> bool:
    """Whether an exercise's oracle says of a case what its solution gives."""
    oracle = key_of(exercise).oracle
    if oracle is None or isinstance(oracle, OfChoice):
        return False
    try:
        with kept_state(), bounded_output(0):
            return _same(oracle(case.make(0)), made)
    except Exception:
        return False  # it is made for random models, and wants something that they have


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
