"""Each kind of question: it asks about a run with a difference, and not about a trivial one."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from autograder.asking.choice import confirm
from autograder.asking.code import Code
from autograder.asking.kinds import KINDS
from autograder.asking.question import Question
from autograder.asking.small_models import SmallModel, small_model
from autograder.asking.subject import Subject
from autograder.core.exercise import Case
from autograder.exercises import EXERCISES
from autograder.models.build import T, model_case
from autograder.models.networks import nn, torch

X = T(2, 3)
IMPORTS = "import operator\nimport torch\nfrom torch import fx\n"


class Chain(nn.Module):
    def forward(self, x, y):
        a = torch.add(x, y)
        b = torch.relu(a)
        return b + x


class OnlyAdd(nn.Module):
    def forward(self, x, y):
        return torch.add(x, y)


def subject(body: str, exercise: str = "count_ops", model: type = Chain) -> Subject:
    """A subject whose answer has this body."""
    case = model_case("a model", "task", model, (X, X))
    found = small_model(EXERCISES[exercise], case)
    assert found is not None
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return Subject(
        EXERCISES[exercise], Code(exercise, f"{IMPORTS}def {exercise}(model):\n{lines}"), found
    )


def first(kind: str, asked: Subject) -> Question | None:
    return next(KINDS[kind].questions(asked, Random(3)), None)


LOOP = """
counts = {}
for node in fx.symbolic_trace(model).graph.nodes:
    if node.op == "placeholder":
        continue
    counts[node.op] = counts.get(node.op, 0) + 1
return counts
"""
STRAIGHT = "return {node.op: 1 for node in fx.symbolic_trace(model).graph.nodes}"


def test_visits_counts_a_line() -> None:
    asked = first("visits", subject(LOOP))
    assert asked is not None and len(asked.choices) >= 3
    assert asked.recipe["line"] in (7, 8, 9)
    assert confirm(subject(LOOP), asked) == ""


def test_holds_reads_a_variable() -> None:
    asked = first("holds", subject(LOOP))
    assert asked is not None and confirm(subject(LOOP), asked) == ""


def test_which_tells_nodes_apart() -> None:
    asked = first("which", subject(LOOP))
    assert asked is not None and confirm(subject(LOOP), asked) == ""


@pytest.mark.parametrize("kind", ["visits", "holds", "which"])
def test_nothing_is_asked_about_a_trivial_run(kind: str) -> None:
    assert first(kind, subject(STRAIGHT)) is None


def test_which_is_not_asked_if_a_line_runs_for_each_node() -> None:
    every = LOOP.replace('if node.op == "placeholder":\n        continue', "pass")
    assert first("which", subject(every)) is None


@pytest.mark.parametrize("kind", ["breaks", "shows"])
def test_changes_that_all_raise_are_not_asked_about(kind: str) -> None:
    body = "raise_ = fx.symbolic_trace(model)\nreturn raise_"
    assert first(kind, subject(body, "add_to_mul", OnlyAdd)) is None


def test_breaks_asks_for_one_change() -> None:
    body = """
gm = fx.symbolic_trace(model)
for node in gm.graph.nodes:
    if node.op == "call_function" and node.target in (torch.add, operator.add):
        node.target = torch.mul
gm.graph.lint()
gm.recompile()
return gm
"""
    asked = subject(body, "add_to_mul")
    question = first("breaks", asked)
    assert question is not None
    results = question.recipe["right"]
    assert results.count(results[question.right]) == 1
    assert confirm(asked, question) == ""
    wrong = replace(question, recipe={**question.recipe, "right": results[::-1]})
    assert confirm(asked, wrong) == "another key the second time"


def test_a_wrong_key_is_not_confirmed() -> None:
    for kind in ("visits", "holds", "which"):
        asked = subject(LOOP)
        question = first(kind, asked)
        assert question is not None
        wrong = replace(question, recipe={**question.recipe, "right": "something else"})
        assert confirm(asked, wrong)


def test_fight_asks_about_a_duel() -> None:
    cell = (
        "import torch\nfrom torch import nn\n\n\nclass WitnessSelfLoop(nn.Module):\n"
        "    inputs = (torch.tensor([-1.0, 2.0]),)\n\n    def forward(self, x):\n"
        "        return torch.add(x, 1)\n"
    )
    exercise = EXERCISES["WitnessSelfLoop"]
    model = SmallModel(exercise.cases[0], "", exercise.name, "", ())
    asked = Subject(exercise, Code(exercise.name, cell), model)
    question = first("fight", asked)
    assert question is not None and confirm(asked, question) == ""
    lost = cell.replace("torch.add(x, 1)", "x")
    assert first("fight", Subject(exercise, Code(exercise.name, lost), model)) is None


def test_a_case_is_small_if_its_text_makes_its_model() -> None:
    case: Case = model_case("a model", "task", Chain, (X, X))
    found = small_model(EXERCISES["add_to_mul"], case)
    assert found is not None and "class Chain" in found.text
    assert [name for _, name, *_ in found.rows] == ["x", "y", "add", "relu", "add_1", "output"]
