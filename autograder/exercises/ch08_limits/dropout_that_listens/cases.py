"""Exercise 8.3: turn a frozen flag back into a module."""

from __future__ import annotations

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Case,
    Exercise,
    RandomModels,
    T,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch08_limits.dropout_that_listens import models

X, WIDE = T(2, 3), T(4, 3)
LAYERED = T(1, 4, 3)

HINTS = (
    """**Where to look.** Section 8.7 shows what the trace has in place of `self.training`.
Print the `args` and `kwargs` of such a node: where is its `p`?
Then four questions about the new module: its class, its `p`, its name, its mode.""",
    """**What to use.** `gm.add_submodule(name, module)` and `graph.call_module(name, args)`.
A new module is in training mode; `module.train(flag)` sets one module and all below it.
`hasattr(gm, name)` says whether a name is taken; names of nodes and names of modules are two
different things.""",
    """**A skeleton.**

```python
gm = ...
for node in list(gm.graph.nodes):
    if ...:                                # a call of F.dropout
        name = ...                         # one that the module does not have yet
        ...                                # a new module: p, mode
        with gm.graph.inserting_before(node):
            new = gm.graph.call_module(...)
        ...                                # rewire, erase
...
```""",
)

VOCABULARY = Vocabulary(
    ops(
        "F.dropout({a})",
        "F.dropout({a}, 0.3, self.training)",
        "F.dropout(input={a}, p=0.7, training=self.training)",
        "F.dropout({a}, 0.25, False)",
        "F.dropout({a}, 0.0, self.training)",
        "F.dropout(F.dropout({a}, 0.4, self.training), 0.1, True)",
        "[nn.Dropout(0.5)]({a})",
        "F.alpha_dropout({a}, 0.5, self.training)",
    )
    + COMMON,
    training=True,
    dead=False,
)

EXERCISE = Exercise(
    number=3,
    title="Dropout that listens again",
    stars=3,
    minutes=15,
    points=6,
    kind="transform",
    aspects=(
        Aspect("task", 2, "each call of `F.dropout` is a call of an `nn.Dropout`"),
        Aspect("own", 2, "each place has a module and a `p` of its own"),
        Aspect("mode", 2, "new modules are in the model's mode, no other mode changes"),
        Aspect("names", 1, "no module that was there is overwritten"),
        Aspect("rest", 1, "the rest of the model stays"),
    ),
    cases=(
        model_case("in training mode", "task", models.OneSite, (X,), (WIDE,), training=True),
        model_case("several probabilities", "own", models.SeveralSites, (X,), training=True),
        model_case("always active", "mode", models.AlwaysActive, (X,)),
        model_case(
            "partly frozen", "mode", models.PartlyFrozen, (X,), training=True,
            prepare=models.turn_one,
        ),
        model_case(
            "partly in training", "mode", models.PartlyFrozen, (X,), prepare=models.turn_one
        ),
        model_case("names that are taken", "names", models.TakenNames, (X,)),
        model_case("names of tensors", "names", models.TakenByTensors, (X,)),
        Case("on its own result", "names", models.OnItsOwnResult(training=True)),
        model_case(
            "other dropouts", "rest", models.Others, (LAYERED,), training=True,
            functions={"dropout": models.dropout},
        ),
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY),
)  # fmt: skip
