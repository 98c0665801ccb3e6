"""Exercise 2.1: count nodes by kind."""

from __future__ import annotations

from autograder.authoring.question import (
    CALL_OPS,
    COMMON,
    INPUT_KINDS,
    Aspect,
    Exercise,
    RandomModels,
    Vocabulary,
    model_case,
    perhaps_renamed,
)
from autograder.exercises.ch02_nodes import models as shared
from autograder.exercises.ch02_nodes.count_ops import models

HINTS = (
    "Section 2.1 shows a loop over the nodes of a graph. The worked example `readers` counts in "
    "the same way that you need, and its keys are always there.",
    "`fx.symbolic_trace(model).graph.nodes` are the nodes, `node.op` is the opcode. "
    "`dict.fromkeys(names, 0)` makes a dictionary in which every count is zero.",
    "```python\n"
    "counts = ...  # all six opcodes, each with the count 0\n"
    "for node in ...:\n"
    "    ...  # one more of this node's opcode\n"
    "return counts\n"
    "```",
)

VOCABULARY = Vocabulary(
    CALL_OPS + COMMON, inputs=INPUT_KINDS, training=True, namesakes=("get_attr", "placeholder")
)


EXERCISE = Exercise(
    number=1,
    title="Count nodes by kind",
    stars=1,
    minutes=5,
    points=2,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "the nodes of each opcode are counted"),
        Aspect("keys", 1, "all six opcodes are keys, even if they do not occur"),
        Aspect("graphs", 1, "every node of the trace counts, in models of every kind"),
    ),
    cases=(
        model_case("all six opcodes", "task", shared.AllSix),
        model_case("submodules only", "keys", models.OnlyModules),
        model_case("called twice", "graphs", models.CalledTwice, training=True),
        model_case("submodules of submodules", "graphs", shared.Nested),
        model_case("a graph module, traced again", "graphs", models.called_as_one),
        model_case("in training mode", "graphs", models.NoiseWhileTraining, training=True),
        model_case("in eval mode", "graphs", models.NoiseWhileTraining),
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY, perhaps_renamed),
)
