"""Incomplete outcomes earn nothing for their case: a test that was not run did not pass."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.core.exercise import Case, Exercise, Trial
from autograder.core.global_state import preserve_global_state
from autograder.core.graph_record import MAX_DESCRIBED
from autograder.core.limits import bounded_output
from autograder.core.outcome import Outcome
from autograder.exercises import EXERCISES
from autograder.judge import findings_of, judge
from autograder.judge import kinds as judged
from autograder.judge.evidence import Evidence
from autograder.judge.kinds.timer import SLOWEST_LISTS
from autograder.runner import kinds
from autograder.runner.kinds.timer import SLOWEST_ASKED
from tests.checks.examination import examine
from tests.exercises import GRAPH, answers_to, constant
from tests.support.mutations import Mutation, some

ORIGIN = GRAPH + r"modules\[\].*\.origin"

DECIDE_NOTHING = [
    (r"(runs\[\]\.\w+\.)?error\.(line|message|says|text|asked|generated|near|frames.*)",
     "what an exception says is asked for only where a name is to be in it"),
    (r"(runs\[\]\.\w+\.)?error\.(message|types)(\[\])?",
     "of an exception's base classes, only the one that is asked for counts"),
    (GRAPH + r"modules\[\]\.attrs.*",
     "of a layer's attributes, what it computes with is needed when the judge runs it"),
]  # fmt: skip
"""Places in an outcome that do not affect points in any exercise, with the reason."""

DECIDE_NO_DUEL = [
    (r"value\.graph_module\.nodes\[\](\.(args|kwargs)\..*)?",
     "a graph with another argument, or a call less, may be a witness, too"),
    (r"value\.graph_module\.modules\[\]\.(params|buffers)\..*",
     "a layer without a bias may be in a witness, too; a BatchNorm's count is not read"),
]  # fmt: skip
"""Places in an outcome that do not affect points in duels, with the reason."""


def decides(exercise: Exercise, mutation: Mutation) -> bool:
    """Whether points depend on a place in an outcome."""
    places = [*DECIDE_NOTHING, *constant(exercise.name, "DECIDES_NOTHING", [])]
    if exercise.kind == "witness":
        places += DECIDE_NO_DUEL
    if not constant(exercise.name, "ASKS_FOR_ORIGINS"):
        places.append((ORIGIN, "where a part comes from is asked only where sharing is the task"))
    return not any(re.fullmatch(place, mutation.place) for place, _ in places)


def right_outcome(name: str, case: str) -> Outcome:
    """A right answer's outcome on the case of this name."""
    answer = next(answer for answer in answers_to(name) if answer.finding is None)
    return next(outcome for outcome in examine(answer)[0] if outcome.case == case)


@contextmanager
def quiet() -> Iterator[None]:
    """Run code with the global state and output limits of `judge`."""
    with preserve_global_state(), bounded_output(0):
        yield


@contextmanager
def made_once() -> Iterator[None]:
    """Reuse the objects of each case for all its outcomes: making them takes most of the time.

    No rule may change them; so callers judge the right outcome once more at the end, with the same
    objects.
    """
    trials: dict[str, Trial] = {}

    def trial(self: Evidence) -> Trial:
        if self.case.name not in trials:
            trials[self.case.name] = self.case.make(0)
        return trials[self.case.name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Evidence, "trial", property(trial))
        yield


def survivors(exercise: Exercise, case: Case, count: int, seed: int) -> list[str]:
    """The mutations after which a case still passes, although points depend on their places."""
    outcome = right_outcome(exercise.name, case.name)
    with quiet(), made_once():
        assert not findings_of(exercise, case, outcome)
        found = [
            f"{exercise.name}, {case.name}: {mutation.place} {mutation.how}"
            for mutation in some(outcome, count, seed)
            if decides(exercise, mutation) and not findings_of(exercise, case, mutation.of(outcome))
        ]
        assert not findings_of(exercise, case, outcome)
        return found


def survivors_on_any_case(name: str, count: int) -> list[str]:
    """The surviving mutations on all cases of an exercise, with `count` tried on each."""
    exercise = EXERCISES[name]
    found = [survivors(exercise, case, count, i) for i, case in enumerate(exercise.cases)]
    return [text for texts in found for text in texts]


SOME = list(EXERCISES)[::5]
"""The exercises that are tried here; `long` tries all."""


@pytest.mark.parametrize("name", SOME)
def test_one_field_less_is_nothing_on_any_case(name: str, total: Callable[[str], None]) -> None:
    assert survivors_on_any_case(name, 12) == []
    total("exercises whose outcomes lack one field and hold nothing")


@pytest.mark.parametrize("name", EXERCISES)
def test_no_outcome_is_nothing(name: str) -> None:
    exercise = EXERCISES[name]
    assert judge(exercise, []).score == 0
    case = exercise.cases[0]
    assert findings_of(exercise, case, Outcome(case.name))


VALUES = (None, True, False, 0, "x", {"list": []}, {"dict": []}, {"tuple": []}, {}, {"module": "X"})


@pytest.mark.parametrize("name", SOME)
def test_a_value_alone_is_nothing(name: str) -> None:
    assert_a_value_alone_is_nothing(name)


def assert_a_value_alone_is_nothing(name: str) -> None:
    """Check that a single value for every case, with no runs or empty ones, earns nothing."""
    exercise = EXERCISES[name]
    right = [right_outcome(name, case.name) for case in exercise.cases]
    with made_once():
        for value, runs in zip(VALUES, itertools.cycle(([], [{}] * 4))):
            outcomes = [Outcome(case.name, value=value, runs=list(runs)) for case in exercise.cases]
            assert judge(exercise, outcomes).score == 0, value
        assert judge(exercise, right).passed


@pytest.mark.parametrize("name", ["add_to_mul", "NegSigmSwap", "OpTimer", "node_paths", "split_at"])
def test_a_run_less_and_a_run_more_are_unrecorded(name: str) -> None:
    exercise = EXERCISES[name]
    case = max(exercise.visible_cases()[:4], key=lambda c: len(right_outcome(name, c.name).runs))
    outcome = right_outcome(name, case.name)
    for runs in (outcome.runs[:-1], [*outcome.runs, *outcome.runs[-1:]] if outcome.runs else [{}]):
        if runs != outcome.runs:
            (finding,) = findings_of(exercise, case, replace(outcome, runs=runs))
            assert finding.code == "unrecorded"
            assert "was not recorded completely" in finding.message


def test_data_nested_too_deeply_is_unrecorded() -> None:
    value: dict = {"list": []}
    for _ in range(100_000):
        value = {"list": [value]}
    exercise = EXERCISES["node_names"]
    case = exercise.cases[0]
    (finding,) = findings_of(exercise, case, Outcome(case.name, value=value))
    assert finding.code == "unrecorded"


def test_more_nodes_than_are_described_are_unrecorded() -> None:
    exercise = EXERCISES["add_to_mul"]
    case = exercise.cases[0]
    outcome = copy.deepcopy(right_outcome(exercise.name, case.name))
    rows = outcome.value["graph_module"]["nodes"]
    rows[1:1] = [rows[0]] * MAX_DESCRIBED
    (finding,) = findings_of(exercise, case, outcome)
    assert finding.code == "unrecorded"


def test_another_kind_of_result_keeps_its_finding() -> None:
    """An answer that returns None or a number still ran completely."""
    exercise = EXERCISES["add_to_mul"]
    case = exercise.cases[0]
    for value, code in ((None, "returned-none"), (3, "not-a-graph-module")):
        assert findings_of(exercise, case, Outcome(case.name, value=value))[0].code == code


def test_each_kind_of_answer_has_a_module_for_the_judge() -> None:
    folder = Path(judged.__file__).parent
    assert {path.stem for path in folder.glob("[!_]*.py")} == kinds.KINDS.keys()
    assert SLOWEST_LISTS == len(SLOWEST_ASKED)
