"""What an answer leaves after its calls: values that make a later call wrong, and figures."""

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
from autograder.runner.lasting_state import Kept, LastingState

_LOOK = {
    "class": "Where is it made: once for the class, or once for each object?",
    "default": "Python makes a default value once, when it reads the `def` line.",
    "outside": "Where is it made: once for the notebook, or once for each call?",
}
_OWNERS = (torch, torch.Tensor, nn, functional, fx, operator)
_TRIED_ALONE = ("traced function",)
"""Procedures whose answers are read as they are: nothing can be put in front of them."""


@contextmanager
def closing_figures() -> Iterator[None]:
    """Close the figures that an answer draws while it is checked: they would follow the card."""
    before = _figures()
    try:
        yield
    finally:
        for number in _figures() - before:
            sys.modules["matplotlib.pyplot"].close(number)


@contextmanager
def restoring_functions() -> Iterator[None]:
    """Restore functions of PyTorch that an answer replaces while it is checked.

    They would stay replaced in the notebook, and later answers would be wrong without a reason
    that the learner can see.
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
    """The verdict, with a finding about what the answer keeps between its calls.

    It comes first where it is the cause, which is tried: what the card would say first is not found
    if everything is as at first before each call.

    Args:
        verdict: on an answer that does not pass.
        exercise: what it answers.
        kept: what the answer could keep, as it was before the first call.
        cases: the hand-picked cases.
    """
    changed = kept.changed()
    shown = next((c for c in cases if verdict.example and c.name == verdict.example.case), None)
    if not changed or shown is None or exercise.procedure in _TRIED_ALONE:
        return verdict
    kept.restore()
    left = _codes_without(exercise, kept, shown)
    if verdict.findings[0].code not in left:
        found = _finding(changed[0], shown, cause=True, cured=not left)
        # What it caused on one case it causes on others: these kinds are said by it.
        codes = {each.code for each in verdict.findings if each.case == shown.name}
        rest = tuple(each for each in verdict.findings if each.code not in codes)
        return replace(verdict, status="failed", findings=(found, *rest), error="")
    lasting = [each for each in changed if each.kind != "outside"]
    more = tuple(_finding(each, shown, cause=False, cured=False) for each in lasting[:1])
    return replace(verdict, findings=(*verdict.findings, *more))


def _codes_without(exercise: Exercise, kept: LastingState, case: Case) -> set[str]:
    """What is wrong with the case if nothing lasts from one call to the next."""
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
    return Finding("leaks-state", message, _LOOK[kept.kind], case=case.name)
