"""Known right outcomes: the judge recognizes them, and no verdict changes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator

import pytest
import torch

from autograder.boxed import work_ahead
from autograder.boxed.known_outcomes import KINDS, learn, recognise, right_answers
from autograder.core.exercise import Case, Exercise
from autograder.core.outcome import Outcome
from autograder.exercises import EXERCISES
from autograder.judge import findings_of, judge
from autograder.runner import run_trial
from autograder.speed.warm_up import import_late
from tests.exercises import answers_to

LEARNED = [name for name, exercise in EXERCISES.items() if exercise.kind in KINDS]
RETARGET = EXERCISES["retarget"]


@pytest.fixture
def exercise() -> Exercise:
    for case in RETARGET.cases:
        case.cache.clear()
    return RETARGET


def claimed(exercise: Exercise, case: Case, answer: object, number: int) -> bytes:
    """Return the bytes that a box sends for an answer on a case."""
    outcome, stream = (
        run_trial(exercise.kind, answer, case.make, f"case {number}"),
        io.BytesIO(),
    )  # type: ignore[arg-type]
    outcome.write(stream)
    return stream.getvalue()


def test_what_the_courses_own_answer_did_is_recognised(exercise: Exercise) -> None:
    answer, _ = right_answers(exercise)
    for number, case in enumerate(exercise.cases, 7):
        blob = claimed(exercise, case, answer, number)
        assert recognise(case, [blob], number) is None  # nothing is learned yet
        learn(exercise, case, answer)
        known = recognise(case, [blob], number)
        assert known is not None and known.case == case.name
        assert not findings_of(exercise, case, known)
        # Not recognized: another case's number, a cut-off or split message, any changed byte.
        assert recognise(case, [blob], number + 1) is None
        assert recognise(case, [blob[:-1]], number) is None
        assert recognise(case, [blob, b""], number) is None
        assert recognise(case, [blob[:8] + b" " + blob[9:]], number) is None
        assert recognise(case, [blob[:-1] + bytes([blob[-1] ^ 1])], number) is None
        assert recognise(case, [(1).to_bytes(8, "little") + blob[8:]], number) is None


def test_nothing_is_learned_of_a_wrong_answer(exercise: Exercise) -> None:
    wrong = [answer for answer in answers_to(exercise.name) if answer.finding]
    for answer in wrong:
        for case in exercise.cases:
            blob = claimed(exercise, case, answer.write, 1)
            outcome = run_trial(exercise.kind, answer.write, case.make, case.name)
            learn(exercise, case, answer.write)
            assert (recognise(case, [blob], 1) is None) == bool(
                findings_of(exercise, case, outcome)
            )


def test_verdicts_are_the_same_with_and_without(exercise: Exercise) -> None:
    for case in exercise.cases:
        for own in right_answers(exercise):
            learn(exercise, case, own)
    recognised = 0
    for answer in answers_to(exercise.name):
        outcomes, known, held = list[Outcome](), list[Outcome](), set[str]()
        for case in exercise.cases:
            outcomes.append(run_trial(exercise.kind, answer.write, case.make, case.name))
            found = recognise(case, [claimed(exercise, case, answer.write, 1)], 1)
            known.append(found or outcomes[-1])
            held |= {case.name} if found else set()
        recognised += len(held)
        assert judge(exercise, known, known={name: [] for name in held}) == judge(
            exercise, outcomes
        )
    assert recognised > 200


def test_trials_that_were_made_ahead_are_there_afterwards(exercise: Exercise) -> None:
    for _ in work_ahead.work_ahead([exercise], []):
        pass
    assert all(("trial", 0) in case.cache for case in exercise.cases)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Limit PyTorch to one thread, and import what starts threads, as a fork server does."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.ones(1, requires_grad=True).sum().backward()  # let autograd start its threads
    import_late()
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
@pytest.mark.parametrize("name", LEARNED)
def test_an_answer_of_the_courses_own_holds_and_starts_no_thread(name: str) -> None:
    exercise = EXERCISES[name]
    before = os.listdir("/proc/self/task")
    answers = list(right_answers(exercise))
    case = exercise.cases[0]
    case.cache.clear()
    for answer in answers:
        learn(exercise, case, answer)
    assert any(recognise(case, [claimed(exercise, case, answer, 1)], 1) for answer in answers)
    assert os.listdir("/proc/self/task") == before
