"""Exercise 6.4: a Transformer that replaces additions and keeps `meta`."""

from __future__ import annotations

from typing import Any

from autograder.authoring.question import Aspect, Case, Exercise, RandomModels, T
from autograder.exercises.ch03_manipulation.add_to_mul.cases import VOCABULARY
from autograder.exercises.ch06_interpreter.AddToMul import models
from autograder.exercises.ch06_interpreter.cases import X, class_case
from autograder.models import additions
from autograder.models.running import Make

HINTS = (
    "Two tasks. The exchange is the one of chapter 3, but here each addition passes through a "
    "handler. For the `meta`, find the one method through which every node passes.",
    "In a `Transformer` the value of a node is a `Proxy`, and `proxy.node` is the new node. "
    "`run_node` returns that Proxy, and the node that it was made from is its argument. "
    "One opcode makes no new node: look up what `output` returns.",
    "```python\n"
    "def run_node(self, n):\n"
    "    result = super().run_node(n)\n"
    "    if ...:  # this result is a node made for n\n"
    "        result.node.meta.update(...)\n"
    "    return result\n"
    "```",
)


def add_case(name: str, aspect: str, make: Make, *inputs: tuple[Any, ...]) -> Case:
    """A case of `AddToMul` in which every node has entries in its ``meta``."""
    return class_case(name, aspect, make, *inputs, tag=models.tag_all)


WIDE = T(4, 3)


EXERCISE = Exercise(
    number=4,
    title="A Transformer that keeps `meta`",
    stars=2,
    minutes=15,
    points=4,
    kind="transformer",
    aspects=(
        Aspect("task", 2, "`torch.add` and `+` become multiplications"),
        Aspect("method", 2, "so does the method `add`, also of a buffer"),
        Aspect("alpha", 2, "`alpha=1` goes, any other `alpha` keeps the addition"),
        Aspect("in place", 1, "in-place additions, and other operations, stay"),
        Aspect("meta", 2, "each node keeps its own `meta`, whatever its opcode"),
    ),
    cases=(
        class_case("torch.add", "task", additions.OneAdd, (X, X), (X, T(3))),
        class_case("torch.add, by keyword", "task", additions.KeywordAdd, (X, X)),
        class_case("numbers", "task", additions.ReflectedAdd, (X,), (T(5),)),
        class_case("the method alone", "method", additions.OneMethodAdd, (X, X)),
        class_case("an alpha", "alpha", additions.AlphaFunction, (X, X)),
        class_case("an alpha of 1", "alpha", additions.AlphaOne, (X, X)),
        class_case("an alpha of 1.0", "alpha", additions.AlphaFloatOne, (X, X)),
        class_case(
            "an alpha that is computed", "alpha", additions.AlphaComputed, (X, X), (X, X, 3)
        ),
        class_case("an alpha of 0, and of -1", "alpha", additions.AlphaZero, (X, X)),
        class_case("an alpha of 1.5, and of 1.25", "alpha", additions.AlphaFraction, (X, X)),
        class_case("in place", "in place", additions.InPlaceAdd, (X, X)),
        class_case("an operator in place", "in place", additions.InPlaceOperator, (X, X)),
        add_case("marks on a few nodes", "meta", additions.OneAdd, (X, X)),
        add_case("marks on all kinds of nodes", "meta", additions.NestedAdds, (X,), (WIDE,)),
    ),
    fine_print={
        "An `alpha` that is computed is a Proxy here, and not 1.": ("an alpha that is computed",),
        "In-place additions stay: `a.add_(b)`, and nodes that call `operator.iadd`.": (
            "in place",
            "an operator in place",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.tagged, count=16),
)
