"""Exercise 5.1: a graph that Proxies record, without tracing."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.authoring.question import Aspect, Case, Exercise, T
from autograder.exercises.ch05_proxy.build_with_proxies.models import InputsTrial

HINTS = (
    """**Where to look.** Section 5.1 builds a graph in five steps.
Your graph has the same steps, with other operations and with two inputs.""",
    """**What to use.** `fx.Graph()`, `GraphAppendingTracer(graph)`, `graph.placeholder`,
`fx.Proxy(node, tracer)`, `graph.output`, `fx.GraphModule`.
The output wants a node; a Proxy knows its node as `.node`.""",
    """**A skeleton.**

```python
graph = fx.Graph()
tracer = ...                               # one for all Proxies
x = fx.Proxy(graph.placeholder("x"), tracer)
y = ...
result = ...                               # the formula, as you would write it for tensors
graph.output(...)                          # a node
return fx.GraphModule(..., graph)          # nothing is read from the root here
```""",
)


def inputs_case(name: str, aspect: str, *inputs: Sequence[T]) -> Case:
    """A case of `build_with_proxies`: inputs for the returned module."""
    return Case(name, aspect, InputsTrial(inputs))


EXERCISE = Exercise(
    number=1,
    title="A graph from Proxies",
    stars=1,
    minutes=8,
    points=2,
    kind="transform",
    aspects=(
        Aspect("task", 3, "Proxies record the formula, and nothing that is not used"),
        Aspect("inputs", 1, "it holds for inputs of every shape"),
    ),
    cases=(
        inputs_case("two vectors", "task", (T(3), T(3)), (T(2), T(4))),
        inputs_case("matrices of different heights", "inputs", (T(2, 3), T(4, 3))),
        inputs_case("three dimensions", "inputs", (T(1, 2, 2), T(3, 2, 2))),
    ),
    hints=HINTS,
    forbidden_words=("symbolic_trace", "trace"),
    not_random="it takes no model: there is one formula to record",
)
