"""Tries an answer on a case. The only code that touches what a learner wrote.

Everything an answer returns, raises, prints or changes becomes plain data in an
`Outcome`; no decision about right or wrong is taken here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from autograder.core.codec import Encoder
from autograder.core.exercise import Case, Exercise, Trial
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import Clock, Limits, OutOfTime, bounded_output, time_limit
from autograder.core.outcome import Outcome
from autograder.runner.call import Answer
from autograder.runner.exceptions import is_stub, record_of
from autograder.runner.interruption import interruption_record
from autograder.runner.near_names import answer_being_tried
from autograder.runner.procedures import PROCEDURES

__all__ = ["Answer", "run", "run_cases", "run_trial"]

# Processor seconds for each further case once an answer has used up its time on one.
CPU_AFTER_TIMEOUT = 2.0


def run(
    exercise: Exercise, answer: Answer, case: Case, seed: int = 0, limits: Limits | None = None
) -> Outcome:
    """Try an answer on one case, where it may know which: in its author's own notebook.

    Args:
        exercise: says how its answers are to be exercised.
        answer: what the learner wrote.
        case: the situation; fresh objects are made for it.
        seed: picks the random numbers of the case.
        limits: time and output allowed.

    Returns:
        The record of what happened. Whatever the answer raises is in it; only a
        `KeyboardInterrupt` passes through.
    """
    return run_trial(exercise.procedure, answer, case.make, case.name, seed, limits)


def run_trial(
    procedure: str,
    answer: Answer,
    make: Callable[[int], Trial],
    label: str,
    seed: int = 0,
    limits: Limits | None = None,
) -> Outcome:
    """Try an answer on a case of which nothing is told but its objects.

    While the answer runs, no frame from here on holds more than them and the label.

    Args:
        procedure: a key of `PROCEDURES`.
        answer: what the learner wrote.
        make: builds the case's objects.
        label: under which the outcome speaks of the case, such as ``case 17``.
        seed: picks the random numbers of the case.
        limits: time and output allowed.

    Returns:
        As `run`.
    """
    limits = limits or Limits()
    outcome = Outcome(label)
    answer_being_tried.set(answer)
    with ExitStack() as stack:
        stack.enter_context(preserve_global_state())
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        trial = make(seed)
        del make, seed
        encoder = Encoder(trial.functions)
        printed = stack.enter_context(bounded_output(limits.printed))
        clock: Clock | None = None
        try:
            with time_limit(limits) as clock:
                PROCEDURES[procedure](answer, trial, outcome, encoder)
            if clock.is_over():  # the answer has caught what was to end it
                outcome.ended = "out of time"
        except KeyboardInterrupt:
            raise
        except OutOfTime as error:
            outcome.error = interruption_record(error)
            outcome.ended = "out of time"
        except BaseException as error:  # a learner's code may raise anything at all
            outcome.error = record_of(error)
            outcome.ended = "not attempted" if is_stub(error) else "raised"
            if clock is not None and clock.is_over():  # it has raised something else in its place
                outcome.error, outcome.ended = interruption_record(error), "out of time"
    outcome.printed = printed.getvalue()
    outcome.tensors = encoder.tensors
    return outcome


def run_cases(
    exercise: Exercise,
    answer: Answer,
    cases: tuple[Case, ...],
    seed: int = 0,
    limits: Limits | None = None,
    *,
    stop_early: bool = False,
) -> list[Outcome]:
    """Try an answer on several cases, on each that may still change its score.

    An untouched stub is tried once. An answer that uses up its time on one case has lost the
    case's aspect, and with the first aspect everything; further cases get less time.

    Args:
        exercise: says how its answers are to be exercised.
        answer: what the learner wrote.
        cases: the situations.
        seed: picks the random numbers of the cases.
        limits: time and output allowed for one case.
        stop_early: end at the first case that uses up its time: a learner waits for the card.
    """
    limits = limits or Limits()
    outcomes: list[Outcome] = []
    lost: set[str] = set()
    for case in cases:
        if case.aspect in lost:
            continue
        outcomes.append(run(exercise, answer, case, seed, limits))
        ended = outcomes[-1].ended
        if ended == "out of time":
            lost.add(case.aspect)
            limits = replace(
                limits, cpu=min(limits.cpu, CPU_AFTER_TIMEOUT), wall=min(limits.wall, 5.0)
            )
        hopeless = stop_early or exercise.aspects[0].key in lost
        if ended == "not attempted" or (ended == "out of time" and hopeless):
            break
    return outcomes
