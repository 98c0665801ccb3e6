"""The steps of passes, compared with lists written by hand; and what recording must not change."""

from __future__ import annotations

import copy
import operator
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import fx, nn

from autograder.core.exercise import Trial
from autograder.core.limits import Limits
from autograder.drawing.graph_film import sentences_of
from autograder.drawing.graph_steps import GraphFilm
from autograder.runner import graph_recorder
from autograder.runner.graph_recorder import IN_USE, MOST_STEPS, NO_STEPS, record_graphs


class Sums(nn.Module):
    """Two additions. A film leaves out its lines, although they are in this file."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        total = torch.add(x, y)
        return total + x


def film_of(
    answer: Any, kind: str = "analysis", given: Any = None, limits: Limits | None = None
) -> GraphFilm:
    trial = Trial((Sums() if given is None else given,))
    return record_graphs(kind, answer, lambda seed: trial, limits or Limits(cpu=5.0))


def told(film: GraphFilm) -> list[tuple[str, list[str]]]:
    """The line and the sentences of each step."""
    return [(step.text, sentences_of(film, i)) for i, step in enumerate(film.steps)]


# ------------------------------------------------------------------ passes and their films

TRACED = ("gm = fx.symbolic_trace(model)", ["the graph has 5 nodes"])
FILMS: dict[Callable[..., Any], list[tuple[str, list[str]]]] = {}


def shows(*steps: tuple[str, list[str]]) -> Callable[[Any], Any]:
    """Mark a pass with the steps that its film must have."""

    def mark(answer: Any) -> Any:
        FILMS[answer] = list(steps)
        return answer

    return mark


def apply_relu(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x)


def first_call(gm: fx.GraphModule) -> fx.Node:
    return next(node for node in gm.graph.nodes if node.op == "call_function")


@shows(
    TRACED,
    ("node.target = torch.mul", ["`add = torch.add(x, y)` becomes `add = torch.mul(x, y)`"]),
)
def changes_a_target(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is torch.add:
            node.target = torch.mul
    gm.recompile()
    return gm


@shows(
    TRACED,
    ("relu = gm.graph.call_function(torch.relu, (add,))", ["new: `relu = torch.relu(add)`"]),
    (
        "add.replace_all_uses_with(relu)",
        [
            "`relu = torch.relu(add)` becomes `relu = torch.relu(relu)`",
            "`add_1 = add + x` becomes `add_1 = relu + x`",
        ],
    ),
)
def makes_a_self_loop(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    add = first_call(gm)
    with gm.graph.inserting_after(add):
        relu = gm.graph.call_function(torch.relu, (add,))
    add.replace_all_uses_with(relu)
    return gm


@shows(
    TRACED,
    ("last.replace_all_uses_with(first)", ["`return add_1` becomes `return add`"]),
    ("gm.graph.eliminate_dead_code()", ["erased: `add_1 = add + x`"]),
)
def erases_a_node(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    first, last = (node for node in gm.graph.nodes if node.op == "call_function")
    last.replace_all_uses_with(first)
    gm.graph.eliminate_dead_code()
    return gm


@shows(TRACED, ("first.prepend(second)", ["moved: `y`"]))
def moves_a_node(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    first, second, *_ = gm.graph.nodes
    first.prepend(second)
    return gm


@shows(TRACED, ("rename(node)", ["`add = torch.add(x, y)` becomes `total = torch.add(x, y)`"]))
def renames_a_node(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    node = first_call(gm)
    rename(node)
    return gm


rename = operator.methodcaller("_rename", "total")


@shows(TRACED)
def replaces_arguments_by_equal_ones(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        node.args = tuple(node.args)
    return gm


@shows(
    ("graph = fx.Graph()", ["the graph has 0 nodes"]),
    ('x = graph.placeholder("x")', ["new: `x`"]),
    ("y = graph.call_function(torch.relu, (x,))", ["new: `relu = torch.relu(x)`"]),
    ("graph.output(y)", ["new: `return relu`"]),
)
def builds_a_graph(model: nn.Module) -> fx.GraphModule:
    graph = fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.relu, (x,))
    graph.output(y)
    return fx.GraphModule(model, graph)


@shows(TRACED, ("node.target = operator.sub", ["`add_1 = add + x` becomes `add_1 = add - x`"]))
def changes_a_copy(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    clone = copy.deepcopy(gm)
    for node in clone.graph.nodes:
        if node.target is operator.add:
            node.target = operator.sub
    return clone


@shows(
    TRACED,
    ("node.args = second, first", ["`add = torch.add(x, y)` becomes `add = torch.add(y, x)`"]),
    ("node.args = second, first", ["`add_1 = add + x` becomes `add_1 = x + add`"]),
)
def calls_a_helper(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.op == "call_function":
            swap(node)
    return gm


def swap(node: fx.Node) -> None:
    first, second = node.args
    node.args = second, first


@shows(
    (TRACED[0], ["the first graph has 5 nodes"]),
    ("relu = fx.symbolic_trace(apply_relu)", ["the second graph has 3 nodes"]),
    ("return gm", ["the first graph is returned; it has 5 nodes"]),
)
def returns_the_first_of_two_graphs(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    relu = fx.symbolic_trace(apply_relu)
    assert relu is not gm
    return gm


@pytest.mark.parametrize("answer", FILMS, ids=lambda answer: answer.__name__)
def test_a_film_has_the_steps_that_a_person_would_list(answer: Any) -> None:
    film = film_of(answer)
    assert told(film) == FILMS[answer]
    assert film.total == len(film.steps) and not film.note
    assert film_of(answer) == film
    first = answer.__code__.co_firstlineno
    assert all(step.line > first for step in film.steps)
    rows = [step.rows for step in film.steps]
    assert all(one != other for one, other in zip(rows, rows[1:], strict=False))


class Doubler(fx.Transformer):
    """A transformer, whose methods FX calls."""

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        value = super().call_function(target, args, kwargs)
        return value * 2


def test_a_transformer_is_shown_to_its_last_node() -> None:
    film = film_of(Doubler, "transformer", fx.symbolic_trace(apply_relu))
    steps = told(film)
    assert ("return value * 2", ["in the second graph: new: `mul = relu * 2`"]) in steps
    assert [row.text for row in film.steps[-1].rows][-1] == "return mul"
    assert steps[-1][0] == "" and film.steps[-1].line == 0


def test_a_given_graph_is_shown_before_the_first_line() -> None:
    def erase(gm: fx.GraphModule) -> None:
        gm.graph.output_node().args = (next(iter(gm.graph.nodes)),)

    film = film_of(erase, given=fx.symbolic_trace(apply_relu))
    assert [step.line == 0 for step in film.steps] == [True, False]


# ------------------------------------------------------------------ ends of a run


def fails_after_a_step(model: nn.Module) -> None:
    gm = fx.symbolic_trace(model)
    gm.graph.erase_node(first_call(gm))


def never_ends(model: nn.Module) -> None:
    gm = fx.symbolic_trace(model)
    with gm.graph.inserting_after(first_call(gm)):
        while True:
            gm.graph.call_function(torch.relu, (first_call(gm),))


def swallows_everything(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    end = time.process_time() + 0.4
    while time.process_time() < end:
        try:
            first_call(gm).target = torch.mul
        except BaseException:
            pass
    return gm


def test_an_exception_ends_a_film_with_a_sentence() -> None:
    film = film_of(fails_after_a_step)
    line = fails_after_a_step.__code__.co_firstlineno + 2
    assert told(film) == [TRACED]
    assert film.note.startswith(f"Then line {line} raised `RuntimeError: Tried to erase Node add")
    assert sys.gettrace() is None


@pytest.mark.parametrize("answer", [never_ends, swallows_everything])
def test_a_pass_without_an_end_is_stopped(answer: Any) -> None:
    film = film_of(answer, limits=Limits(cpu=0.1))
    assert told(film)[0] == TRACED and len(film.steps) > 1
    assert film.note.startswith("Your code had not ended after some time")
    assert sys.gettrace() is None


def grows(model: nn.Module) -> fx.GraphModule:
    gm = fx.symbolic_trace(model)
    for _ in range(2 * MOST_STEPS):
        gm.graph.call_function(torch.relu, (first_call(gm),))
    return gm


def test_the_number_of_steps_and_of_lines_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    film = film_of(grows)
    assert len(film.steps) == MOST_STEPS and film.total == 1 + 2 * MOST_STEPS
    monkeypatch.setattr(graph_recorder, "MOST_EVENTS", 20)
    short = film_of(grows)
    assert 1 < short.total < 20 and short.note.startswith("The steps end here")


def test_without_a_graph_there_is_a_sentence() -> None:
    assert film_of(lambda model: 3) == GraphFilm(note=NO_STEPS)
    assert film_of(len, given=[1]) == GraphFilm(note=NO_STEPS)


# ------------------------------------------------------------------ what recording leaves alone


def test_another_tracer_stays_and_nothing_runs() -> None:
    def debugger(*_: Any) -> None: ...

    ran: list[Any] = []
    sys.settrace(debugger)
    try:
        film = film_of(ran.append)
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(None)
    assert film == GraphFilm(note=IN_USE) and ran == []


def test_an_interrupt_passes_and_ends_the_tracing() -> None:
    def interrupted(model: nn.Module) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        film_of(interrupted)
    assert sys.gettrace() is None


def test_looking_makes_no_nodes_and_runs_no_code_of_the_answer() -> None:
    class Odd:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

    def reads_a_shape(model: nn.Module) -> fx.GraphModule:
        odd = Odd()
        gm = fx.symbolic_trace(model)
        tracer = fx.proxy.GraphAppendingTracer(gm.graph)
        size = fx.Proxy(first_call(gm), tracer).shape  # FX makes its node only if it is used
        assert odd is not None and size is not None
        return gm

    assert told(film_of(reads_a_shape)) == [TRACED]


def test_the_random_state_and_the_streams_are_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    def noisy(model: nn.Module) -> None:
        print(torch.rand(3))
        fx.symbolic_trace(model)

    before = torch.get_rng_state()
    film_of(noisy)
    assert torch.equal(before, torch.get_rng_state())
    assert capsys.readouterr().out == ""
