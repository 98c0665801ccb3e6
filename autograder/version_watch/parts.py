"""The parts of the watch: for each thing to try, a function that compares it with the course.

They run in the other environment. Each part imports what it needs, because a new PyTorch may break
the imports of one and not those of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Result:
    """The comparison of one thing.

    Attributes:
        name: its name.
        differs: the difference to what the course says; ``""`` if there is none.
        note: a remark on something that is as the course says.
    """

    name: str
    differs: str = ""
    note: str = ""


Tries = dict[str, Callable[[], Result]]
"""Functions that compare one thing each, by its name."""


def private() -> Tries:
    """PyTorch's private names: each one exists."""
    from autograder.version_watch.private_names import NAMES, problem_with

    return {name: partial(_private, name, problem_with) for name in NAMES}


def _private(name: str, problem_with: Callable[[str], str]) -> Result:
    return Result(name, problem_with(name))


def bugs() -> Tries:
    """PyTorch's bugs: each shows, or is fixed, as the page says."""
    from hunts.known import BUGS

    return {bug.name: partial(_bug, bug) for bug in BUGS}


def _bug(bug: Any) -> Result:
    outcomes = [each.outcome() for each in bug.every]
    shows = [right != got for right, got in outcomes]
    if not bug.is_in():
        differs = "It shows, and the page says that it does not." if any(shows) else ""
        return Result(bug.name, differs, "It does not show, as the page says.")
    if not all(shows):
        return Result(bug.name, f"It does not show in {shows.count(False)} of {len(shows)} models.")
    return Result(bug.name, " ".join(_about_a_bug(bug)))


def _about_a_bug(bug: Any) -> Iterator[str]:
    """The differences of a bug that shows: its line, its fix and its alternative."""
    try:
        _ = bug.place
    except LookupError as error:
        yield f"The line at fault has moved: {error}."
    if any(right != got for right, got in (each.outcome(fixed=True) for each in bug.every)):
        yield "The fix in `hunts/known` does not fix it."
    right, got = bug.cured.outcome() if bug.cure else ("", "")
    if right != got:
        yield "Its alternative is wrong, too."


def questions() -> Tries:
    """Questions: each symptom shows, and each cure helps."""
    from tests.questions import questions as every

    return {f"question {one.number}": partial(_question, one) for one in every()}


def _question(one: Any) -> Result:
    import pytest
    import torch

    torch.manual_seed(0)
    name = f"question {one.number}"
    try:
        one.show()
    except (Exception, pytest.fail.Exception) as error:
        said = f"{one.text} {_line(error)}"
    else:
        said = ""
    if one.is_asked:
        return Result(name, said)
    differs = "" if said else f"{one.text} It still holds, and is marked as fixed in {one.until}."
    return Result(name, differs, "Its symptom is gone, as the list says.")


def answers() -> Tries:
    """Answers in ``tests/exercises``: right ones pass, wrong ones fail as they are meant to."""
    from autograder.exercises import EXERCISES

    return {name: partial(_answers, name) for name in EXERCISES}


def _answers(name: str) -> Result:
    return Result(name, " ".join([*_refused(name), *_not_caught(name)]))


def _refused(name: str) -> Iterator[str]:
    from autograder.builder.outputs.references import solution_of, solutions_of
    from autograder.exercises import EXERCISES
    from tests.checks.test_answers import complaints, right_answers
    from tests.exercises import Answer

    exercise = EXERCISES[name]
    own = Answer(name, "the solution", solution_of(exercise, solutions_of(exercise.chapter)))
    for answer in [own, *right_answers(name)]:
        if said := complaints(answer):
            yield f"The right answer {answer.style!r} is refused: {_line(said[0])}"


def _not_caught(name: str) -> Iterator[str]:
    from tests.checks.examination import finding_meant_for
    from tests.checks.test_answers import complaints, wrong_answers

    for answer in wrong_answers(name):
        if not finding_meant_for(answer):
            said = complaints(answer)
            how = f"must fail with {answer.finding}: {_line(said[0])}" if said else "passes."
            yield f"The wrong answer {answer.style!r} {how}"


def chapters() -> Tries:
    """Chapters in solved form: each cell runs as it is meant to."""
    from autograder.builder.paths import chapters as every

    return {path.stem: partial(_chapter, path) for path in every()}


def _chapter(path: Path) -> Result:
    from autograder import builder
    from autograder.builder.outputs.execute import ExecutionFailed, execute
    from tests.support.forked_kernels import forked_kernels

    notebook = builder.source_notebook(path, solved=True, proofs=True)
    try:
        with forked_kernels():
            execute(notebook)
    except ExecutionFailed as error:
        texts = [cell.source for cell in notebook.cells[: error.index]]
        headings = [line for text in texts for line in text.split("\n") if line.startswith("#")]
        where = headings[-1].lstrip("# ") if headings else "its first cell"
        return Result(path.stem, f"In {where!r}: {_line(error)}")
    return Result(path.stem)


def _line(error: object) -> str:
    """The first line of a message, at most 200 characters of it."""
    text = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else str(error)
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= 200 else f"{line[:199]}…"


PARTS: Mapping[str, Callable[[], Tries]] = {
    "private": private,
    "bugs": bugs,
    "questions": questions,
    "answers": answers,
    "chapters": chapters,
}
"""The parts, the quickest first."""


def results(part: str) -> Iterator[Result | int]:
    """Yield the number of things in a part, then the result for each of them."""
    tries = PARTS[part]()
    yield len(tries)
    for name, compare in tries.items():
        try:
            yield compare()
        except Exception as error:
            yield Result(name, f"It cannot be tried: {_line(error)}")
