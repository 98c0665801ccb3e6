"""Exercise 1.1: a table of all nodes."""

from __future__ import annotations

from autograder.authoring.question import (
    CALL_OPS,
    COMMON,
    INPUT_KINDS,
    MISLEADING_NAMES,
    Aspect,
    Exercise,
    RandomModels,
    Vocabulary,
    model_case,
    perhaps_renamed,
)
from autograder.models import tracing as models

HINTS = (
    "Take the model of the failing card and draw it. Count the arrows that go into a box and "
    "those that leave it. Two arrows between the same two boxes count once.",
    "Section 1.2 prints a similar table. `node.all_input_nodes` looks into nested arguments; "
    "`node.users` is a dictionary with one key for each reader.",
    """```python
gm = ...
rows = []
for node in gm.graph.nodes:
    inputs = ...    # how many different nodes it reads
    users = ...     # how many nodes read it
    rows.append((node.op, ..., inputs, users))
return rows
```""",
)

VOCABULARY = Vocabulary(
    CALL_OPS + COMMON, inputs=INPUT_KINDS, training=True, namesakes=MISLEADING_NAMES
)

EXERCISE = Exercise(
    number=1,
    title="A table of all nodes",
    stars=1,
    minutes=10,
    points=2,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "one row for each node, with its opcode and its name"),
        Aspect("inputs", 1, "distinct input nodes are counted, however deeply they are nested"),
        Aspect("users", 1, "readers are counted, each once, in a fresh trace in the model's mode"),
    ),
    cases=(
        model_case("two operations", "task", models.ReluPlusOne),
        model_case("a graph module with other names", "users", models.renamed),
        model_case("in training mode", "users", models.NoiseInTraining, training=True),
        model_case("x + x", "inputs", models.Doubled),
        model_case("keyword arguments", "inputs", models.KeywordCalls),
        model_case("nodes in a slice", "inputs", models.SliceOfSize),
        model_case("a nested output", "inputs", models.NestedOutput),
        model_case("the readers in x + x", "users", models.Doubled),
        model_case("values without readers", "users", models.UnusedParts),
        model_case("a longer chain", "users", models.SineChain),
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY, perhaps_renamed),
)
