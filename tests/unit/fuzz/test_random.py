"""Random models: the same on every machine, sound, small when shrunk, and fair."""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import fx

from autograder.api import verdict_on
from autograder.builder.paths import ROOT
from autograder.core.codec import Encoder
from autograder.core.exercise import RANDOM, Exercise
from autograder.core.graph_jobs import trial_for
from autograder.core.graph_record import signature_of
from autograder.exercises import EXERCISES
from autograder.fuzz.codegen import program_of
from autograder.fuzz.recipe import Recipe, Step
from autograder.fuzz.sampler import drawn
from autograder.fuzz.shrinker import MOST_TRIES, shrunk
from autograder.grading import fails
from autograder.judge import judge
from autograder.judge.answer_key import key_of
from autograder.runner import run
from tests.exam.answers import Answer, all_answers, beyond

WITH = {name: e for name, e in EXERCISES.items() if e.random}
RIGHT = [a for a in all_answers() if a.finding is None and a.exercise in WITH]


def test_every_exercise_has_random_models_or_says_why_not() -> None:
    for exercise in EXERCISES.values():
        assert (exercise.random is None) == bool(exercise.not_random), exercise.name


def test_recipes_are_the_same_in_every_process(tmp_path: Path) -> None:
    """Whatever modules are there; and nothing is written beside the notebook."""
    own = tmp_path / "own.py"
    own.write_text(f"numbers = {list(range(60))}", encoding="utf-8")
    program = (
        "import own; from autograder.fuzz.sampler import drawn;"
        "print(*[recipe.to_json() for recipe in drawn(8, 40, 5)])"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    text = subprocess.check_output(
        [sys.executable, "-Bc", program],
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert text.split() == [recipe.to_json() for recipe in drawn(8, 40, 5)]
    assert list(tmp_path.iterdir()) == [own]


def test_fewer_recipes_are_the_first_of_more() -> None:
    assert drawn(8, 5, 3) == drawn(8, 40, 3)[:5]
    assert drawn(8, 5, 3) != drawn(8, 5, 4)


def test_no_choice_comes_twice_before_every_other_one() -> None:
    recipes = drawn(8, 64, 9)
    assert {recipe.choice for recipe in recipes} == set(range(64))
    assert {recipe.shape for recipe in recipes[:8]} == set(range(8))
    steps = [step for recipe in recipes for step in (*recipe.steps, *recipe.part)]
    assert sorted(step.op for step in steps[:64]) == list(range(64))
    assert {len(recipe.steps) for recipe in recipes[:8]} == set(range(1, 9))


def test_a_recipe_survives_its_text() -> None:
    for recipe in drawn(8, 12, 5):
        assert Recipe.from_json(recipe.to_json()) == recipe


def test_a_recipe_is_made_as_small_as_can_be() -> None:
    tries = []

    def fails(recipe: Recipe) -> bool:
        tries.append(recipe)
        return any(step.op % 7 == 3 for step in recipe.steps) and recipe.inputs % 4 == 2

    found = [recipe for recipe in drawn(8, 100, 0) if fails(recipe)]
    assert len(found) > 3
    for recipe in found:
        tries.clear()
        smallest = shrunk(recipe, fails)
        (step,) = smallest.steps
        assert smallest == Recipe(steps=(Step(op=step.op),), inputs=smallest.inputs)
        assert len(tries) <= MOST_TRIES


PASTED = """import operator
import torch
from torch import nn
from torch.nn import functional as F

"""


ABOUT_GRAPHS = {"refresh_meta", "meta_lies", "all_arguments"}
"""Exercises whose answers read a graph that is made of a random model, and do not run it: values
of terabytes, or arguments that are no inputs of the model."""


@pytest.mark.filterwarnings("ignore::UserWarning")  # what PyTorch says about odd models
@pytest.mark.parametrize("name", WITH)
def test_random_models_can_be_pasted_traced_and_run(name: str) -> None:
    random = WITH[name].random
    for case in random.cases(seed=3, count=15):
        scope: dict[str, object] = dict(random.vocabulary.names)
        program = program_of(case.recipe, random.vocabulary)
        exec(PASTED + program.source, scope)
        trial = case.make(0)
        if name in ABOUT_GRAPHS:
            continue
        if trial.kwargs:  # parameters that are to be fixed first: tracing alone cannot do it
            assert case.expect.raises or key_of(WITH[name]).reference(WITH[name], case).runs
            continue
        # Where a case spoils the trace, the model it was made of is tried.
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
    """So the judge need not trace it to know them."""
    for case in WITH[name].random.cases(11):
        model = case.make(0).model
        if model is None or case.expect.trace or case.make(0).kwargs or name in ABOUT_GRAPHS:
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
            if name == "all_arguments":  # they are names
                assert some == others
            else:
                same(some, others)
        assert rest.functions.keys() == whole.functions.keys()
        assert len(rest.log) == len(whole.log)


@pytest.mark.parametrize("name", sorted(set(WITH) - {"MetaTracer", "OpTimer", "node_paths"}))
def test_few_random_models_say_nothing(name: str) -> None:
    """Models that cannot be run as the task wants it say nothing, so there must be few.

    The three exercises that are left out are about models that raise, too.
    """
    exercise = WITH[name]
    cases = [case for case in exercise.random.cases(seed=5, count=30) if not case.expect.raises]
    found = [key_of(exercise).reference(exercise, case).runs for case in cases]
    failed = [runs for runs in found if any("error" in run for run in runs)]
    assert len(failed) <= 1


@pytest.mark.parametrize(
    "answer",
    [pytest.param(a, id=str(a), marks=pytest.mark.xdist_group(a.exercise)) for a in RIGHT],
)
def test_right_answers_hold_on_random_models(answer: Answer, total: Callable[..., None]) -> None:
    exercise = WITH[answer.exercise]
    for case in exercise.random.cases(seed=11, count=8):
        outcome = run(exercise, answer.write, case)
        verdict = judge(exercise, [outcome], (case,))
        assert verdict.passed, (verdict.findings, verdict.example)
        total("random models on which a right answer holds")


def first(name: str, finding: str | None) -> Answer:
    """The first answer of the exam that gets this finding."""
    return next(a for a in all_answers() if a.exercise == name and a.finding == finding)


def without_cases(exercise: Exercise) -> Exercise:
    """The exercise with its first case only, so that random models must find the rest."""
    from dataclasses import replace

    return replace(exercise, cases=exercise.cases[:1], aspects=exercise.aspects[:1])


def test_a_failing_random_model_is_shown_small() -> None:
    exercise = without_cases(EXERCISES["add_to_mul"])
    wrong = first("add_to_mul", "missed-spelling")
    verdict = verdict_on(exercise, wrong.write, hidden=False)
    assert verdict.status == "failed"
    assert verdict.findings[0].code == "missed-spelling"
    assert verdict.example.case == "the smallest random model that shows it"
    assert len(verdict.example.before) <= 4
    assert "class Model(nn.Module)" in verdict.example.source
    assert [share.held for share in verdict.shares] == [True, False]
    assert verdict_on(exercise, wrong.write, hidden=False) == verdict


def test_random_models_come_last() -> None:
    exercise = EXERCISES["add_to_mul"]
    wrong = verdict_on(exercise, first("add_to_mul", "missed-spelling").write, hidden=True)
    assert wrong.shares[-1].says == RANDOM.says
    assert not wrong.shares[-1].held
    right = verdict_on(exercise, first("add_to_mul", None).write, hidden=True)
    assert right.passed
    assert right.score == 1.0
    assert right.cases == len(exercise.cases) + exercise.random.count


def test_a_case_fails_only_for_those_it_is_to_fail() -> None:
    exercise = EXERCISES["add_to_mul"]
    (case,) = exercise.random.cases(seed=0, count=1)
    outcome = run(exercise, first("add_to_mul", None).write, case)
    assert not fails(exercise, case, outcome)


IN_FORM = {None, "not-attempted", "returned-none", "wrong-kind", "not-a-graph-module", "crashed"}
"""Findings of right answers, and of wrong ones that any case at all would show."""

SOME = 8
"""About how many wrong answers of an exercise are tried; `make bench` tries all."""


@pytest.mark.parametrize("name", WITH)
def test_random_models_find_wrong_answers_alone(name: str) -> None:
    wrong = [a for a in all_answers() if a.exercise == name and a.finding not in IN_FORM]
    some = wrong[:: max(1, len(wrong) // SOME)]
    asked = [answer for answer in some if not beyond(answer)]
    missed = [str(answer) for answer in asked if not is_found(WITH[name], answer)]
    assert len(missed) < len(asked) / 2, missed


def is_found(exercise: Exercise, answer: Answer) -> bool:
    """Whether one of the exercise's random models breaks an answer; it is not made smaller."""
    return any(fails(exercise, c, run(exercise, answer.write, c)) for c in exercise.random.cases())


def test_reasons_why_none_is_found_belong_to_answers() -> None:
    for name in EXERCISES:
        module = importlib.import_module(f"tests.exam.answers.{name}")
        styles = {answer.style for answer in all_answers() if answer.exercise == name}
        assert set(getattr(module, "BEYOND", {})) <= styles, name


def test_where_a_task_says_nothing_of_infinities_a_model_that_has_one_is_not_tried() -> None:
    """One of the first four thousand recipes for `Calibrator` has the `exp` of a large number."""
    random = EXERCISES["Calibrator"].random
    assert random is not None
    recipes = drawn(random.vocabulary.most, random.count, 20_004)
    with pytest.raises(OverflowError, match="the value of exp is not finite"):
        random.case(recipes[11], "too large").make(0)
    assert len(random.cases(20_004)) == len(recipes) - 1
