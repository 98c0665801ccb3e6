"""Exercise 7.2: for each node, the module in whose forward it was made."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from autograder.core.exercise import Aspect, Case, Exercise, Trial
from autograder.models import fresh, resnets
from autograder.models import networks as networks
from autograder.models import paths as zoo
from autograder.rubric.paths import path_for_each_node
from autograder.rules.passes import caller_untouched
from autograder.rules.values import returns
from autograder.syllabus.features import drawn_paths

Make = Callable[[], nn.Module]

HINTS = (
    """**Where to look.** `LogTracer` in section 7.4 sees every call and every node.
In place of printing, note a path. Two questions decide the details:
which `forward` is running when a leaf is called, and where are you when a module is done?""",
    """**What to use.** `Tracer.call_module(m, forward, args, kwargs)` is called for each call of a
module, and `Tracer.create_node` makes every node, whoever asks for it.
`self.path_of_module(m)` gives a module's path.
Only `forward(...)` runs the module's code; the Tracer calls it for modules that are no leaves.
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
    make: Make,
    *,
    after: tuple[Make, ...] = (),
    training: bool = False,
    hidden: bool = False,
) -> Case:
    """A case of one model; the answer is called on the models of `after` before."""

    def trial(seed: int) -> Trial:
        model = fresh(make, seed, training=training)
        return Trial(args=(model,), model=model, watch=tuple(fresh(m, seed) for m in after))

    return Case(name, aspect, trial, hidden)


NODE_PATHS = Exercise(
    name="node_paths",
    chapter="07_features",
    title="Whose forward made this node?",
    stars=2,
    minutes=15,
    points=4,
    procedure="after others",
    aspects=(
        Aspect("task", 2, "the root, and what happens inside of a module"),
        Aspect("calls", 2, "a module that is called twice, by others, or has two names"),
        Aspect("tensors", 2, "parameters and buffers"),
        Aspect("state", 2, "no call sees anything of another one"),
        Aspect("rest", 1, "models of every kind"),
    ),
    cases=(
        path_case("only the root", "task", zoo.Flat),
        path_case("before, inside and after", "task", zoo.OneChild),
        path_case("two levels down", "task", zoo.Deep),
        path_case("Sequentials", "task", zoo.Sequentials),
        path_case("functions that modules call", "task", zoo.Helpers),
        path_case("called twice", "calls", zoo.CalledTwice),
        path_case("a layer called by two", "calls", zoo.LeafTwice),
        path_case("called from elsewhere", "calls", zoo.Reaching),
        path_case("two names", "calls", zoo.Shared),
        path_case("misleading names", "calls", zoo.Namesakes),
        path_case("parameters", "tensors", zoo.Parameters),
        path_case("buffers", "tensors", zoo.Buffers),
        path_case("a buffer for a layer", "tensors", zoo.Positions),
        path_case("a buffer of a submodule for a layer", "tensors", zoo.Encoded),
        path_case("after another model", "state", zoo.OneChild, after=(zoo.Deep,)),
        path_case("after the same kind of model", "state", zoo.Flat, after=(zoo.Flat,)),
        path_case("after a trace that raised", "state", zoo.Flat, after=(zoo.Untraceable,)),
        path_case("before and after a trace that raised", "state", zoo.Deep,
                  after=(zoo.OneChild, zoo.Untraceable)),
        path_case("parameters of every kind", "rest", zoo.Signature),
        path_case("a named tuple", "rest", zoo.NamedTuple),
        path_case("a subclass of nn.Linear", "rest", zoo.Subclassed),
        path_case("a model in training mode", "rest", zoo.Moody, training=True),
        path_case("a graph module", "rest", zoo.graph_module),
        path_case("a graph module inside", "rest", zoo.AroundATrace),
        path_case("an encoder", "rest", networks.Encoder),
        path_case("a ResNet", "rest", resnets.OneBlockEach),
        path_case("redraw: nested", "task", zoo.AroundATrace, hidden=True),
        path_case("redraw: calls", "calls", zoo.Shared, after=(zoo.Shared,), hidden=True),
        path_case("redraw: a buffer", "tensors", zoo.Positions, after=(zoo.Encoded,), hidden=True),
        path_case("redraw: after others", "state", zoo.CalledTwice,
                  after=(zoo.Untraceable, zoo.Sequentials), hidden=True),
    ),
    rubric=(
        returns("dict").because("names the kind that came back, before any path is compared"),
        caller_untouched,
        path_for_each_node,
    ),
    hints=HINTS,
    random=drawn_paths.PATHS,
)  # fmt: skip
