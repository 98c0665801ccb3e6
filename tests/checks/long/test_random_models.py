"""The random models of every exercise are valid and useful, and find wrong answers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice

import pytest
import torch
from torch import fx

from autograder.core.codec import Encoder
from autograder.core.exercise import Exercise
from autograder.core.graph_jobs import trial_for
from autograder.core.graph_record import signature_of
from autograder.exercises import EXERCISES
from autograder.fuzz.codegen import program_of
from autograder.grading import fails
from autograder.judge import judge
from autograder.judge.answer_key import key_of
from autograder.runner import run
from tests.checks.test_answers import right_answers
from tests.exercises import Answer, answers_to, beyond, constant, exercises_with

WITH = {name: e for name, e in EXERCISES.items() if e.random}


IN_FORM = {None, "not-attempted", "returned-none", "wrong-kind", "not-a-graph-module", "crashed"}
"""Findings of right answers, and of wrong ones that any case would show."""

MODELS = 3
"""Number of random models on which each right answer is tried."""

SOME = 8
"""Approximate number of wrong answers tried per exercise; `make bench` tries all."""

PASTED = """import operator
import torch
from torch import nn
from torch.nn import functional as F

"""


ARE_READ = exercises_with("RANDOM_MODELS_ARE_READ")


@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch warns about odd models
@pytest.mark.parametrize("name", WITH)
def test_random_models_can_be_pasted_traced_and_run(name: str) -> None:
    random = WITH[name].random
    for case in random.cases(seed=3, count=15):
        scope: dict[str, object] = dict(random.vocabulary.names)
        program = program_of(case.recipe, random.vocabulary)
        exec(PASTED + program.source, scope)
        trial = case.make(0)
        if name in ARE_READ:
            continue
        if trial.kwargs:  # the task fixes these parameters first, so plain tracing fails
            assert case.expect.raises or key_of(WITH[name]).reference(WITH[name], case).runs
            continue
        # If a case changes the trace, the model before tracing is tried.
        plain = program.model(random.vocabulary.names).to(trial.inputs[0][0].dtype)
        gm = (case.expect.trace or fx.symbolic_trace)(trial.model or plain)
        assert trial.inputs
        allowed = (RuntimeError,) if case.expect.may_raise else ()
        with torch.no_grad():
            gm(*trial.inputs[0])
            for inputs in trial.inputs[1:]:
                with contextlib.suppress(*allowed):
                    gm(*inputs)


@pytest.mark.parametrize("name", WITH)
def test_a_random_model_has_the_parameters_of_its_trace(name: str) -> None:
    """So the judge knows the parameters without tracing the model."""
    for case in WITH[name].random.cases(11):
        model = case.make(0).model
        if model is None or case.expect.trace or case.make(0).kwargs or name in ARE_READ:
            continue
        traced = fx.symbolic_trace(case.make(0).model)
        own, wanted = (signature_of(each, Encoder({})) for each in (model, traced))
        assert own == wanted, case.name


@pytest.mark.parametrize("name", WITH)
def test_what_surrounds_a_random_model_is_the_same_without_it(name: str) -> None:
    same = partial(torch.testing.assert_close, rtol=0, atol=0, equal_nan=True)
    for case in WITH[name].random.cases(11):
        whole, rest = case.make(0), trial_for("results", case.make, 0)
        for some, others in zip(rest.inputs, whole.inputs, strict=True):
            if all(isinstance(one, str) for one in some):  # operation names
                assert some == others
            else:
                same(some, others)
        assert rest.functions.keys() == whole.functions.keys()
        assert len(rest.log) == len(whole.log)


@pytest.mark.parametrize("name", sorted(WITH.keys() - exercises_with("RANDOM_MODELS_MAY_RAISE")))
def test_few_random_models_say_nothing(name: str) -> None:
    """A model that cannot run as the task requires tests nothing, so there must be few."""
    exercise = WITH[name]
    cases = [case for case in exercise.random.cases(seed=5, count=30) if not case.expect.raises]
    found = [key_of(exercise).reference(exercise, case).runs for case in cases]
    failed = [runs for runs in found if any("error" in run for run in runs)]
    assert len(failed) <= 1


@pytest.mark.parametrize("name", WITH)
def test_right_answers_hold_on_random_models(name: str, total: Callable[..., None]) -> None:
    """Each answer gets a few different models; `long` tries many."""
    exercise, turn = WITH[name], cycle(WITH[name].random.cases(seed=11, count=20))
    for answer in right_answers(name):
        for case in islice(turn, MODELS):
            verdict = judge(exercise, [run(exercise, answer.write, case)], (case,))
            assert verdict.passed, (str(answer), verdict.findings, verdict.example)
    total("random models on which a right answer holds", MODELS * len(right_answers(name)))


@pytest.mark.parametrize("name", WITH)
def test_random_models_find_wrong_answers_alone(name: str) -> None:
    wrong = [answer for answer in answers_to(name) if answer.finding not in IN_FORM]
    some = wrong[:: max(1, len(wrong) // SOME)]
    asked = [answer for answer in some if not beyond(answer)]
    missed = [str(answer) for answer in asked if not is_found(WITH[name], answer)]
    assert len(missed) < len(asked) / 2, missed


def is_found(exercise: Exercise, answer: Answer) -> bool:
    """Whether one of the exercise's random models breaks an answer, without shrinking it."""
    return any(fails(exercise, c, run(exercise, answer.write, c)) for c in exercise.random.cases())


@pytest.mark.parametrize("name", EXERCISES)
def test_reasons_why_none_is_found_belong_to_answers(name: str) -> None:
    assert set(constant(name, "BEYOND", {})) <= {answer.style for answer in answers_to(name)}
