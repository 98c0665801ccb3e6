"""Exercise 0.1: the names of all nodes, as a first example of a check cell."""

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
    "Compare the expected list on the card with the printed graph of the model. "
    "Which part of each line of `print(gm.graph)` does the task want?",
    "`fx.symbolic_trace(model)` gives a `GraphModule`. Its nodes are in `.graph.nodes`, in "
    "order. A node has `.op`, `.name`, `.target`, `.args` and `.kwargs`.",
    """```python
gm = ...            # trace
result = []
for node in ...:    # all nodes, in order
    result.append(...)
return result
```""",
)

VOCABULARY = Vocabulary(
    CALL_OPS + COMMON, inputs=INPUT_KINDS, training=True, namesakes=MISLEADING_NAMES
)

EXERCISE = Exercise(
    number=1,
    title="The names of all nodes",
    stars=1,
    minutes=5,
    points=2,
    kind="analysis",
    first_try="return [node.op for node in gm.graph.nodes]",
    aspects=(
        Aspect("task", 1, "every node's name, in the order of the graph"),
        Aspect("places", 1, "names, not targets; of a fresh trace, in the model's own mode"),
    ),
    cases=(
        model_case("two operations", "task", models.ReluPlusOne),
        model_case("several inputs and a dead node", "task", models.UnusedParts),
        model_case("names of builtins", "places", models.BuiltinNames),
        model_case("a nested module called twice", "places", models.SharedAct),
        model_case("in training mode", "places", models.NoiseInTraining, training=True),
        model_case("a graph module with other names", "places", models.renamed),
        model_case("a longer chain", "places", models.SineChain),
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY, perhaps_renamed),
)
