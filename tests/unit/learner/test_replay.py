"""Step by step: `replay`, `failed().replay()`, and the fold of a failing card."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn

from autograder import CheckFailed, api, check, failed
from autograder import replay as show_steps
from autograder.cards.film import TITLE, Film
from autograder.core.exercise import Case
from autograder.core.verdict import Verdict
from autograder.environment import notebook_kernel
from autograder.exercises import EXERCISES
from autograder.learner.failed_case import FOLD_LIMITS, FailedCase
from autograder.learner.failed_case import failed_case as case_as_object
from autograder.runner.graph_recorder import IN_USE

NAME = "add_to_mul"


def add_to_mul(model: nn.Module) -> fx.GraphModule:
    """A wrong answer: it does not find each addition."""
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is torch.add:
            node.target = torch.mul
    gm.graph.output_node().args = (next(iter(gm.graph.nodes)),)
    gm.recompile()
    return gm


class Notebook:
    """Collects what is shown; says who runs the cells."""

    def __init__(self) -> None:
        self.shown: list[Any] = []
        self.kernel = self
        self.allow_stdin = True

    def get_parent(self) -> dict[str, Any]:
        return {"content": {"allow_stdin": self.allow_stdin}}

    def folds(self) -> list[str]:
        """The folds of the card of the wrong answer."""
        with pytest.raises(CheckFailed):
            check(add_to_mul)
        return [fold.summary for fold in self.shown[-1].folds]


@cache
def judged() -> tuple[Verdict, list[Case]]:
    return api._judged(EXERCISES[NAME], add_to_mul, hidden=False)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Notebook:
    monkeypatch.chdir(tmp_path)
    verdict, cases = judged()
    monkeypatch.setattr(api, "_judged", lambda *_, **__: (verdict, cases))
    made = Notebook()
    monkeypatch.setattr(notebook_kernel, "shell", lambda: made)
    for module in ("api", "learner.failed_case", "learner.replay"):
        monkeypatch.setattr(f"autograder.{module}.show", made.shown.append)
    return made


def test_a_failing_card_has_the_steps_of_its_case(notebook: Notebook) -> None:
    assert notebook.folds()[0] == TITLE
    card = notebook.shown[-1]
    assert "return gm" not in card.folds[0].html
    assert "gm.graph.output_node().args" in card.folds[0].html
    html = card._repr_mimebundle_()["text/html"]
    assert html.count("attachShadow({") == 1 and TITLE not in repr(card)
    assert sys.gettrace() is None

    failed().replay()
    film = notebook.shown[-1]
    assert isinstance(film, Film) and film.film == failed().film(FOLD_LIMITS)
    assert film.film.steps[-1].changes[0].now.startswith("return ")


def test_the_verdict_and_the_text_are_those_without_a_film(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook.folds()
    with_film = notebook.shown[-1]
    monkeypatch.setattr(api, "in_notebook", lambda: False)
    notebook.folds()
    without = notebook.shown[-1]
    assert without.verdict == with_film.verdict and without.folds == with_film.folds[1:]


@pytest.mark.parametrize("reason", ["nbgrader", "a program", "a terminal"])
def test_there_is_no_film_unless_a_learner_looks(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    monkeypatch.setattr(FailedCase, "folds", lambda case: pytest.fail("a film was made"))
    if reason == "nbgrader":
        monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    elif reason == "a program":
        notebook.allow_stdin = False
    else:
        monkeypatch.setattr(api, "in_notebook", lambda: False)
    assert TITLE not in notebook.folds()


def test_a_hidden_case_is_never_in_a_film(notebook: Notebook) -> None:
    verdict, cases = judged()
    assert verdict.example is not None
    hidden = [replace(case, hidden=True) for case in cases]
    assert case_as_object(EXERCISES[NAME], add_to_mul, verdict.example, cases) is not None
    assert case_as_object(EXERCISES[NAME], add_to_mul, verdict.example, hidden) is None


def case_of(exercise: str, answer: Any) -> FailedCase:
    case = EXERCISES[exercise].visible_cases()[0]
    return FailedCase(case.name, answer, "", "", EXERCISES[exercise], case)


def test_other_kinds_and_films_of_one_step_have_no_fold() -> None:
    def names(model: nn.Module) -> list[str]:
        return [str(fx.symbolic_trace(model).graph.eliminate_dead_code())]

    assert len(case_of(NAME, add_to_mul).folds()) == 1
    assert case_of("node_names", add_to_mul).folds() == []
    assert case_of(NAME, names).folds() == []


def test_with_a_debugger_the_fold_says_so(notebook: Notebook) -> None:
    def debugger(*_: Any) -> None: ...

    sys.settrace(debugger)
    try:
        folds = notebook.folds()
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(None)
    assert folds[0] == TITLE and IN_USE in notebook.shown[-1].folds[0].html.replace("&#x27;", "'")


def test_replay_leaves_its_arguments_as_they_are(notebook: Notebook) -> None:
    def shorten(gm: fx.GraphModule, *, most: list[int]) -> fx.GraphModule:
        most.append(1)
        gm.graph.output_node().args = (next(iter(gm.graph.nodes)),)
        return gm

    gm, most = fx.symbolic_trace(nn.GELU()), [0]
    code = str(gm.graph)
    show_steps(shorten, gm, most=most)
    film = notebook.shown[-1]
    assert str(gm.graph) == code and most == [0]
    assert [step.text for step in film.film.steps][1:] == [
        "gm.graph.output_node().args = (next(iter(gm.graph.nodes)),)"
    ]


@pytest.mark.parametrize("given", [(add_to_mul,), (3, nn.Identity()), ()])
def test_replay_says_how_to_call_it(given: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match=r"replay"):
        show_steps(*given)


def test_replay_says_what_cannot_be_copied() -> None:
    with pytest.raises(TypeError, match="one of them cannot be copied"):
        show_steps(add_to_mul, (each for each in [1]))
