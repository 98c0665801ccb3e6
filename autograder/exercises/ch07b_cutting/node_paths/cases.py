"""Exercise 7b.1: for each node, the module whose forward made it."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    RandomModels,
    Vocabulary,
    ops,
)
from autograder.exercises.ch07b_cutting.node_paths import models

HINTS = (
    """**Where to look.** `LogTracer` in section 7b.1 sees every call and every node.
In place of printing, note a path. Two questions decide the details:
which `forward` is running when a leaf is called, and where are you when a module is done?""",
    """**What to use.** `Tracer.call_module(m, forward, args, kwargs)` is called for each call of a
module, and `Tracer.create_node` makes every node.
`self.path_of_module(m)` gives a module's path.
Only `forward(...)` runs the module's code; the Tracer calls it for modules that are not leaves.
What you note belongs to one Tracer object, and `finally` is reached even if something raises.""",
    """**A skeleton.**

```python
class PathTracer(fx.Tracer):
    def __init__(self):
        super().__init__()
        self.path, self.paths = "", {}

    def call_module(self, m, forward, args, kwargs):
        def inside(*args, **kwargs):
            ...                        # the path of m, only while forward runs
        return super().call_module(m, inside, args, kwargs)

    def create_node(self, *args, **kwargs):
        node = super().create_node(*args, **kwargs)
        ...
        return node
```""",
)


def path_case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *,
    after: tuple[Callable[[], nn.Module], ...] = (),
    training: bool = False,
    change: Callable[[nn.Module], None] | None = None,
) -> Case:
    """A case of one model; the answer is called on the models of `after` first.

    The judge applies `change` after a first call on the model itself.
    """
    return Case(name, aspect, models.PathTrial(make, after, training, change))


VOCABULARY = Vocabulary(
    ops(
        "torch.sin({a})",
        "[nn.Sequential(nn.Tanh(), nn.Sequential(nn.ReLU()))]({a})",
        "[nn.ReLU()]({a})",
        "{a} * [nn.Parameter(torch.ones(()))]",
        "[buffer(torch.ones(()))] + {a}",
        "[nn.Tanh()]([buffer(torch.ones(()))]) + {a}",
        "[nn.Sequential(nn.Sigmoid(), nn.ReLU())][1]({a})",
        "{x} - {b}.sum()",
    )
    + ops(
        "[nn.Linear(D, D)].weight.sum() * {x}",
        "[nn.Sequential(nn.Linear(D, D), nn.Tanh())][0].bias * {x}",
        "[nn.Sequential(nn.Linear(D, D), nn.Sequential(nn.Linear(D, D)))]({x})",
        dims=(1, 4),
    )
    + COMMON,
    inputs=("", "tensor", "row", "default", "star"),
    training=True,
    namesakes=("sin", "part_1"),
    most=6,
)


EXERCISE = Exercise(
    number=1,
    title="Whose forward made this node?",
    stars=2,
    minutes=15,
    points=4,
    kind="repeated_calls",
    aspects=(
        Aspect("task", 2, "the root, and what happens inside of a module"),
        Aspect("calls", 2, "a module that is called twice, by others, or has two names"),
        Aspect("tensors", 2, "parameters and buffers"),
        Aspect("state", 2, "no call sees anything of another one"),
        Aspect("rest", 1, "models of every kind"),
    ),
    cases=(
        path_case("only the root", "task", models.Flat),
        path_case("Sequentials", "task", models.Sequentials),
        path_case("called twice", "calls", models.CalledTwice),
        path_case("a layer called by two", "calls", models.LeafTwice),
        path_case("misleading names", "calls", models.Namesakes),
        path_case("parameters", "tensors", models.Parameters),
        path_case("a buffer for a layer", "tensors", models.Positions),
        path_case("after another model", "state", models.OneChild, after=(models.Deep,)),
        path_case("after a trace that raised", "state", models.Flat, after=(models.Untraceable,)),
        path_case("parameters of every kind", "rest", models.Signature),
        path_case("a model in training mode", "rest", models.Moody, training=True),
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.after_others),
)
