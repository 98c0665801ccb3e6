"""Generates the reference files from the solutions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from traceback import extract_tb
from typing import Any

from autograder.builder.outputs import exercise_folders
from autograder.builder.paths import EXERCISES, SOLUTIONS, choose
from autograder.builder.problems import BuildRefused, CourseRefused, Problem
from autograder.builder.source import read
from autograder.core.case_builder import CannotBeSent, builder_of
from autograder.core.codec import Encoded
from autograder.core.exercise import Case, Exercise
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import bounded_output
from autograder.core.outcome import Reference
from autograder.exercises import of_chapter
from autograder.judge import references
from autograder.judge.answer_key import RecipeOracle, key_of, module_of
from autograder.judge.compare import difference
from autograder.judge.error_text import error_text
from autograder.judge.evidence import Evidence
from autograder.runner import run


def solutions_of(chapter: str) -> dict[str, Any]:
    """The names that a chapter's solve cells define and its first code cell imports.

    Raises:
        BuildRefused: one of these cells raises.
    """
    found, _ = read(SOLUTIONS / f"{chapter}.py")
    cells = [cell for cell in found.cells if cell.kind == "code"]
    names: dict[str, Any] = {"__name__": "solutions"}
    for i, cell in enumerate(cells):
        if i == 0 or cell.tag == "solve":
            file = f"<solution {chapter} cell {i}>"
            try:
                with bounded_output(0):  # the first cell prints PyTorch's version
                    exec(compile(cell.source, file, "exec"), names)
            except Exception as error:
                message = f"This cell raises {type(error).__name__}: {error}."
                problem = Problem(cell.line + _line_in(file, error), message, _RUN_IT)
                raise BuildRefused(found.path, [problem]) from error
    return names


_RUN_IT = "Run the chapter up to this cell, and correct it."


def _line_in(file: str, error: Exception) -> int:
    """The line of a cell's text that raised an error."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno or 1
    lines = [f.lineno or 1 for f in extract_tb(error.__traceback__) if f.filename == file]
    return lines[0] if lines else 1


def solve_sources(chapter: str) -> dict[str, str]:
    """The source of each solve cell of a chapter, by the exercise's name."""
    found, _ = read(SOLUTIONS / f"{chapter}.py")
    return {cell.value: cell.source for cell in found.tagged("solve")}


def made_by(exercise: Exercise, solution: Any) -> dict[str, Reference]:
    """The references from a solution, for the cases of an exercise that expect no exception.

    Raises:
        BuildRefused: the solution does not return on one of these cases.
    """
    found = {}
    for case in exercise.cases:
        outcome = run(exercise, solution, case)
        if case.expect.raises:
            continue
        if outcome.ended != "returned":
            said = f" ({error_text(outcome.error)})" if outcome.error else ""
            message = (
                f"The solution of '{exercise.name}' does not return on the case '{case.name}': "
                f"{outcome.ended}{said}."
            )
            raise _refused(exercise, message, "Correct the solution, or the case.")
        found[case.name] = _reference_of(Evidence(exercise, case, outcome, key_of(exercise)))
    return found


def _refused(exercise: Exercise, message: str, advice: str) -> BuildRefused:
    """An error at the solve cell of an exercise, or at the top of its chapter."""
    chapter, _ = read(SOLUTIONS / f"{exercise.chapter}.py")
    lines = [cell.line for cell in chapter.tagged("solve") if cell.value == exercise.name]
    return BuildRefused(chapter.path, [Problem(lines[0] if lines else 1, message, advice)])


def solution_of(exercise: Exercise, names: dict[str, Any]) -> Any:
    """An exercise's solution, from the names that its chapter's cells define.

    Raises:
        BuildRefused: no solve cell defines it.
    """
    if exercise.name in names:
        return names[exercise.name]
    raise _refused(
        exercise,
        f"No solve cell defines '{exercise.name}'.",
        f'Write its solution, in a cell with the header # %% solve="{exercise.name}".',
    )


def _reference_of(evidence: Evidence) -> Reference:
    """The values from a solution's outcome, or those that the judge recomputed from it."""
    outcome = evidence.outcome
    if outcome is evidence.claimed:
        return Reference.of_outcome(outcome)
    return Reference(None, evidence.done("results"), evidence.tensors_from("results"))


def write_all(
    check_only: bool = False,
    only: Sequence[str] = (),
    over: Callable[[list[str]], Iterable[str]] = iter,
) -> list[str]:
    """Update the reference files.

    Values that an exercise's oracle computes are not stored. A stored reference is kept if it is
    equal within the tolerances of its dtype, so that another processor does not change the files.

    Args:
        check_only: write nothing.
        only: the chapters to update; by default all.
        over: iterates over the chapters, and may show progress.

    Returns:
        The exercises whose file is (or would be) changed.

    Raises:
        CourseRefused: some chapters have missing or wrong parts, so nothing was written.
        MissingReference: a stored reference cannot be read.
        ValueError: no chapter has one of the names.
    """
    chapters = [path.stem for path in choose(only)]
    if refusals := exercise_folders.examine(chapters if only else []):
        raise CourseRefused(refusals)
    fresh: dict[Path, list[str]] = {}
    for chapter in over(chapters):
        try:
            fresh |= _files_of(chapter)
        except BuildRefused as refusal:
            refusals.append(refusal)
    if refusals:
        raise CourseRefused(refusals)
    changed = [path for path, lines in fresh.items() if lines != references.lines_of(path)]
    if not check_only:
        for path in changed:
            _write(path, fresh[path])
    references.forget()
    return [path.parent.name for path in changed]


def _files_of(chapter: str) -> dict[Path, list[str]]:
    """The lines that each reference file of a chapter must contain."""
    names = solutions_of(chapter)
    found = {}
    for exercise in of_chapter(chapter):
        _can_be_sent(exercise)
        rows = _rows(exercise, solution_of(exercise, names))
        for hidden in (False, True):
            found[references.path_of(module_of(exercise), hidden=hidden)] = [
                line if case.hidden is hidden else json.dumps({"case": case.name})
                for case, line in rows
                if case.hidden or not hidden
            ]
    return found


def _can_be_sent(exercise: Exercise) -> None:
    """Check that the builders of cases can be sent to the process that runs answers.

    Raises:
        BuildRefused: the builder of some case cannot be sent.
    """
    drawn = exercise.random.cases(0) if exercise.random else ()
    for case in (*exercise.cases, *drawn):
        try:
            builder_of(case)
        except CannotBeSent as error:
            path = EXERCISES / f"ch{exercise.chapter}" / exercise.name / "cases.py"
            raise BuildRefused(path, [Problem(1, error.message, error.advice)]) from error


def _write(path: Path, lines: list[str]) -> None:
    if lines:
        text = "".join(f"{line}\n" for line in lines)
        path.write_text(text, encoding="utf-8", newline="\n")
    else:
        path.unlink(missing_ok=True)


def _rows(exercise: Exercise, solution: Any) -> list[tuple[Case, str]]:
    """The rows to store for an exercise: the values that its oracle does not know."""
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
    """Whether an exercise's oracle returns the solution's values for a case."""
    key = key_of(exercise)
    oracle = key.oracle
    if key.oracle_only:
        return True
    if oracle is None or isinstance(oracle, RecipeOracle):
        return False
    try:
        with preserve_global_state(), bounded_output(0):
            return _same(oracle(case.make(0)), made)
    except Exception:
        return False  # an oracle of random models may need attributes that only they have


def _same(a: Reference, b: Reference) -> bool:
    return _raised(a) == _raised(b) and not _differ(a, b)


def _raised(reference: Reference) -> list[tuple[str, str] | None]:
    """The exception of each run, without the traceback, which is the solution's own."""
    errors = [run.get("error") for run in reference.runs]
    return [(error["type"], error["message"]) if error else None for error in errors]


def _differ(a: Reference, b: Reference) -> bool:
    return difference(_values(a), a.tensors, _values(b), b.tensors) is not None


def _values(reference: Reference) -> Encoded:
    """All values of a reference as one, without exceptions."""
    rows = [
        {"dict": [[key, value] for key, value in sorted(run.items()) if key != "error"]}
        for run in reference.runs
    ]
    return {"list": [reference.value, *rows]}
