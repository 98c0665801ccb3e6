"""Exercise 7.2: your own extractor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import nn

from autograder.authoring.question import (
    Aspect,
    Case,
    Exercise,
    Expect,
    InEvaluation,
    RandomModels,
    Recipe,
    T,
    Vocabulary,
    model_case,
    ops,
    renumbered,
)
from autograder.exercises.ch07_features.extract import models
from autograder.exercises.ch07_features.extract import models_overwritten as places

X, WIDE = T(2, 3), T(4, 3)

HINTS = (
    """**Where to look.** There are three questions, and each has a section above.
Which node does a name mean? Which nodes does a value need, in-place calls among them?
Which values are overwritten later?
Answer them in this order, each with a loop of its own.""",
    """**What to use.** For the first question, go through the nodes once and let a later call of a
module replace the earlier one. For the second, go through `reversed(gm.graph.nodes)` with a set of
nodes that are needed and a set of storages that are read later.
Name a *storage* after the node that made it: a view has the storage of its input.
For the third, `graph.call_method("clone", (node,))` directly after the node.""",
    """**A skeleton.**

```python
gm = ...
meant = {}                                 # name to node
for node in ...:
    ...                                    # names of nodes first, names of modules win
for name in wanted:
    if name not in meant:
        raise ...

storage = {}                               # node to the node that made its storage
for node in gm.graph.nodes:
    storage[node] = ...                    # an alias has the storage of its input

needed, read = set(), set()
for node in reversed(gm.graph.nodes):
    if ... or ... or (changes_in_place(node) and storage[node] in read):
        needed.add(node)
        ...
...                                        # clones, the output, erasing, modules, recompile
```""",
)


def take(
    name: str, aspect: str, make: Any, wanted: dict[str, str], *inputs: Any, **options: Any
) -> Case:
    """A case that asks for some values of a model."""
    plain = model_case(name, aspect, make, *(inputs or ((X,),)), **options)
    return replace(plain, make=models.Wanting(plain.make, wanted))


def unknown(name: str, make: type[nn.Module], missing: str, *known: str, **options: Any) -> Case:
    """A case with a name that its model does not have."""
    wanted = {each: each for each in (*known, missing)}
    advice = f"No node and no leaf module is called {missing!r}. Your function must say so."
    expect = Expect(raises="ValueError", names=missing, advice=advice)
    return take(name, "errors", make, wanted, expect=expect, **options)


VOCABULARY = Vocabulary(
    ops(
        "F.relu({x}, inplace=True)",
        "[nn.ReLU(inplace=True)]({x})",
        "[nn.Hardtanh(-0.5, 0.5, inplace=True)](input={x})",
        "[nn.Dropout(0.5)]({x}).mul_(3)",
        "F.dropout({x}, 0.5, training=False).neg_()",
        "torch.relu_({x}.detach())",
        "[nn.Identity()]({x}).add_(1)",
        outs=0,
    )
    + ops(
        "{x}[0].neg_()",
        "{x}.narrow(0, 0, 1).mul_({n})",
        "torch.neg_({x}.view(-1))",
        "torch.reshape(input={x}, shape=(-1,)).relu_()",
        "{x}.chunk(2, dim=-1)[0].mul_(2)",
        "torch.split({x}, 1, dim=-1)[0].neg_()",
        "[nn.Flatten(0)]({x}).sub_(1)",
        "F.relu(input={x}.unsqueeze(0).squeeze(0), inplace=True)",
        dims=(1, 4),
        outs=0,
    )
    + ops("{x}.T.mul_(2)", "{x}.transpose(0, 1).neg_()", dims=(2, 2), outs=0)
    + ops(
        "{x}.add_({b})",
        "{a} + {b}",
        "F.relu({x}, inplace=True)",
        "[nn.Tanh()]([=nn.Tanh()]({a}))",
        "[nn.Sigmoid()]({a}) - [=nn.Sigmoid()]({b})",
        "{x}.view({x}.shape)",
        "{a} * [nn.Parameter(torch.ones(()))]",
        "{a} - [buffer(torch.ones(()))]",
        "torch.where({a} > {n}, {a}, {b})",
    )
    + ops("[nn.Linear(D, D)]({x})", dims=(1, 4)),
    shapes=((2, 3), (2, 3), (3,), (), (2, 3), (2, 1, 3), (2, 3), (1, 2, 4, 4)),
    namesakes=("tanh", "sub", "add_1", "sigmoid_1"),
    most=10,
)


def told(recipe: Recipe) -> Expect:
    """The expectation of a random case: an error if `some_wanted` asks for an unknown name."""
    if recipe.choice % 8 != 7:
        return Expect()
    advice = "A name that is neither a node's nor a module's must raise a `ValueError`."
    return Expect(raises="ValueError", names=models.UNKNOWN, advice=advice)


EXERCISE = Exercise(
    number=2,
    title="An extractor of your own",
    stars=3,
    minutes=35,
    points=8,
    kind="extraction",
    aspects=(
        Aspect("names", 3, "names of nodes and of modules mean what they should mean"),
        Aspect("order", 1, "the keys come in the order of `wanted`"),
        Aspect("pruned", 3, "what no wanted value needs is gone"),
        Aspect("in place", 3, "values are returned as they were when computed"),
        Aspect("alias", 3, "through an alias, too"),
        Aspect("errors", 1, "an unknown name gets an error"),
        Aspect("rest", 2, "signatures, modes, and models of every kind"),
    ),
    cases=(
        take(
            "two layers",
            "names",
            models.Small,
            {"tanh": "hidden", "second": "scores"},
            (X,),
            (T(5, 3),),
        ),
        take("earlier calls", "names", models.Repeated, {"act": "last", "act_1": "middle"}),
        take("one node by two names", "names", models.Nested, {"body.0.0": "a", "body_0_0": "b"}),
        take(
            "against the graph's order",
            "order",
            models.Nested,
            {"head": "z", "body.1.1": "y", "stem": "x", "body.0.0": "w"},
        ),
        take(
            "one after the other",
            "in place",
            places.Several,
            {"linear": "a", "act": "b", "add_": "c", "mul_": "d", "sin": "e", "sub": "f"},
        ),
        take("an input", "in place", places.OverInput, {"x": "before", "linear": "after"}),
        take("what a call in place takes over", "in place", places.FromAnother, {"mul": "mul"}),
        take("a transpose", "alias", places.ThroughTranspose, {"sin": "before", "add": "after"}),
        take(
            "a reshape",
            "alias",
            places.ThroughReshape,
            {"linear": "before", "narrow": "row", "sub": "after"},
        ),
        take(
            "detach, expand, unbind",
            "alias",
            places.ThroughDetach,
            {"linear": "before", "mul": "after"},
        ),
        take(
            "modules that pass on",
            "alias",
            places.ThroughModules,
            {"linear": "before", "rest.1": "same", "mul": "after"},
        ),
        take(
            "a dropout that does nothing",
            "alias",
            places.ThroughDropout,
            {"linear": "before", "mul": "after"},
        ),
        take("swapped axes", "alias", places.ThroughSwap, {"linear": "before", "mul": "after"}),
        take("an einsum", "alias", places.ThroughEinsum, {"linear": "before", "mul": "after"}),
        take(
            "the second of two inputs",
            "alias",
            places.ThroughBroadcast,
            {"linear": "before", "mul": "after"},
        ),
        take("and, or", "pruned", places.PureLogic, {"gt": "positive", "or_": "either"}),
        take("not in place", "pruned", places.SwitchedOff, {"exp": "exp"}),
        take("read by a call in place", "pruned", places.ReadInPlace, {"exp": "exp"}),
        take(
            "a part of a split",
            "alias",
            places.AliasThenMore,
            {"linear": "before", "getitem": "top", "exp": "exp"},
        ),
        take(
            "casts, one by one",
            "alias",
            places.CastsOneByOne,
            {"linear": "a", "sin": "b", "cos": "c", "tanh": "d", "mul_2": "after"},
        ),
        unknown("a module that is not a leaf", models.Nested, "body.0", "stem"),
        unknown("a parameter with dots", models.Weighted, "linear.weight", "linear"),
        take(
            "parameters of every kind",
            "rest",
            models.Signature,
            {"sin": "sin"},
            (X, 1, 3.0, X),
            (X, X, 2.0, X),
        ),
        take(
            "a model in training mode",
            "rest",
            models.Normed,
            {"norm": "norm", "mul": "mul"},
            (WIDE,),
            training=True,
            prepare=InEvaluation("act"),
        ),
        take("a graph module", "rest", renumbered, {"add_1": "sum"}),
    ),
    fine_print={
        "If a name is both a node's and a module's, it means the last call of the module.": (
            "earlier calls",
        ),
        (
            "Unless an operation is known to make a new storage, assume that its result "
            "shares that of its inputs."
        ): (
            "what a call in place takes over",
            "a transpose",
            "a reshape",
            "detach, expand, unbind",
            "modules that pass on",
            "a dropout that does nothing",
            "swapped axes",
            "an einsum",
            "a part of a split",
            "casts, one by one",
            "redraw: another shape",
            "redraw: another dropout",
        ),
        "The signature stays, and with it every placeholder.": ("parameters of every kind",),
        "An unknown name: `ValueError`, with the name in its message.": (
            "a module that is not a leaf",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.some_wanted, expect=told),
    # The learner's own code may copy a value, so the judge may not know all targets.
    own_code="copies",
)
