"""Exercise 3.1: replace every call of one function by a call of another."""

from __future__ import annotations

import torch

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Exercise,
    InEvaluation,
    RandomModels,
    T,
    Vocabulary,
    Wrapped,
    model_case,
    ops,
)
from autograder.exercises.ch03_manipulation.retarget import models
from autograder.models import additions

X, WIDE = T(2, 3), T(4, 3)

HINTS = (
    """**Where to look.** `sin_to_cos` in section 3.1 does this for one pair of functions.
What in it speaks of `torch.sin` and `torch.cos`?""",
    """**What to use.** `fx.symbolic_trace`, `node.target`, `gm.recompile()`.
If you assign to `node.target`, then arguments, readers and the node's name stay by themselves.""",
    """**A skeleton.**

```python
gm = ...                                   # a graph of your own
for node in gm.graph.nodes:
    if ...:                                # what the node calls
        ...
...                                        # the code does not follow by itself
return gm
```""",
)

VOCABULARY = Vocabulary(
    ops(
        "torch.add({a}, {b})",
        "torch.add(input={a}, other={b})",
        "{a} + {b}",
        "{n} + {a}",
        "{a}.add({b})",
        "{a}.mul({b})",
        "{a}.sub({b})",
        "{a}.neg()",
        "torch.add({a}, {b}, alpha={n})",
        "torch.mul({a}, {b})",
        "torch.sub({a}, other={b})",
        "torch.sum({#x}, dim=-1, keepdim=True) * {a}",
        "torch.relu({a})",
        "F.relu({a})",
        "{a}.relu()",
        "torch.neg({a})",
        "torch.maximum({a}, torch.neg({a}))",
        'halve({a}, {b})  # recorded: fx.wrap("halve")',
    )
    + ops("torch.cat([{#x}, {#y}], -1).sum() * {a}", dims=(1, 4))
    + COMMON,
    training=True,
    namesakes=("add", "mul"),
    names={"halve": Wrapped(additions.halve)},
)


EXERCISE = Exercise(
    number=1,
    title="Call another function",
    stars=1,
    minutes=5,
    points=2,
    kind="transform",
    aspects=(
        Aspect("task", 2, "calls of `old` become calls of `new`"),
        Aspect("arguments", 1, "with the same arguments, by position and by keyword"),
        Aspect("rest", 1, "everything else stays, names and all"),
    ),
    cases=(
        model_case("one call", "task", additions.OneAdd, (X, X), extra=(torch.add, torch.mul)),
        model_case(
            "several calls",
            "task",
            additions.LaterMul,
            (X, X),
            (WIDE, T(3)),
            extra=(torch.add, torch.sub),
        ),
        model_case(
            "keyword arguments",
            "arguments",
            additions.KeywordAdd,
            (X, X),
            extra=(torch.add, torch.mul),
        ),
        model_case(
            "the same call twice", "task", additions.EqualSines, (X,), extra=(torch.sin, torch.cos)
        ),
        model_case(
            "a value that is changed later",
            "rest",
            additions.SineOfAnEarlierValue,
            (X,),
            extra=(torch.sin, torch.cos),
        ),
        model_case(
            "other additions", "rest", additions.OtherAdds, (X, X), extra=(torch.add, torch.sub)
        ),
        model_case(
            "a call that nobody reads",
            "rest",
            additions.DeadExp,
            (X,),
            extra=(torch.exp, torch.cos),
        ),
        model_case(
            "parameters with defaults",
            "rest",
            additions.DefaultAdd,
            (X,),
            (X, 3.0),
            extra=(torch.add, torch.mul),
        ),
        model_case(
            "any number of inputs",
            "rest",
            additions.RestAdd,
            (X, X, X),
            extra=(torch.add, torch.mul),
        ),
        model_case(
            "a graph module", "rest", additions.traced_adds, (X, X), extra=(torch.add, torch.sub)
        ),
        model_case(
            "a part that does not train",
            "rest",
            additions.NormedAdd,
            (WIDE, WIDE),
            extra=(torch.add, torch.sub),
            training=True,
            prepare=InEvaluation("norm"),
        ),
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY, models.with_functions),
)
