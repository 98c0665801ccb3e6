"""Exercise 11.1: a backend that counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from autograder.authoring.question import Aspect, Case, Exercise, T
from autograder.exercises.ch11_pytorch2.CountingBackend import models
from autograder.exercises.ch11_pytorch2.models import Driven

X = T(2, 3)

HINTS = (
    "A backend is anything that can be called with a graph module and example inputs. An object "
    "can be called if its class has a certain method. What belongs into that method, and what into "
    "`__init__`?",
    "`target.__name__` is the name of a function, the target of a method is its name already, and "
    "`gm.get_submodule(target)` is the module. `Counter.update` takes a list of names. "
    "The graph module itself can be called: it is a backend's simplest result.",
    "```python\n"
    "def __init__(self):\n"
    "    ...                             # no graph so far, and no operation\n\n"
    "def __call__(self, gm, example_inputs):\n"
    "    ...                             # one graph more\n"
    "    for node in gm.graph.nodes:\n"
    "        if ...:\n"
    "            self.ops[...] += 1\n"
    "    return ...\n"
    "```",
)


def case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *inputs: tuple[Any, ...],
    drive: Callable[..., Any] = models.Counting,
) -> Case:
    """A case in which the answer's class makes backends."""
    return Case(name, aspect, Driven(drive, make, inputs))


SINGLE = T(2, 3, dtype=torch.float32)

EXERCISE = Exercise(
    number=1,
    title="A backend that counts",
    stars=2,
    minutes=12,
    points=4,
    kind="compiler_backend",
    aspects=(
        Aspect("task", 2, "graphs and operations are counted when a graph is compiled"),
        Aspect("graphs", 1, "further compilations and both sides of a graph break count"),
        Aspect("names", 2, "functions, methods and modules, each by its name, dead ones too"),
        Aspect("own", 1, "each backend has figures of its own"),
        Aspect("runs", 1, "the graph runs as it is; compiling changes nothing and runs nothing"),
    ),
    cases=(
        case("three operations", "task", models.ThreeCalls, (X,)),
        case("run again", "task", models.Repeated, (X,), (X,)),
        case("another dtype", "graphs", models.ThreeCalls, (X,), (SINGLE,), (X,)),
        case("a graph break", "graphs", models.Break, (X,)),
        case("layers", "names", models.Layers, (X,)),
        case("names alike", "names", models.Alike, (X,), drive=models.CountingByHand),
        case("two backends", "own", models.ThreeCalls, (X,), (X,), drive=models.TwoBackends),
        case("gradients", "runs", models.Layers, (X,), drive=models.Training),
        case(
            "gradients of the graph's own parameters", "runs", models.Block, (X,),
            drive=models.TrainingByHand,
        ),
        case("nothing else happens", "runs", models.Notes, (X, X), drive=models.CountingByHand),
    ),
    fine_print={
        "Each backend has figures of its own.": ("two backends",),
        (
            "The backend may also be called by hand, as `backend(gm, example_inputs)`, with "
            "graphs that contain modules."
        ): (
            "names alike",
            "gradients of the graph's own parameters",
            "redraw: one graph twice, by hand",
            "redraw: no operation, by hand",
            "redraw: attributes and a default, by hand",
        ),
    },
    hints=HINTS,
    not_random="twenty models would have to be compiled, which takes much longer than all cases; "
    "a backend that counts does not look at what a graph computes",
)  # fmt: skip
