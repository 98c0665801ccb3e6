"""Exercise 3.1: let every call of one function be a call of another."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

from autograder.core.exercise import Aspect, Exercise, Trial
from autograder.core.outcome import Reference
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.fuzz.wrapped import wrapped
from autograder.judge.oracles import exchanging
from autograder.models import T, model_case
from autograder.models import additions as zoo
from autograder.rules.edits import calls_replaced
from autograder.rules.passes import PASS

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
        "torch.sum({x}, dim=-1, keepdim=True) * {a}",
        "torch.relu({a})",
        "F.relu({a})",
        "{a}.relu()",
        "torch.neg({a})",
        "torch.maximum({a}, torch.neg({a}))",
        'halve({a}, {b})  # recorded: fx.wrap("halve")',
    )
    + ops("torch.cat([{x}, {y}], -1).sum() * {a}", dims=(1, 4))
    + COMMON,
    training=True,
    namesakes=("add", "mul"),
    names={"halve": wrapped(zoo.halve)},
)
# Functions, and others that take the arguments that the models call these with.
TWINS: dict[Callable[..., Any], tuple[Callable[..., Any], ...]] = {
    torch.add: (torch.sub, torch.rsub),
    torch.mul: (torch.maximum, torch.div, zoo.halve),
    torch.sub: (torch.add, torch.mul),
    torch.maximum: (torch.minimum, torch.mul),
    operator.add: (operator.mul, operator.sub, zoo.halve),
    operator.mul: (torch.mul, operator.add, operator.sub),
    operator.sub: (operator.add, torch.add),
    torch.sum: (torch.mean, torch.logsumexp),
    torch.relu: (torch.neg, torch.sigmoid, F.silu),
    torch.neg: (torch.relu, torch.sin),
    torch.sigmoid: (torch.tanh, torch.neg),
    torch.cat: (torch.concat,),
    F.relu: (F.silu, F.selu),
    zoo.halve: (operator.sub, torch.add),
}


def with_functions(trial: Trial, choice: int) -> Trial:
    """The trial with two functions, if possible ones whose names stand for others, too."""
    model = trial.model
    called = _called(model.graph) if isinstance(model, fx.GraphModule) else _called_in(type(model))

    def has_namesake(function: Callable[..., Any]) -> bool:
        others = [target for target in called if target is not function]
        return any(_name(target) == function.__name__ for target in others)

    found = [old for old in TWINS if old in called] or [torch.add]
    found = [old for old in found if has_namesake(old)] or found
    old = found[choice % len(found)]
    news = [new for new in TWINS[old] if has_namesake(new)] or TWINS[old]
    trial.functions = {"halve": zoo.halve}
    trial.args = (model, old, news[choice // 8 % len(news)])
    return trial


@lru_cache(maxsize=64)
def _called_in(cls: type[nn.Module]) -> list[Callable[..., Any] | str]:
    return _called(fx.symbolic_trace(cls()).graph)


def _called(graph: fx.Graph) -> list[Callable[..., Any] | str]:
    return [node.target for node in graph.nodes if node.op.startswith("call_")]


def _name(target: Callable[..., Any] | str) -> str:
    return target if isinstance(target, str) else target.__name__


def calling_another(trial: Trial) -> Reference:
    """The model under an Interpreter that calls `new` where the model calls `old`."""
    _, old, new = trial.args

    class Calling(fx.Interpreter):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_function(new if target is old else target, args, kwargs)

    return exchanging(Calling)(trial)


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
            "the same call twice", "task", zoo.EqualSines, (X,), extra=(torch.sin, torch.cos)
        ),
        model_case(
            "a value that is changed later",
            "rest",
            zoo.SineOfAnEarlierValue,
            (X,),
            extra=(torch.sin, torch.cos),
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
    random=RandomModels(VOCABULARY, calling_another, with_functions),
)
