"""From an answer to a verdict: hand-picked cases first, then models drawn at random.

This is the one way, for a learner's notebook, for a class and for a replay. They differ in how an
answer is tried, which whoever asks says: in this process, or in a box.
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
"""For one case where a learner waits for the card."""

SLOWER = 50
"""An answer may take so many times the work of the case itself."""

JUDGING = Limits(cpu=60.0, wall=600.0)
"""For looking at what one answer did."""

State = Literal["tried", "undefined", "not callable", "lost", "untried"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tried:
    """What came of trying an answer on some cases. Where that was in a box, it is a claim.

    Attributes:
        state: whether the answer was tried, and if not, why; ``"lost"`` where the process is gone
            in which it was tried.
        kind: of what it is that cannot be called.
        case: the last case that was begun.
        how: how the process ended.
        outcomes: one for each case that was tried.
        found: what is wrong with outcomes that have been looked at before, by the case; nothing
            where one holds.
        sealed: cases that were tried after a hidden one: by then the process could know that, and
            nothing in its own words is shown of them.
    """

    state: State = "untried"
    kind: str = ""
    case: str = ""
    how: ExitReason = ExitReason.EXITED
    outcomes: list[Outcome] = field(default_factory=list)
    found: Mapping[str, list[Finding]] = field(default_factory=dict)
    sealed: frozenset[str] = frozenset()


class Attempt(Protocol):
    """Has an answer tried on some cases."""

    def __call__(self, cases: Sequence[Case], /) -> Tried: ...


@dataclass(frozen=True)
class TryHere:
    """Has an answer tried in this process, as in a learner's notebook.

    Attributes:
        exercise: the exercise.
        answer: what the learner wrote.
        impatient: end at the first case that uses up its time: a learner waits for the card.
    """

    exercise: Exercise
    answer: Any
    impatient: bool = False

    def __call__(self, cases: Sequence[Case], /) -> Tried:
        """Try it on some cases."""
        if not callable(self.answer):
            return Tried("not callable", kind=type(self.answer).__name__)
        if self.impatient:
            return Tried("tried", outcomes=self._impatiently(tuple(cases)))
        return Tried("tried", outcomes=run_cases(self.exercise, self.answer, tuple(cases)))

    def _impatiently(self, cases: tuple[Case, ...]) -> list[Outcome]:
        """The outcomes up to the first case that does not come to an end in its time.

        A case whose own work takes long gets as many times that as an answer may take; the second
        try also has what the first has imported.
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
    """How an answer is looked at.

    Attributes:
        exercise: the exercise.
        attempt: has the answer tried.
        seed: picks the random models; 0 in a notebook, the student's own in a classroom.
        count: how many random models are tried; all of the exercise's by default.
        shrink: try random models one by one, stop at one that fails, and make it smaller.
        runner: does what is to be done with the graphs that outcomes describe.
        source: where the answer's text stands, where that is known.
        drawn: the random models that were tried; it grows while a verdict is worked out.
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
        """The verdict on the answer.

        Args:
            cases: the hand-picked cases; all of the exercise's by default.

        Raises:
            MissingReference: the course's own reference files are out of date.
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
        """The verdict with the share of random models in it.

        Args:
            verdict: the verdict on the hand-picked cases, which hold.
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
        """What came of the cases up to the first that fails, and that one as small as it gets."""
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
        """The smallest case that fails as this one does, and what came of it."""
        random = self.exercise.random
        if random is None:
            return case, tried
        worst = random.smallest(case, lambda case: self._fails(case, self.attempt((case,))))
        shown = self.attempt((worst,))
        # An answer that fails now and then may not fail now.
        return (worst, shown) if self._fails(worst, shown) else (case, tried)

    def _fails(self, case: Case, tried: Tried) -> bool:
        return any(fails(self.exercise, case, outcome) for outcome in tried.outcomes)


def work_of(case: Case) -> float:
    """Seconds of processor time that it takes to make, trace and run a case's model once."""
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
    """The verdict on an answer that has not come as far as random models."""
    shares = (*verdict.shares, Share(RANDOM.says, RANDOM.weight, held=False, tried=False))
    return replace(verdict, shares=shares, score=score_of(shares))


# ------------------------------------------------------------------ answers that were not tried


def not_tried(exercise: Exercise, tried: Tried) -> Verdict:
    """The verdict on an answer that was not tried, or did not come back."""
    match tried.state:
        case "undefined":
            return _undefined(exercise)
        case "not callable":
            return _not_callable(exercise, tried.kind)
        case "lost":
            return _lost(exercise, tried)
    message = f"`{exercise.name}` could not be tried: Python had ended, or was broken by a cell."
    look = "Restart the kernel, run the notebook from top to bottom, and see where it ends."
    return _nothing(exercise, "failed", "untried", message, look)


def is_missing(verdict: Verdict) -> bool:
    """Whether the answer was not there yet, so that it may still come further down."""
    return verdict.status == "not attempted" or not verdict.defined


def _undefined(exercise: Exercise) -> Verdict:
    message = f"The notebook does not define `{exercise.name}`."
    look = (
        "Restart the kernel and run the notebook from top to bottom: the cell that defines it "
        "may be missing, or may raise an error."
    )
    return replace(_nothing(exercise, "failed", "undefined", message, look), defined=False)


def _not_callable(exercise: Exercise, kind: str) -> Verdict:
    kind = kind if kind.isidentifier() else "object"
    message = f"`{exercise.name}` is not a function or class but a `{kind[:80]}`."
    look = "Look for a line that gives this name to something else."
    return _nothing(exercise, "failed", "wrong-kind", message, look)


def _lost(exercise: Exercise, tried: Tried) -> Verdict:
    """The verdict where an answer did not come back from a case."""
    names = {known.name for known in exercise.cases}
    where = f" on the case “{tried.case}”" if tried.case in names else ""
    if tried.how is ExitReason.OUT_OF_TIME:
        message = f"`{exercise.name}` did not come to an end{where}, and could not be stopped."
        look = "Look for a loop that never ends, with a `try` in it that catches everything."
        return _nothing(exercise, "crashed", "out-of-time", message, look)
    if tried.how is ExitReason.OUT_OF_MEMORY:
        message = f"`{exercise.name}` used up all memory that a notebook may use{where}."
        look = "Look for a list or a tensor that grows with every step."
        return _nothing(exercise, "crashed", "out-of-memory", message, look)
    message = f"`{exercise.name}` ended Python itself while it was tried{where}."
    look = "Look for calls that end the process, such as `os._exit`, and for endless recursion."
    return _nothing(exercise, "crashed", "ended-python", message, look)


def _nothing(exercise: Exercise, status: Status, code: str, message: str, look: str) -> Verdict:
    return Verdict(exercise.name, status, 0.0, (Finding(code, message, look),))


def _judged(exercise: Exercise, work_out: Callable[[], Verdict]) -> Verdict:
    """A verdict that is worked out here; whatever an outcome holds, there is one."""
    try:
        with time_limit(JUDGING):
            verdict = work_out()
    except MissingReference:
        raise
    except OutOfTime:
        message = f"What `{exercise.name}` did could not be judged in reasonable time."
        return _nothing(exercise, "failed", "unreadable", message, "Ask the person who grades.")
    except Exception:  # whatever is wrong with what a student's process has sent
        _log.exception("The answer to %s could not be judged", exercise.name)
        message = f"What `{exercise.name}` did could not be judged."
        return _nothing(exercise, "failed", "unreadable", message, "Ask the person who grades.")
    if verdict.passed or verdict.findings:
        return verdict
    message = f"What `{exercise.name}` did on some cases was not recorded."
    return replace(verdict, findings=(Finding("unrecorded", message),))
