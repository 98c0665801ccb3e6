"""Chapter 00: the exercise that shows what a check cell does."""

from __future__ import annotations

from autograder.core.exercise import Aspect, Exercise
from autograder.models import model_case
from autograder.models import tracing as zoo
from autograder.rules.passes import caller_untouched
from autograder.rules.values import returns, right_value
from autograder.syllabus.nodes_random import NAMES

NODE_NAMES = Exercise(
    name="node_names",
    chapter="00_start",
    title="The names of all nodes",
    stars=1,
    minutes=5,
    points=2,
    procedure="analysis",
    aspects=(
        Aspect("task", 1, "every node's name, in the order of the graph"),
        Aspect("places", 1, "names, not targets; of a fresh trace, in the model's own mode"),
    ),
    cases=(
        model_case("two operations", "task", zoo.ReluPlusOne),
        model_case("one operation twice", "task", zoo.TanhTwice),
        model_case("several inputs and a dead node", "task", zoo.UnusedParts),
        model_case("names of builtins", "places", zoo.BuiltinNames),
        model_case("a nested module called twice", "places", zoo.SharedAct),
        model_case("a parameter and a buffer", "places", zoo.NestedTensors),
        model_case("star arguments", "places", zoo.StarArguments),
        model_case("in training mode", "places", zoo.NoiseInTraining, training=True),
        model_case("a graph module with other names", "places", zoo.renamed),
        model_case("another model", "task", zoo.ManyReaders, hidden=True),
        model_case("another graph", "places", zoo.KeywordCalls, hidden=True),
    ),
    rubric=(
        returns("list").because("names the kind that came back, before names are compared"),
        caller_untouched,
        right_value,
    ),
    hints=(
        "Compare the expected list on the card with the printed graph of the model. "
        "Which part of each line of `print(gm.graph)` is asked for?",
        "`fx.symbolic_trace(model)` gives a `GraphModule`. Its nodes are in `.graph.nodes`, in "
        "order. A node has `.op`, `.name`, `.target`, `.args` and `.kwargs`.",
        """```python
gm = ...            # trace
result = []
for node in ...:    # all nodes, in order
    result.append(...)
return result
```""",
    ),
    random=NAMES,
)

EXERCISES = (NODE_NAMES,)
