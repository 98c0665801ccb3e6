"""Tests an instructor's exercise: its answers, and that students' processes never load its key."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from autograder.api import verdict_on
from autograder.boxed.remote_graphs import modules_of
from autograder.core import own_exercises
from autograder.core.case_builder import CannotBeSent
from autograder.core.exercise import Case, Exercise
from autograder.environment.child import python_command
from autograder.judge.answer_key import forget, key_of
from autograder.judge.references import MissingReference
from autograder.runner.kinds import KINDS


class DoesNotWork(Exception):
    """An exercise that cannot be used; the message says what to fix."""


@dataclass(frozen=True)
class TriedAnswer:
    """The verdict on one answer.

    Attributes:
        answer: the name of its function.
        right: whether the answer is right, according to ``answers.py``.
        as_meant: whether the check agrees.
        said: the finding of the check.
    """

    answer: str
    right: bool
    as_meant: bool
    said: str


def load(room: Path, name: str) -> Exercise:
    """An exercise of a classroom, after a check of its parts.

    Raises:
        DoesNotWork: a part is missing or wrong.
    """
    own_exercises.install(own_exercises.texts_in(room / own_exercises.FOLDER))
    forget()
    if name not in own_exercises.names():
        where, parts = room / own_exercises.FOLDER, ", ".join(own_exercises.PARTS)
        raise DoesNotWork(f"The exercise {name} in {where} is not complete. It needs {parts}.")
    try:
        exercise = own_exercises.exercise(name)
    except Exception as error:  # an unfinished file may raise anything
        raise DoesNotWork(f"cases.py or redraws.py cannot be imported: {_told(error)}") from None
    if exercise.kind not in KINDS:
        known = ", ".join(KINDS)
        raise DoesNotWork(f"EXERCISE.kind is {exercise.kind!r}, but the kinds are {known}.")
    keys = {aspect.key for aspect in exercise.aspects}
    for case in exercise.cases:
        if case.aspect not in keys:
            raise DoesNotWork(f"The case {case.name!r} has an unknown aspect: {case.aspect!r}.")
    _look_at_models(exercise)
    _ask_the_key(exercise)
    return exercise


def _ask_the_key(exercise: Exercise) -> None:
    """Check that the key knows the expected result of each case."""
    try:
        key = key_of(exercise)
    except Exception as error:
        raise DoesNotWork(f"KEY cannot be imported from key.py: {_told(error)}") from None
    for case in exercise.cases:
        try:
            key.reference(exercise, case)
        except MissingReference:
            raise DoesNotWork(
                f"KEY in key.py has no expected result for {case.name!r}. Give it an oracle."
            ) from None
        except Exception as error:
            raise DoesNotWork(f"The oracle fails on {case.name!r}: {_told(error)}") from None


def _look_at_models(exercise: Exercise) -> None:
    """Check the modules that a student's process would load."""
    drawn: tuple[Case, ...] = exercise.random.cases(0, 3) if exercise.random else ()
    try:
        modules = modules_of([*exercise.cases, *drawn])
    except CannotBeSent as error:
        raise DoesNotWork(str(error)) from None
    told = {"modules": sorted(modules), "own": own_exercises.texts_for_answers(sorted(modules))}
    done = subprocess.run(
        python_command("-c", _ALONE), input=json.dumps(told), text=True, capture_output=True
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it ended"])[-1]
        raise DoesNotWork(
            f"models.py cannot be imported alone, but a student's process imports only that: {last}"
        )
    if held := done.stdout.split():
        raise DoesNotWork(
            f"models.py imports {', '.join(held)}, which a student's process must not load. Build "
            "models only with torch, autograder.models and other files called models.py."
        )


_ALONE = """
import importlib, json, sys
from autograder.boxed.preload import not_allowed
from autograder.core import own_exercises
told = json.load(sys.stdin)
own_exercises.install(told["own"])
for name in told["modules"]:
    importlib.import_module(name)
print(*sorted(not_allowed(sys.modules)))
"""


def tried(room: Path, exercise: Exercise) -> Iterator[TriedAnswer]:
    """Check the right and the wrong answers of ``answers.py``.

    Raises:
        DoesNotWork: there are no answers.
    """
    answers = _answers(room / own_exercises.FOLDER / exercise.name / "answers.py")
    for answer in answers.RIGHT:
        verdict = verdict_on(exercise, answer, hidden=True)
        said = "" if verdict.status == "passed" else _first(verdict.findings)
        yield TriedAnswer(answer.__name__, True, verdict.status == "passed", said or verdict.status)
    for answer, wanted in answers.WRONG.items():
        verdict = verdict_on(exercise, answer, hidden=True)
        codes = [finding.code for finding in verdict.findings]
        failed = verdict.status in ("failed", "crashed")
        as_meant = failed and (not wanted or wanted in codes)
        said = ", ".join(dict.fromkeys(codes)) or verdict.status
        yield TriedAnswer(answer.__name__, False, as_meant, said)


def _first(findings: object) -> str:
    for finding in findings if isinstance(findings, tuple) else ():
        return f"{finding.code}: {finding.message}"
    return ""


def _answers(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("answers_to_try", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise DoesNotWork(f"There is no {path}. Write it, with right answers and wrong ones.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise DoesNotWork(f"answers.py cannot be imported: {_told(error)}") from None
    if not getattr(module, "RIGHT", None) or not getattr(module, "WRONG", None):
        raise DoesNotWork("answers.py needs a list RIGHT and a dict WRONG, both with answers.")
    return module


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
