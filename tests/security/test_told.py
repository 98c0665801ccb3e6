"""An answer gets the objects of its case, but no name, case or expected result."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from torch import fx

from autograder import runner as run_room
from autograder.core.exercise import Case, Exercise
from autograder.core.outcome import Outcome
from autograder.exercises import EXERCISES
from autograder.judge import judge
from autograder.judge.answer_key import key_of
from autograder.runner import run_trial

ROOM = str(Path(run_room.__file__).parent)


def test_no_frame_tells_which_case_is_tried() -> None:
    exercise = EXERCISES["inputs_of"]
    (case, *_) = (case for case in exercise.cases if case.hidden)
    seen: list[Any] = []

    def looks(node: fx.Node) -> list[fx.Node]:
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename.startswith(ROOM):
                seen.extend(frame.f_locals.values())
            frame = frame.f_back
        return []

    outcome = run_trial(exercise.kind, looks, case.make, "case 17")
    assert outcome.case == "case 17"
    assert any(isinstance(value, Outcome) for value in seen)
    assert not any(isinstance(value, Case | Exercise) or value is case.make for value in seen)
    assert case.name not in [value for value in seen if isinstance(value, str)]


def test_random_models_of_wellformed_do_not_carry_their_faults() -> None:
    exercise = EXERCISES["wellformed"]
    codes: list[Any] = []
    for case in exercise.random.cases(5):
        trial = case.make(0)
        assert trial.args[0].meta == {}
        codes.append(key_of(exercise).reference(exercise, case).value["list"])
        assert case.expect.built_by or not codes[-1]
    assert any(codes)
    assert any(not each for each in codes)


def test_what_is_printed_on_hidden_cases_is_not_shown() -> None:
    exercise = EXERCISES["node_names"]
    hidden = next(case for case in exercise.cases if case.hidden)
    seen = exercise.visible_cases()[0]

    def printed(*outcomes: Outcome) -> str:
        cases = tuple(c for c in exercise.cases if c.name in {o.case for o in outcomes})
        return judge(exercise, list(outcomes), cases).printed

    assert printed(Outcome(hidden.name, value=None, printed="the hidden model")) == ""
    assert printed(Outcome(seen.name, value=None, printed="my own")) == "my own"
    right = {"list": ["x"]}
    both = [Outcome(c.name, value=right, printed=f"on {c.name}") for c in (hidden, seen)]
    assert hidden.name not in printed(*both)
