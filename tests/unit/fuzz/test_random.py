"""Random models: the same on every machine, sound, small when shrunk, and fair."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.api import verdict_on
from autograder.builder.paths import ROOT
from autograder.core.exercise import RANDOM, Exercise
from autograder.exercises import EXERCISES
from autograder.fuzz.codegen import program_of
from autograder.fuzz.grammar import Vocabulary, ops
from autograder.fuzz.recipe import Recipe, Step
from autograder.fuzz.sampler import drawn
from autograder.fuzz.shrinker import MOST_TRIES, shrunk
from autograder.grading import fails
from autograder.runner import run
from tests.exercises import Answer, answers_to


def test_every_exercise_has_random_models_or_says_why_not() -> None:
    for exercise in EXERCISES.values():
        assert (exercise.random is None) == bool(exercise.not_random), exercise.name


def test_recipes_are_the_same_in_every_process(tmp_path: Path) -> None:
    """Imported modules change nothing, and no file is written next to the notebook."""
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


def test_a_line_that_nobody_reads_is_removed_from_before_one_that_reads_past_it() -> None:
    words = Vocabulary(ops("{a} + 1", "torch.relu({a})", "torch.sigmoid({a})"), traced=False)

    def fails(recipe: Recipe) -> bool:
        source = program_of(recipe, words).source
        relu = re.search(r"(\w) = torch.relu", source)
        return bool(relu and f"torch.sigmoid({relu[1]})" in source)

    relu, dead, sigmoid = Step(op=1), Step(), Step(op=2, picks=(1, 0, 0))
    assert fails(recipe := Recipe(steps=(relu, dead, sigmoid)))
    assert shrunk(recipe, fails).steps == (relu, Step(op=2))
    twice = Recipe(steps=(relu, dead, dead, replace(sigmoid, picks=(2, 0, 0))))
    assert shrunk(twice, fails).steps == (relu, Step(op=2))
    inside = Recipe(part=(relu, dead, sigmoid))
    assert shrunk(inside, fails).part == (relu, Step(op=2))


def first(name: str, finding: str | None) -> Answer:
    """Return the first answer that gets this finding."""
    return next(answer for answer in answers_to(name) if answer.finding == finding)


def without_cases(exercise: Exercise) -> Exercise:
    """The exercise with its first case only, so that only random models can find the rest."""
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


def test_where_a_task_says_nothing_of_infinities_a_model_that_has_one_is_not_tried() -> None:
    """One of the first four thousand recipes for `Calibrator` has the `exp` of a large number."""
    random = EXERCISES["Calibrator"].random
    assert random is not None
    recipes = drawn(random.vocabulary.most, random.count, 20_004)
    with pytest.raises(OverflowError, match="the value of exp is not finite"):
        random.case(recipes[11], "too large").make(0)
    assert len(random.cases(20_004)) == len(recipes) - 1
