"""Exercise 6.2: the shape of every value of a run."""

from __future__ import annotations

from autograder.authoring.question import COMMON, Aspect, Exercise, RandomModels, T, Vocabulary, ops
from autograder.exercises.ch06_interpreter.cases import KINDS, X, run_case
from autograder.exercises.ch06_interpreter.record_shapes import models
from autograder.models.running import with_inputs

HINTS = (
    "Two parts: a function that turns one value into its shape, and an interpreter that calls it "
    "for every node. Section 6.3 names the method that sees the value of every node.",
    "The function calls itself for what is inside a list, a tuple or a dictionary. "
    "Ask with `isinstance`, because the lists in an output are of a class of FX's own. "
    "`tuple(value.shape)` is the shape of a tensor.",
    "```python\n"
    "def shape_of(value):\n"
    "    if isinstance(value, torch.Tensor):\n"
    "        return ...\n"
    "    ...  # a list, a tuple, a dictionary; anything else\n\n"
    "class Recorder(fx.Interpreter):\n"
    "    def run_node(self, n):\n"
    "        value = ...\n"
    "        shapes[n.name] = ...\n"
    "        return ...\n"
    "```",
)

PAIR = (T(2, 3), T(2, 3))


VOCABULARY = Vocabulary(
    ops(
        "torch.relu({a})",
        "{x} * {a}.sum()",
        "{x} + {b}.numel()",
        "{x} * {b}.sum().item()",
        "{a} + [nn.Parameter(torch.ones(()))]",
        "{x} + [nn.Parameter(torch.ones(()))]",
        "{x} + (torch.ones_like({b}) > 0).sum()",
        "torch.stack([{x}, {y}, {x}])[0]",
    )
    + ops("torch.frexp({a})[0]")
    + ops(
        "{x}.size(-1) * {y}",
        "{x} + torch.stack({a}.unbind(0)).sum()",
        "{x} - {a}.max(dim=-1, keepdim=True).values",
        "{x} * torch.topk({a}, 1, dim=-1)[0]",
        "{x} + {a}[:0].sum()",
        "{x}.flip({a}[:0].unbind(0))",
        dims=(1, 4),
    )
    + ops("[nn.LSTM(D, D)]({x})[0]", "[nn.GRU(D, D)]({x})[1][0] + {y}", dims=(2, 3))
    + tuple(op for op in COMMON if ".shape" not in op.text),  # no case has a `torch.Size`
    inputs=KINDS,
    results=("value", "nested", "dict", "tuple"),
)


EXERCISE = Exercise(
    number=2,
    title="The shape of every value",
    stars=2,
    minutes=15,
    points=4,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "every node has an entry: a tuple for a tensor"),
        Aspect("nested", 2, "lists, tuples and dictionaries keep their nesting"),
        Aspect(
            "others", 1, "`None` for what is not a tensor, `()` for a tensor without dimensions"
        ),
        Aspect("inputs", 1, "defaults, `*args` and nested inputs work"),
        Aspect("networks", 1, "models of every kind, real networks too"),
    ),
    cases=(
        run_case("a layer and a method", "task", models.LinearClamp, T(4)),
        run_case("tuples of tensors", "nested", models.Parts, T(4, 3)),
        run_case("dictionaries and lists", "nested", models.Containers, *PAIR),
        run_case("parameters in the result", "nested", models.OwnParameters, X),
        run_case("numbers, and nothing", "others", models.Numbers, X),
        run_case("defaults not given", "inputs", models.Defaults, X),
        run_case("one further argument", "inputs", models.OneMore, T(3), T(4, 3)),
        run_case("parameters, and a block called twice", "networks", models.Shared, T(2, 3, 4)),
        run_case("a graph module", "networks", models.renamed, T(3, 2)),
    ),
    fine_print={
        "Default arguments and `*args` work.": ("defaults not given",),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, with_inputs),
)
