"""Exercise 2.4: values that never reach the output."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn

from autograder.authoring.question import (
    COMMON,
    INPUT_KINDS,
    Aspect,
    Case,
    Exercise,
    RandomModels,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch02_nodes import models as shared
from autograder.exercises.ch02_nodes.dead_nodes import models

HINTS = (
    "A node is alive if it is the output, or if a node that is alive reads it. "
    "The worked example of section 2.5 walks from the inputs; you need the other direction.",
    "`reversed(graph.nodes)` goes backward. When you meet a node there, you have met all its "
    "`users` already.",
    "```python\n"
    "alive = set()\n"
    "for node in reversed(graph.nodes):\n"
    "    if ...:  # the output, or read by something alive\n"
    "        alive.add(node)\n"
    "return [...]  # in graph order again: not alive, and no placeholder\n"
    "```",
)


def dead_case(name: str, aspect: str, make: Callable[[], nn.Module], **more: Any) -> Case:
    """A case in which the answer must not use PyTorch's own dead code elimination."""
    return model_case(name, aspect, make, forbidden=models.NO_ELIMINATION, **more)


VOCABULARY = Vocabulary(
    ops(
        "torch.relu({a})",
        "{a}.relu()",
        "[nn.ReLU()]({a})",
        "[nn.Parameter(torch.ones(()))] * {a}",
        "torch.add({a}, other={b})",
        "torch.stack([{x}, {y}]).mean(0)",
        "torch.zeros(3).sum() * {a} * [buffer(torch.ones(()))]",
    )
    + ops(
        "torch.exp(torch.neg({a}))",
        "[nn.Parameter(torch.ones(()))].exp().neg()",
        "[nn.ReLU()]({a}).abs()",
        "[buffer(torch.ones(()))] + 1",
        "[{a}.neg(), {'one': {b}.abs()}]",
        outs=0,
    )
    + ops(
        "{x}[{x}.dim() - {x}.dim() : {y}.size(0)]",
        "F.pad({x}, [0, {a}.dim() * 0])",
        dims=(1, 4),
    )
    + COMMON,
    results=("value", "tuple", "dict", "nested", "nothing"),
    inputs=INPUT_KINDS,
    namesakes=("unused", "dead"),
)

EXERCISE = Exercise(
    number=4,
    title="Values that are never needed",
    stars=2,
    minutes=10,
    points=4,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "whole chains of dead nodes are found, and nothing that is needed"),
        Aspect("ways", 1, "values are followed through containers, modules and tensors"),
        Aspect("names", 1, "names of a fresh trace, in graph order, and never a placeholder"),
    ),
    cases=(
        dead_case("a dead chain", "task", models.DeadChain),
        dead_case("dead and useful nodes take turns", "task", shared.TwoBranches),
        dead_case("dead twins of useful calls", "task", models.DeadTwins),
        dead_case("names like those of in-place calls", "task", models.LooksInPlace),
        dead_case("a long dead chain", "task", partial(models.DeadSines, 30)),
        dead_case("a shorter dead chain", "task", partial(models.DeadSines, 3)),
        dead_case("in training mode", "task", models.ByMode, training=True),
        dead_case("a dead module and a dead parameter", "ways", shared.DeadTensorAndModule),
        dead_case("useful through containers", "ways", shared.ThroughContainers),
        dead_case("None is returned", "ways", models.ReturnsNothing),
        dead_case(
            "useful through containers among keywords",
            "ways",
            models.KeywordContainers,
            functions={"pick": models.pick},
        ),
        dead_case("parameters that nothing reads", "names", shared.DeadPlaceholder),
        dead_case("a graph module with its own names", "names", shared.renamed),
    ),
    hints=HINTS,
    forbidden_words=("eliminate_dead_code",),
    random=RandomModels(VOCABULARY, models.without_elimination, count=14),
)
