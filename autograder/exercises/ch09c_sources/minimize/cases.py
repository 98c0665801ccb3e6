"""Exercise 9c.2: a bad graph from which nothing more can be removed."""

from __future__ import annotations

from typing import Any

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    Expect,
    RandomModels,
    T,
    Vocabulary,
    ops,
)
from autograder.exercises.ch09c_sources.minimize import models

X = T(2, 3)

HINTS = (
    "One attempt is: copy the graph, take out one node, make a module of the copy, ask `bad`. "
    "If it is still true, continue with the copy; if not, drop it. Write this "
    "attempt first, as a function.",
    "`copy.deepcopy(graph)` keeps names, and `fx.GraphModule(gm, graph)` shares parameters. "
    "`node.replace_all_uses_with(other)` and `graph.erase_node(node)` take one out. What could "
    "not be taken out in one round may go in the next one, when something else is gone. "
    "`eliminate_dead_code` also takes calls that `bad` may need.",
    "```python\n"
    "def still_bad(module):\n"
    "    try:\n"
    "        return ...\n"
    "    except Exception:\n"
    "        return ...\n\n"
    "if not still_bad(gm):\n"
    "    raise ...\n"
    "graph = copy.deepcopy(gm.graph)\n"
    "found = True\n"
    "while found:\n"
    "    found = False\n"
    "    for name in [...]:                       # of the calls that are left\n"
    "        for which in ...:                    # its inputs; or nothing, if nobody reads it\n"
    "            smaller = ...                    # a copy of `graph`, without this node\n"
    "            if still_bad(fx.GraphModule(gm, smaller)):\n"
    "                graph, found = ..., ...\n"
    "                break\n"
    "...                                          # `get_attr` nodes that nobody reads\n"
    "```",
)


def asked(
    name: str,
    aspect: str,
    make: Any,
    kind: type[models.Bad],
    *about: Any,
    inputs: tuple[Any, ...] = (X,),
    training: bool = False,
    expect: Expect = Expect(trace=models.itself),  # noqa: B008 - it is frozen
) -> Case:
    """A case: a model, and the question whether a graph module is bad; see `models.Asked`."""
    return Case(name, aspect, models.Asked(make, kind, about, inputs, training), expect)


REFUSED = Expect(
    raises="ValueError",
    advice="What does `bad` say of the module that you are given?",
    trace=models.itself,
)


EXERCISE = Exercise(
    number=2,
    title="Nothing more can be taken out",
    stars=3,
    minutes=25,
    points=5,
    kind="transform",
    aspects=(
        Aspect("task", 2, "still bad, and no call can be taken out"),
        Aspect("inputs", 1, "readers may read any of a node's inputs instead"),
        Aspect("unread", 1, "nodes that nobody reads: most can go, some are needed"),
        Aspect("rounds", 1, "what can be taken out only after something else"),
        Aspect("kept", 1, "signature, structure of the result, order, and parameters"),
        Aspect("asks", 1, "what `bad` is asked about, and what it raises"),
    ),
    cases=(
        asked("one of a chain", "task", models.Straight, models.Calls, "relu", 1),
        asked("a NaN", "rounds", models.Logs, models.NotANumber),
        asked("the second input", "inputs", models.Branches, models.Depends, "cos",
              inputs=(X, X)),
        asked("two readers of one value", "inputs", models.Fork, models.Depends,
              "sin", "cos", "exp"),
        asked("an input that has none", "inputs", models.made, models.Depends, "add"),
        asked("an unread call without inputs goes", "unread", models.made, models.Depends, "neg"),
        asked("an unread call stays", "unread", models.Unread, models.Calls, "exp", 1),
        asked("a dictionary of all kinds", "kept", models.Structured, models.Calls, "cos", 1),
        asked("called with keywords", "kept", models.Inside, models.Depends, "mul"),
        asked("both calls of a layer", "kept", models.Layers, models.Reads, "relu", "Linear",
              training=True),
        asked("parameters that are read", "kept", models.Weighted, models.Depends, "mul", "sub"),
        asked("a parameter that is read for nothing", "kept", models.ReadForNothing,
              models.Depends, "sin"),
        asked("it may raise", "asks", models.Early, models.Begins, "sigmoid"),
        asked("not bad at all", "asks", models.Straight, models.Calls, "cos", 1, expect=REFUSED),
    ),
    fine_print={
        (
            "Placeholders, the structure of the output and the order of the nodes stay, and "
            "parameters are shared."
        ): (
            "a dictionary of all kinds",
        ),
        "If `bad` raises, that counts as false.": (
            "it may raise",
        ),
    },
    hints=HINTS,
    random=RandomModels(
        Vocabulary(
            ops("{a} + {b}", "{x}.mul_({n})", "torch.sin({a})")
            + ops("{a} * [nn.Parameter(torch.ones(()))]")
            + ops("torch.exp({a})", "{a}.cos()", outs=0)
            + COMMON,
            shapes=((2, 3), (3,)),
            most=5,
        ),
        models.with_question,
        count=10,
        expect=Expect(trace=models.itself),
    ),
)  # fmt: skip
