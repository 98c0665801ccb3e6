"""Computes the verdict on an answer: hand-picked cases first, then random models.

A learner's notebook, a class and a replay all use this module. They differ only in the `Attempt`
that tries the answer: in this process, or in a sandbox.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from torch import fx

from autograder.core.exercise import RANDOM, Case, Exercise
from autograder.core.global_state import preserve_global_state
from autograder.core.graph_jobs import GraphRunner, do_here
from autograder.core.limits import Limits, OutOfTime, bounded_output, time_limit
from autograder.core.outcome import Outcome
from autograder.core.process_exit import ExitReason
from autograder.core.verdict import Finding, Share, Status, Verdict
from autograder.judge import findings_of, judge, score_of
from autograder.judge.answer_text import Source
from autograder.judge.references import MissingReference
from autograder.runner import run_cases

SHORT = Limits(cpu=1.0, wall=10.0)
"""For one case while a learner waits for the card."""

SLOWER = 50
"""Time limit of an answer, as a multiple of making, tracing and running the case's model once."""

JUDGING = Limits(cpu=60.0, wall=600.0)
"""For judging the outcomes of one answer."""

State = Literal["tried", "undefined", "not callable", "lost", "untried"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tried:
    """The outcomes of trying an answer on some cases. From a sandbox, it is a claim.

    Attributes:
        state: whether the answer was tried, and if not, why; ``"lost"`` if the process that
            tried it has ended.
        kind: type name of the object if it is not callable.
        case: the last case that was begun.
        how: how the process ended.
        outcomes: one for each case that was tried.
        found: findings about outcomes that were judged earlier, by case; empty for a case that
            passed.
        sealed: cases tried after a hidden one: the process could already know that case,
            so none of its own words about them are shown.
    """

    state: State = "untried"
    kind: str = ""
    case: str = ""
    how: ExitReason = ExitReason.EXITED
    outcomes: list[Outcome] = field(default_factory=list)
    found: Mapping[str, list[Finding]] = field(default_factory=dict)
    sealed: frozenset[str] = frozenset()


class Attempt(Protocol):
    """Tries an answer on some cases."""

    def __call__(self, cases: Sequence[Case], /) -> Tried: ...


@dataclass(frozen=True)
class TryHere:
    """Tries an answer in this process, as in a learner's notebook.

    Attributes:
        exercise: the exercise.
        answer: the learner's function or class.
        impatient: stop at the first case that exceeds its time: a learner waits for the card.
    """

    exercise: Exercise
    answer: Any
    impatient: bool = False

    def __call__(self, cases: Sequence[Case], /) -> Tried:
        """Try the answer on some cases."""
        if not callable(self.answer):
            return Tried("not callable", kind=type(self.answer).__name__)
        if self.impatient:
            return Tried("tried", outcomes=self._impatiently(tuple(cases)))
        return Tried("tried", outcomes=run_cases(self.exercise, self.answer, tuple(cases)))

    def _impatiently(self, cases: tuple[Case, ...]) -> list[Outcome]:
        """The outcomes up to the first case that exceeds its time limit.

        A case that takes long itself gets a longer limit, by `SLOWER`; the second try can also use
        the modules that the first one has imported.
        """
        limits = SHORT
        done: list[Outcome] = []
        while True:
            left = cases[len(done) :]
            tried = run_cases(self.exercise, self.answer, left, limits=limits, stop_early=True)
            done += tried
            if not tried or tried[-1].ended != "out of time":
                return done
            allowed = min(Limits.cpu, SLOWER * work_of(cases[len(done) - 1]))
            if allowed <= limits.cpu:
                return done
            done.pop()
            limits = Limits(cpu=allowed)


@dataclass(frozen=True)
class Grading:
    """The settings for judging an answer.

    Attributes:
        exercise: the exercise.
        attempt: tries the answer.
        seed: selects the random models; 0 in a notebook, the student's own in a classroom.
        count: number of random models tried; all of the exercise's by default.
        shrink: try random models one by one, stop at one that fails, and make it smaller.
        runner: does the jobs that need the described graphs.
        source: the answer's text, if it is known.
        drawn: the random models that were tried; filled while a verdict is computed.
    """

    exercise: Exercise
    attempt: Attempt
    seed: int = 0
    count: int | None = None
    shrink: bool = False
    runner: GraphRunner = do_here
    source: Source | None = None
    drawn: list[Case] = field(default_factory=list)

    def verdict(self, cases: tuple[Case, ...] | None = None) -> Verdict:
        """Compute the verdict on the answer.

        Args:
            cases: the hand-picked cases; all of the exercise's by default.

        Raises:
            MissingReference: if the course's own reference files are out of date.
        """
        cases = self.exercise.cases if cases is None else cases
        tried = self.attempt(cases)
        if tried.state != "tried":
            return not_tried(self.exercise, tried)
        outcomes = tried.outcomes

        def hand_picked() -> Verdict:
            return judge(
                self.exercise, outcomes, cases,
                known=tried.found, runner=self.runner, source=self.source, sealed=tried.sealed,
            )  # fmt: skip

        verdict = _judged(self.exercise, hand_picked)
        if self.exercise.random is None:
            return verdict
        if not verdict.passed:
            return without_random_models(verdict) if verdict.shares else verdict
        return self.on_random_models(verdict, outcomes, cases)

    def on_random_models(
        self, verdict: Verdict, outcomes: list[Outcome], cases: tuple[Case, ...]
    ) -> Verdict:
        """Compute the verdict including the share of random models.

        Args:
            verdict: the verdict on the hand-picked cases, which have passed.
            outcomes: those of the hand-picked cases.
            cases: the hand-picked cases.
        """
        random = self.exercise.random
        if random is None:
            return verdict
        drawn = random.cases(self.seed, self.count)
        if self.shrink:
            tried, drawn = self._until_one_fails(drawn)
        else:
            tried = self.attempt(drawn)
        self.drawn.extend(drawn)
        if tried.state != "tried":
            without = without_random_models(verdict)
            lost = not_tried(self.exercise, tried)
            return replace(
                lost, score=without.score, shares=without.shares, cases=without.cases,
                unread=verdict.unread,
            )  # fmt: skip
        known = {case.name: list[Finding]() for case in cases} | dict(tried.found)

        def with_drawn() -> Verdict:
            every = [*outcomes, *tried.outcomes]
            found = judge(
                self.exercise, every, (*cases, *drawn),
                known=known, runner=self.runner, sealed=tried.sealed,
            )  # fmt: skip
            return replace(found, unread=verdict.unread)

        return _judged(self.exercise, with_drawn)

    def _until_one_fails(self, drawn: tuple[Case, ...]) -> tuple[Tried, tuple[Case, ...]]:
        """Try the cases up to the first that fails, and replace that one by the smallest found."""
        outcomes: list[Outcome] = []
        for i, case in enumerate(drawn):
            tried = self.attempt((case,))
            if not self._fails(case, tried):
                outcomes += tried.outcomes
                continue
            worst, shown = self._smallest(case, tried)
            return Tried("tried", outcomes=[*outcomes, *shown.outcomes]), (*drawn[:i], worst)
        return Tried("tried", outcomes=outcomes), drawn

    def _smallest(self, case: Case, tried: Tried) -> tuple[Case, Tried]:
        """Shrink a failing case, and return the smallest one with its outcome."""
        random = self.exercise.random
        if random is None:
            return case, tried
        worst = random.smallest(case, lambda case: self._fails(case, self.attempt((case,))))
        shown = self.attempt((worst,))
        # An answer that fails only sometimes may not fail now.
        return (worst, shown) if self._fails(worst, shown) else (case, tried)

    def _fails(self, case: Case, tried: Tried) -> bool:
        return any(fails(self.exercise, case, outcome) for outcome in tried.outcomes)


def work_of(case: Case) -> float:
    """Seconds of processor time for making, tracing and running a case's model once."""
    start = time.process_time()
    with preserve_global_state(), bounded_output(0), suppress(Exception):
        trial = case.make(0)
        if trial.model is not None:
            traced = fx.symbolic_trace(trial.model)
            for inputs in trial.inputs[:1]:
                traced(*inputs)
    return time.process_time() - start


def fails(exercise: Exercise, case: Case, outcome: Outcome) -> bool:
    """Whether an answer fails a case."""
    with preserve_global_state(), bounded_output(0):
        return bool(findings_of(exercise, case, outcome))


def without_random_models(verdict: Verdict) -> Verdict:
    """Add the share of random models, which were not tried, to a verdict."""
    shares = (*verdict.shares, Share(RANDOM.says, RANDOM.weight, held=False, tried=False))
    return replace(verdict, shares=shares, score=score_of(shares))


# ------------------------------------------------------------------ answers that were not tried


def not_tried(exercise: Exercise, tried: Tried) -> Verdict:
    """The verdict on an answer that was not tried, or whose process was lost."""
    match tried.state:
        case "undefined":
            return _undefined(exercise)
        case "not callable":
            return _not_callable(exercise, tried.kind)
        case "lost":
            return _lost(exercise, tried)
    message = f"`{exercise.name}` could not be tried: Python had ended, or was broken by a cell."
    advice = "Restart the kernel, run the notebook from top to bottom, and see where it ends."
    return _verdict(exercise, "failed", "untried", message, advice)


def is_missing(verdict: Verdict) -> bool:
    """Whether the answer was not there yet, so that a later cell may define it."""
    return verdict.status == "not attempted" or not verdict.defined


def _undefined(exercise: Exercise) -> Verdict:
    message = f"The notebook does not define `{exercise.name}`."
    advice = (
        "Restart the kernel and run the notebook from top to bottom: the cell that defines it "
        "may be missing, or may raise an error."
    )
    return replace(_verdict(exercise, "failed", "undefined", message, advice), defined=False)


def _not_callable(exercise: Exercise, kind: str) -> Verdict:
    kind = kind if kind.isidentifier() else "object"
    message = f"`{exercise.name}` is not a function or class but a `{kind[:80]}`."
    advice = "Look for a line that gives this name to something else."
    return _verdict(exercise, "failed", "wrong-kind", message, advice)


def _lost(exercise: Exercise, tried: Tried) -> Verdict:
    """The verdict if the process of an answer ended during a case."""
    names = {known.name for known in exercise.cases}
    where = f" on the case “{tried.case}”" if tried.case in names else ""
    if tried.how is ExitReason.OUT_OF_TIME:
        message = f"`{exercise.name}` did not come to an end{where}, and could not be stopped."
        advice = "Look for a loop that never ends, with a `try` in it that catches everything."
        return _verdict(exercise, "crashed", "out-of-time", message, advice)
    if tried.how is ExitReason.OUT_OF_MEMORY:
        message = f"`{exercise.name}` used up all memory that a notebook may use{where}."
        advice = "Look for a list or a tensor that grows with every step."
        return _verdict(exercise, "crashed", "out-of-memory", message, advice)
    message = f"`{exercise.name}` ended Python itself while it was tried{where}."
    advice = "Look for calls that end the process, such as `os._exit`, and for endless recursion."
    return _verdict(exercise, "crashed", "ended-python", message, advice)


def _verdict(exercise: Exercise, status: Status, code: str, message: str, advice: str) -> Verdict:
    return Verdict(exercise.name, status, 0.0, (Finding(code, message, advice),))


def _judged(exercise: Exercise, compute: Callable[[], Verdict]) -> Verdict:
    """Compute a verdict; errors in an outcome give a verdict too, and not an exception."""
    try:
        with time_limit(JUDGING):
            verdict = compute()
    except MissingReference:
        raise
    except OutOfTime:
        message = f"What `{exercise.name}` did could not be judged in reasonable time."
        return _verdict(exercise, "failed", "unreadable", message, "Ask the person who grades.")
    except Exception:  # any fault in the data that a student's process has sent
        _log.exception("The answer to %s could not be judged", exercise.name)
        message = f"What `{exercise.name}` did could not be judged."
        return _verdict(exercise, "failed", "unreadable", message, "Ask the person who grades.")
    if verdict.passed or verdict.findings:
        return verdict
    message = f"What `{exercise.name}` did on some cases was not recorded."
    return replace(verdict, findings=(Finding("unrecorded", message),))
