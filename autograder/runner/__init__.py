"""Runs an answer on a case. Only this package calls code that a learner wrote.

It records everything that an answer returns, raises, prints or changes as plain data in an
`Outcome`; it does not decide whether the answer is right.
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
from autograder.runner.kinds import KINDS
from autograder.runner.near_names import answer_being_tried

__all__ = ["Answer", "run", "run_cases", "run_trial"]

# Processor seconds for each further case, after an answer has used up its time on one.
CPU_AFTER_TIMEOUT = 2.0


def run(
    exercise: Exercise, answer: Answer, case: Case, seed: int = 0, limits: Limits | None = None
) -> Outcome:
    """Run an answer on one case that it may know by name, because it runs in its author's notebook.

    Args:
        exercise: says how to call its answers.
        answer: the learner's function or class.
        case: the case; fresh objects are made for it.
        seed: seeds the random numbers of the case.
        limits: time and output allowed.

    Returns:
        The record of the run, including any exception of the answer. Only `KeyboardInterrupt` is
        passed on.
    """
    return run_trial(exercise.kind, answer, case.make, case.name, seed, limits)


def run_trial(
    kind: str,
    answer: Answer,
    make: Callable[[int], Trial],
    label: str,
    seed: int = 0,
    limits: Limits | None = None,
) -> Outcome:
    """Run an answer on a case without telling it more than the case's objects.

    While the answer runs, no frame from here on contains more than these objects and the label.

    Args:
        kind: the answer kind, a key of `KINDS`.
        answer: the learner's function or class.
        make: builds the case's objects.
        label: the case's name in the outcome, such as ``case 17``.
        seed: seeds the random numbers of the case.
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
                KINDS[kind].run(answer, trial, outcome, encoder)
            if clock.is_over():  # the answer has swallowed `OutOfTime`
                outcome.ended = "out of time"
        except KeyboardInterrupt:
            raise
        except OutOfTime as error:
            outcome.error = interruption_record(error)
            outcome.ended = "out of time"
        except BaseException as error:  # a learner's code may raise any exception
            outcome.error = record_of(error)
            outcome.ended = "not attempted" if is_stub(error) else "raised"
            if clock is not None and clock.is_over():  # it has replaced `OutOfTime` by another one
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
    """Run an answer on several cases, skipping those that can no longer change its score.

    An untouched stub runs once. An answer that uses up its time on one case has lost the case's
    aspect, and if that is the first aspect, everything. Further cases get less time.

    Args:
        exercise: says how to call its answers.
        answer: the learner's function or class.
        cases: the cases.
        seed: seeds the random numbers of the cases.
        limits: time and output allowed for one case.
        stop_early: stop at the first case that uses up its time, because a learner is waiting.
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
