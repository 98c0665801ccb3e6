"""Precomputes data on cases in the server of judges, so that every judge forked from it has them.

If this is not done before, a judge does it while an answer runs on a case. With 60 submissions of
chapter 03, a class takes 1.56 times as long without it (2026-11-30).
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator

import nbformat

from autograder.boxed.known_outcomes import learn, right_answers
from autograder.core.case_builder import builder_of
from autograder.core.exercise import Case, Exercise
from autograder.core.limits import Limits, OutOfTime, bounded_output, time_limit
from autograder.core.outcome import Outcome
from autograder.drawing.style import measure_letters
from autograder.fuzz.random_models import can_be_made
from autograder.judge import size_of, source_of
from autograder.judge.answer_key import key_of, module_of
from autograder.judge.evidence import Evidence
from autograder.judge.redaction import own_words
from autograder.submission.sanitize import clean_notebook

LOOKING = Limits(cpu=20.0, wall=120.0)
"""Time limit of the work on one case; the judge does the rest when it needs it."""

GLANCE = Limits(cpu=1.0, wall=10.0)
"""The same while an answer is judged, because this time is charged to the answer. The work on all
random models of an answer takes up a third of its time at most."""

_PRECOMPUTED = "looked at"

Pools = list[tuple[Exercise, Iterator[Case]]]
"""Exercises, each with the cases of its pool that are still to do."""


def pools_of(exercises: list[Exercise], pool: int) -> Pools:
    """Draw the pools of a chapter's exercises, before any judge is forked."""
    return [(one, one.random.pool(pool)) for one in exercises if one.random and pool]


def read_ahead(given: bytes) -> Iterator[None]:
    """Clean the text that was given out, so that judges clean only the text that has changed.

    Also measure the letters of cards.
    """
    measure_letters()
    with contextlib.suppress(Exception):  # an instructor may have changed the notebook
        clean_notebook(nbformat.reads(given.decode("utf-8", "replace"), as_version=4))
    yield


def work_ahead(exercises: list[Exercise], pools: Pools) -> Iterator[None]:
    """Compute the data that judges need for each case, a piece at a time; hand-picked cases first.

    The course's own answers are only tried on hand-picked cases. A model of a pool of 128 is used
    for one submission in seven, which does not pay for its trial.
    """
    for exercise in exercises:
        own_words(module_of(exercise))
        for case in exercise.cases:
            _work_out(exercise, case)
            _read_shown_source(case)
            yield
    for exercise in exercises:
        answers = tuple(right_answers(exercise))
        for case in exercise.cases if answers else ():
            for answer in answers:
                learn(exercise, case, answer)
            _work_out(exercise, case)  # again, because `learn` uses up the prepared trial
            yield
    waiting = deque(pools)  # in turn, so that each exercise has some soon
    while waiting:
        exercise, cases = waiting.popleft()
        if (pooled := next(cases, None)) is not None:
            _work_out(exercise, pooled)
            waiting.append((exercise, cases))
            yield


def look_at(exercise: Exercise, case: Case, limits: Limits = LOOKING) -> None:
    """Compute the data of a case that judging its first answer needs, unless that is done."""
    if not case.cache.get(_PRECOMPUTED):
        _work_out(exercise, case, limits)


def _work_out(exercise: Exercise, case: Case, limits: Limits = LOOKING) -> None:
    case.cache[_PRECOMPUTED] = True
    builder_of(case)
    evidence = Evidence(exercise, case, Outcome(case.name), key_of(exercise))
    if case.recipe is not None and not can_be_made(case):
        return
    looks = (
        lambda: evidence.reference,
        lambda: evidence.traced_graph,
        lambda: evidence.traced_signature,
        lambda: size_of(case),
        evidence.make_ahead,
    )
    with contextlib.suppress(OutOfTime), time_limit(limits), bounded_output(0):
        for look in looks:
            with contextlib.suppress(Exception):  # it has no model, or one that cannot be traced
                look()


def _read_shown_source(case: Case) -> None:
    """Read the source of a hand-picked case's classes, which its card may show."""
    if not case.hidden:
        with contextlib.suppress(Exception), bounded_output(0):
            source_of(case.make(0), case.expect.built_by)
