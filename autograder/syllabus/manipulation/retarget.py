"""Exercise 3.1: let every call of one function be a call of another."""

from __future__ import annotations

import operator

import torch

from autograder.exercise import Aspect, Exercise
from autograder.models import T, model_case
from autograder.models import additions as zoo
from autograder.rubric import PASS
from autograder.rubric.edits import calls_replaced

X, WIDE = T(2, 3), T(4, 3)

HINTS = (
    """**Where to look.** `sin_to_cos` in section 3.1 does this for one pair of functions.
What in it speaks of `torch.sin` and `torch.cos`?""",
    """**What to use.** `fx.symbolic_trace`, `node.op`, `node.target`, `gm.recompile()`.
If you assign to `node.target`, then arguments, readers and the node's name stay by themselves.""",
    """**A skeleton.**

```python
gm = ...                                   # a graph of your own
for node in gm.graph.nodes:
    if ... and ...:                        # the kind of node, and what it calls
        ...
...                                        # the code does not follow by itself
return gm
```""",
)

RETARGET = Exercise(
    name="retarget",
    chapter="03_manipulation",
    title="Call another function",
    stars=1,
    minutes=5,
    points=2,
    procedure="transform",
    aspects=(
        Aspect("task", 2, "calls of `old` become calls of `new`"),
        Aspect("arguments", 1, "with the same arguments, by position and by keyword"),
        Aspect("rest", 1, "everything else stays, names and all"),
    ),
    cases=(
        model_case("one call", "task", zoo.OneAdd, (X, X), extra=(torch.add, torch.mul)),
        model_case(
            "several calls",
            "task",
            zoo.LaterMul,
            (X, X),
            (WIDE, T(3)),
            extra=(torch.add, torch.sub),
        ),
        model_case(
            "keyword arguments", "arguments", zoo.KeywordAdd, (X, X), extra=(torch.add, torch.mul)
        ),
        model_case(
            "keywords and a number",
            "arguments",
            zoo.SumKeywords,
            (X,),
            (T(3, 3),),
            extra=(torch.sum, torch.mean),
        ),
        model_case(
            "lists as arguments", "arguments", zoo.CatLists, (X, X), extra=(torch.cat, torch.concat)
        ),
        model_case(
            "a name that is taken", "rest", zoo.LaterMul, (X, X), extra=(torch.add, torch.mul)
        ),
        model_case("other additions", "rest", zoo.OtherAdds, (X, X), extra=(torch.add, torch.sub)),
        model_case(
            "an operator", "rest", zoo.OtherAdds, (X, X), extra=(operator.add, operator.mul)
        ),
        model_case(
            "a call that nobody reads", "rest", zoo.DeadExp, (X,), extra=(torch.exp, torch.cos)
        ),
        model_case(
            "the same names elsewhere", "rest", zoo.Namesakes, (X, X), extra=(torch.add, torch.sub)
        ),
        model_case(
            "nested modules", "rest", zoo.NestedAdds, (X,), (WIDE,), extra=(torch.add, torch.sub)
        ),
        model_case(
            "parameters with defaults",
            "rest",
            zoo.DefaultAdd,
            (X,),
            (X, 3.0),
            extra=(torch.add, torch.mul),
        ),
        model_case(
            "a function of your own",
            "rest",
            zoo.OneAdd,
            (X, X),
            extra=(torch.add, zoo.halve),
            functions={"halve": zoo.halve},
        ),
        model_case("nothing to do", "rest", zoo.MethodAdd, (X, X), extra=(torch.add, torch.mul)),
        model_case(
            "any number of inputs", "rest", zoo.RestAdd, (X, X, X), extra=(torch.add, torch.mul)
        ),
        model_case("a graph module", "rest", zoo.traced_adds, (X, X), extra=(torch.add, torch.sub)),
        model_case(
            "a model in training mode",
            "rest",
            zoo.NormedAdd,
            (WIDE, WIDE),
            extra=(torch.add, torch.sub),
            training=True,
        ),
        model_case(
            "redraw: one call",
            "task",
            zoo.OneAdd,
            (T(5), T(5)),
            hidden=True,
            extra=(torch.add, torch.maximum),
        ),
        model_case(
            "redraw: keywords",
            "arguments",
            zoo.SumKeywords,
            (T(4, 2),),
            hidden=True,
            extra=(torch.sum, torch.amax),
        ),
        model_case(
            "redraw: a name that is taken",
            "rest",
            zoo.ReluOfSum,
            (X, X),
            hidden=True,
            extra=(torch.relu, torch.neg),
        ),
    ),  # fmt: skip
    rubric=(*PASS, calls_replaced),
    hints=HINTS,
)
