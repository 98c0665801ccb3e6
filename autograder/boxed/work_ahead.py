"""What is worked out about cases before an answer needs it, for all judges that are forked later.

A judge does the same for a case while an answer is tried on it, where nobody has done it before.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator
from itertools import islice

import nbformat

from autograder.boxed.known_outcomes import learn, right_answers
from autograder.core.case_builder import builder_of
from autograder.core.exercise import Case, Exercise
from autograder.core.limits import Limits, OutOfTime, bounded_output, time_limit
from autograder.core.outcome import Outcome
from autograder.drawing.style import measure_letters
from autograder.fuzz.random_models import COUNT, POOL, can_be_made
from autograder.judge import size_of, source_of
from autograder.judge.answer_key import key_of, module_of
from autograder.judge.evidence import Evidence
from autograder.judge.redaction import own_words
from autograder.runner.call import Answer
from autograder.submission.sanitize import clean_notebook

WORTHWHILE = 2
"""How many answers must ask for what is worked out ahead."""

LEARNERS = 12
"""How often a case must be used until trying one of the course's own answers on it takes less time
than it saves."""

LOOKING = Limits(cpu=20.0, wall=120.0)
"""The time that a look at one case may take. What takes longer is left to whoever judges it."""

GLANCE = Limits(cpu=1.0, wall=10.0)
"""The same while an answer is judged, of whose time it is: looks at all random models that an
answer is tried on take up a third of that at most."""

_LOOKED_AT = "looked at"

Pools = list[tuple[Exercise, Iterator[Case]]]
"""Exercises, and for each the cases of its pool that nobody has worked on."""


def pools_of(exercises: list[Exercise], pool: int) -> Pools:
    """The pools of a chapter's exercises; they are drawn here, before any judge is forked."""
    return [(one, one.random.pool(pool)) for one in exercises if one.random and pool]


def read_ahead(given: bytes, works: int) -> Iterator[None]:
    """Clean the text that was given out: what stays as it is there is not cleaned again.

    And measure the letters of which cards are made.
    """
    if works >= WORTHWHILE:
        measure_letters()
        with contextlib.suppress(Exception):  # what an instructor has made of the notebook
            clean_notebook(nbformat.reads(given.decode("utf-8", "replace"), as_version=4))
        yield


def work_ahead(exercises: list[Exercise], pools: Pools, works: int) -> Iterator[None]:
    """Work out what enough of the works will ask for that it is less than each does by itself."""
    for exercise in exercises if works >= WORTHWHILE else ():
        own_words(module_of(exercise))
        for case in exercise.cases:
            _work_out(exercise, case)
            _read_what_is_shown(case)
            yield
    for exercise in exercises:
        if answers := own_answers(exercise, works):
            for case in exercise.cases:
                _study(exercise, case, answers)
                yield
    uses = works * COUNT // POOL
    # In turn: whoever comes meanwhile finds some of each.
    waiting = deque((one, cases, own_answers(one, uses)) for one, cases in pools)
    while waiting and uses >= WORTHWHILE:
        exercise, cases, answers = waiting.popleft()
        if (pooled := next(cases, None)) is not None:
            _study(exercise, pooled, answers)
            waiting.append((exercise, cases, answers))
            yield


def own_answers(exercise: Exercise, uses: int) -> tuple[Answer, ...]:
    """As many of the course's own answers as are worth trying on cases that are used so often."""
    return tuple(islice(right_answers(exercise), uses // LEARNERS))


def _study(exercise: Exercise, case: Case, answers: tuple[Answer, ...]) -> None:
    """Learn what the course's own answers do on a case, and have it know what it can."""
    for answer in answers:
        learn(exercise, case, answer)
    _work_out(exercise, case)  # learning uses up what was made ahead


def look_at(exercise: Exercise, case: Case, limits: Limits = LOOKING) -> None:
    """Have a case know what is worked out about it when the first answer is judged; done once."""
    if not case.cache.get(_LOOKED_AT):
        _work_out(exercise, case, limits)


def _work_out(exercise: Exercise, case: Case, limits: Limits = LOOKING) -> None:
    case.cache[_LOOKED_AT] = True
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
            with contextlib.suppress(Exception):  # it has no model, or one that is not traced
                look()


def _read_what_is_shown(case: Case) -> None:
    """Have the text of a hand-picked case's classes read, which its card would show."""
    if not case.hidden:
        with contextlib.suppress(Exception), bounded_output(0):
            source_of(case.make(0), case.expect.built_by)
