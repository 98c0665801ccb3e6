"""Exercise 7.3: an extractor of one's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import nn

from autograder.core.exercise import Aspect, Case, Exercise, Trial
from autograder.models import T, model_case
from autograder.models import extracting as zoo
from autograder.models import overwritten as places
from autograder.rubric.extracting import nothing_else, wanted_values
from autograder.rules.passes import (
    caller_untouched,
    copies,
    returns_graph_module,
    runs,
    signature_kept,
)
from autograder.rules.replacements import no_unused_modules
from autograder.rules.wellformed import known_targets, wellformed
from autograder.syllabus.features import drawn_extract

X, WIDE = T(2, 3), T(4, 3)
IMAGE = T(1, 3, 4, 4)

HINTS = (
    """**Where to look.** There are three questions, and each has a section above.
Which node does a name mean? Which nodes does a value need, calls in place among them?
Which values are overwritten later?
Answer them in this order, each with a loop of its own.""",
    """**What to use.** For the first question, go through the nodes once and let a later call of a
module replace the earlier one. For the second, go through `reversed(gm.graph.nodes)` with a set of
nodes that are needed and a set of memories that are still to be read.
A node's *memory* is the node that made it: for a view, that of the node it looks at.
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

memory = {}                                # node to the node that made its memory
for node in gm.graph.nodes:
    memory[node] = ...                     # an alias has the memory of its input

needed, read = set(), set()
for node in reversed(gm.graph.nodes):
    if ... or ... or (changes_in_place(node) and memory[node] in read):
        needed.add(node)
        ...
...                                        # clones, the output, erasing, modules, recompile
```""",
)


def wanting(case: Case, wanted: dict[str, str]) -> Case:
    """The case with what is wanted from its model."""

    def trial(seed: int) -> Trial:
        made = case.make(seed)
        made.args = (made.model, dict(wanted))
        return made

    return replace(case, make=trial)


def take(
    name: str, aspect: str, make: Any, wanted: dict[str, str], *inputs: Any, **options: Any
) -> Case:
    """A case that wants some values of a model."""
    return wanting(model_case(name, aspect, make, *(inputs or ((X,),)), **options), wanted)


def unknown(name: str, make: type[nn.Module], missing: str, *known: str, **options: Any) -> Case:
    """A case with a name that its model does not have."""
    wanted = {each: each for each in (*known, missing)}
    expect = {
        "raises": "ValueError",
        "names": missing,
        "look": f"No node and no leaf module is called {missing!r}. Whoever asks is to know.",
    }
    return take(name, "errors", make, wanted, expect=expect, **options)


EXTRACT = Exercise(
    name="extract",
    chapter="07_features",
    title="An extractor of your own",
    stars=3,
    minutes=35,
    points=8,
    procedure="transform",
    aspects=(
        Aspect("names", 3, "names of nodes and of modules mean what they are to mean"),
        Aspect("order", 1, "the keys stand in the order of `wanted`"),
        Aspect("pruned", 3, "what no wanted value needs is gone"),
        Aspect("in place", 3, "values are returned as they were when computed"),
        Aspect("alias", 3, "through an alias, too"),
        Aspect("errors", 1, "an unknown name is told"),
        Aspect("rest", 2, "signatures, modes, and models of every kind"),
    ),
    cases=(
        take(
            "two layers",
            "names",
            zoo.Small,
            {"tanh": "hidden", "second": "scores"},
            (X,),
            (T(5, 3),),
        ),
        take("names with dots", "names", zoo.Nested, {"body.1.0": "linear", "body_0_1": "relu"}),
        take("earlier calls", "names", zoo.Repeated, {"act": "last", "act_1": "middle"}),
        take("both at once", "names", zoo.BothNames, {"act_1": "linear", "act": "act"}),
        take("one node by two names", "names", zoo.Nested, {"body.0.0": "a", "body_0_0": "b"}),
        take(
            "an input and a parameter",
            "names",
            zoo.Weighted,
            {"shift": "shift", "x": "input", "linear_weight": "weight"},
        ),
        take(
            "against the graph's order",
            "order",
            zoo.Nested,
            {"head": "z", "body.1.1": "y", "stem": "x", "body.0.0": "w"},
        ),
        take("the other branch", "pruned", zoo.Branches, {"mul": "scaled"}),
        take("a first call", "pruned", zoo.HalfNeeded, {"act_1": "late", "exp": "exp"}),
        take("one of two parts", "pruned", zoo.Pairs, {"getitem_1": "second"}),
        take("a call in place, too late", "pruned", places.MethodAfter, {"linear": "linear"}),
        take("in place on other memory", "pruned", places.OwnMemory, {"exp": "exp"}),
        take("a method", "in place", places.MethodAfter, {"linear": "before", "mul": "after"}),
        take("a function", "in place", places.FunctionAfter, {"linear": "before", "sin": "after"}),
        take("a module", "in place", places.ModuleAfter, {"linear": "before", "act": "after"}),
        take(
            "one after the other",
            "in place",
            places.Several,
            {"linear": "a", "act": "b", "add_": "c", "mul_": "d", "sin": "e", "sub": "f"},
        ),
        take("an input", "in place", places.OverInput, {"x": "before", "linear": "after"}),
        take(
            "a chain",
            "in place",
            places.Chained,
            {"mul": "a", "relu_": "b", "sub": "c", "relu__1": "d", "add": "e"},
        ),
        take(
            "before and after",
            "in place",
            places.WriteUnread,
            {"linear": "y", "add": "before", "add_1": "after"},
        ),
        take("what a call in place takes over", "in place", places.FromAnother, {"mul": "mul"}),
        take("a view", "alias", places.ThroughView, {"linear": "before", "mul": "after"}),
        take("the view itself", "alias", places.ThroughView, {"view": "view", "mul": "after"}),
        take("a row", "alias", places.ViewOfBase, {"getitem": "row", "mul": "after"}),
        take(
            "chunks",
            "alias",
            places.ThroughChunk,
            {"linear": "before", "getitem": "left", "sum_1": "after"},
        ),
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
        take(
            "a result in place",
            "alias",
            places.ThroughResult,
            {"linear": "a", "act": "b", "mul": "c"},
        ),
        take(
            "a part of a split",
            "alias",
            places.AliasThenMore,
            {"linear": "before", "getitem": "top", "exp": "exp"},
        ),
        unknown("no such name", zoo.Small, "third"),
        unknown("one of three is unknown", zoo.Nested, "body.2.0", "stem", "body_0_0"),
        unknown("a module that is no leaf", zoo.Nested, "body.0", "stem"),
        unknown("a parameter with dots", zoo.Weighted, "linear.weight", "linear"),
        take(
            "parameters of every kind",
            "rest",
            zoo.Signature,
            {"sin": "sin"},
            (X, 1, 3.0, X),
            (X, X, 2.0, X),
        ),
        take(
            "parameters with defaults",
            "rest",
            zoo.Scaled,
            {"mul": "mul", "sin": "sin"},
            (X,),
            (X, 3.0),
        ),
        take(
            "a model in training mode",
            "rest",
            zoo.Normed,
            {"norm": "norm", "mul": "mul"},
            (WIDE,),
            training=True,
        ),
        take("a graph module", "rest", zoo.renamed, {"add_1": "sum"}),
        take(
            "a residual network",
            "rest",
            zoo.Residual,
            {"layers.0.relu": "block", "layers.0.bn1": "norm", "add": "sum", "stem": "stem"},
            (IMAGE,),
            dtype=torch.float32,
        ),
        take(
            "redraw: names",
            "names",
            zoo.Nested,
            {"body.0.0": "a", "head": "b", "stem": "c"},
            (T(1, 3),),
            hidden=True,
        ),
        take(
            "redraw: called again",
            "names",
            zoo.Repeated,
            {"turn": "t", "turn_1": "u"},
            (T(5, 3),),
            hidden=True,
        ),
        take(
            "redraw: pruned",
            "pruned",
            zoo.Branches,
            {"right.0": "r", "left.0": "l"},
            (WIDE,),
            hidden=True,
        ),
        take(
            "redraw: in place",
            "in place",
            places.Chained,
            {"relu_": "a", "add": "b"},
            (WIDE,),
            hidden=True,
        ),
        take(
            "redraw: alias",
            "alias",
            places.ThroughView,
            {"view": "v", "linear": "a", "mul": "b"},
            (WIDE,),
            hidden=True,
        ),
        replace(unknown("redraw: unknown", zoo.Nested, "layer", "stem"), hidden=True),
        replace(unknown("redraw: a part", zoo.Nested, "body", "head"), hidden=True),
        replace(unknown("redraw: a method", zoo.Weighted, "sum", "linear"), hidden=True),
    ),  # fmt: skip
    # A graph may copy a value with code of the learner's own, so targets need not be known.
    rubric=(
        returns_graph_module,
        caller_untouched,
        wellformed,
        known_targets,
        signature_kept,
        nothing_else,
        no_unused_modules,
        runs,
        wanted_values,
        copies,
    ),
    hints=HINTS,
    random=drawn_extract.EXTRACT,
    own_code="copies",
)
