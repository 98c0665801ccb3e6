"""Finds and cleans up state that an answer leaves between calls: values, functions and figures."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import fx, nn
from torch.nn import functional

from autograder.core.exercise import Case, Exercise
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import bounded_output
from autograder.core.verdict import Finding, Verdict
from autograder.grading import TryHere
from autograder.judge import findings_of
from autograder.runner.kinds import KINDS
from autograder.runner.lasting_state import Kept, LastingState

_ADVICE = {
    "class": "Where is it made: once for the class, or once for each object?",
    "default": "Python makes a default value once, when it reads the `def` line.",
    "outside": "Where is it made: once for the notebook, or once for each call?",
}
_OWNERS = (torch, torch.Tensor, nn, functional, fx, operator)


@contextmanager
def closing_figures() -> Iterator[None]:
    """Close the figures that an answer draws during its check: they would appear after the card."""
    before = _figures()
    try:
        yield
    finally:
        for number in _figures() - before:
            sys.modules["matplotlib.pyplot"].close(number)


@contextmanager
def restoring_functions() -> Iterator[None]:
    """Restore functions of PyTorch that an answer replaces during its check.

    Otherwise later answers in the notebook would be wrong without a reason that the learner can
    see.
    """
    before = [(owner, dict(vars(owner))) for owner in _OWNERS]
    try:
        yield
    finally:
        for owner, names in before:
            for name, value in names.items():
                if callable(value) and vars(owner).get(name) is not value:
                    setattr(owner, name, value)


def _figures() -> set[int]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set(pyplot.get_fignums()) if pyplot else set()


def add_state_leak_finding(
    verdict: Verdict, exercise: Exercise, kept: LastingState, cases: tuple[Case, ...]
) -> Verdict:
    """Add a finding about values that the answer keeps between its calls.

    It comes first if it is the cause, which this tests: with the initial state restored before each
    call, the first finding disappears.

    Args:
        verdict: on an answer that does not pass.
        exercise: its exercise.
        kept: the state before the first call.
        cases: the hand-picked cases.
    """
    changed = kept.changed()
    shown = next((c for c in cases if verdict.example and c.name == verdict.example.case), None)
    if not changed or shown is None or not KINDS[exercise.kind].is_wrapped:
        return verdict
    kept.restore()
    left = _codes_without(exercise, kept, shown)
    if verdict.findings[0].code not in left:
        found = _finding(changed[0], shown, cause=True, cured=not left)
        # It explains the findings on this case, and those of the same kinds on other cases.
        codes = {each.code for each in verdict.findings if each.case == shown.name}
        rest = tuple(each for each in verdict.findings if each.code not in codes)
        return replace(verdict, status="failed", findings=(found, *rest), error="")
    lasting = [each for each in changed if each.kind != "outside"]
    more = tuple(_finding(each, shown, cause=False, cured=False) for each in lasting[:1])
    return replace(verdict, findings=(*verdict.findings, *more))


def _codes_without(exercise: Exercise, kept: LastingState, case: Case) -> set[str]:
    """The codes of the findings on a case if no state lasts from one call to the next."""
    tried = TryHere(exercise, kept.forgetful(), impatient=True)((case,))
    with preserve_global_state(), bounded_output(0):
        found = [each for o in tried.outcomes for each in findings_of(exercise, case, o)]
    return {finding.code for finding in found}


def _finding(kept: Kept, case: Case, *, cause: bool, cured: bool) -> Finding:
    message = f"`{kept.name}` keeps what an earlier call put into it: it is {kept.words}."
    if cured:
        message += " If it is as at first before each call, this case is right."
    elif cause:
        message += " What else is wrong shows when that is fixed."
    return Finding("leaks-state", message, _ADVICE[kept.kind], case=case.name)
