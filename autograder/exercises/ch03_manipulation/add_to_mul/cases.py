"""Exercise 3.2: additions in every spelling become multiplications."""

from __future__ import annotations

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Exercise,
    InEvaluation,
    RandomModels,
    T,
    Vocabulary,
    model_case,
    ops,
)
from autograder.models import additions

X, WIDE = T(2, 3), T(4, 3)

HINTS = (
    """**Where to look.** The list in section 3.2 shows how a subtraction is recorded in each of
its spellings. An addition is recorded in the same ways. Print the graph of the model on your
card and look for the node that you missed.""",
    """**What to use.** `operator.add` and `torch.add` are targets of `call_function` nodes,
the string `"add"` is the target of a `call_method` node.
Ask `node.kwargs.get("alpha", 1)` before you change anything, and give `node.kwargs` a new
dictionary where `alpha` must go.""",
    """**A skeleton.**

```python
gm = ...
for node in gm.graph.nodes:
    if ...:                                # an addition that must stay
        continue
    if node.op == "call_function" and ...:
        node.target = ...
    elif node.op == "call_method" and ...:
        node.target = ...
    else:
        continue
    node.kwargs = ...                      # without `alpha`
...
```""",
)

VOCABULARY = Vocabulary(
    ops(
        "torch.add({a}, {b})",
        "{a} + {b}",
        "{a}.add({b})",
        "{n} + {a}",
        "{a} + {n}",
        "torch.add(input={a}, other={b})",
        "{a}.add(other={b})",
        "torch.add({a}, {b}, alpha=2)",
        "{a}.add({b}, alpha=0.5)",
        "torch.add({a}, {b}, alpha=1)",
        "{a}.add({b}, alpha=1)",
        "torch.add({a}, {b}, alpha=0)",
        "torch.add({a}, {b}, alpha=1.5)",
        "torch.add({a}, {b}, alpha=1.0)",
        "torch.add({a}, {b}, alpha={#x}.dim())",
        "{x}.add_({b})",
        "[nn.Parameter(torch.ones(()))] + {a}",
        "[buffer(torch.ones(()))] + {a}",
        "torch.addcmul({a}, {b}, {c})",
        "{a}.addcmul({b}, {c})",
        "torch.sub({a}, {b})",
        "{a}.sub({b}, alpha={n})",
    )
    + COMMON,
    training=True,
    namesakes=("add", "add_scale"),
)


EXERCISE = Exercise(
    number=2,
    title="Every spelling of an addition",
    stars=2,
    minutes=12,
    points=4,
    kind="transform",
    aspects=(
        Aspect("function", 2, "`torch.add(a, b)` becomes a multiplication"),
        Aspect("operator", 2, "so does `a + b`, with numbers on either side"),
        Aspect("method", 2, "so does `a.add(b)`, even if `a` is a buffer"),
        Aspect("alpha", 2, "`alpha=1` goes, any other `alpha` keeps the addition"),
        Aspect("in place", 1, "additions in place, and what is not an addition, stay"),
        Aspect("rest", 1, "models of every kind"),
    ),
    cases=(
        model_case("torch.add", "function", additions.OneAdd, (X, X), (X, T(3))),
        model_case("torch.add, by keyword", "function", additions.KeywordAdd, (X, X)),
        model_case("the operator", "operator", additions.OperatorAdd, (X, X), (WIDE, T(3))),
        model_case("numbers", "operator", additions.ReflectedAdd, (X,), (T(5),)),
        model_case("what is transposed", "operator", additions.TransposedAdd, (X,)),
        model_case("the method alone", "method", additions.OneMethodAdd, (X, X)),
        model_case("the method", "method", additions.MethodAdd, (X, X), (WIDE, T(3))),
        model_case("an alpha", "alpha", additions.AlphaFunction, (X, X)),
        model_case("an alpha of 1.0", "alpha", additions.AlphaFloatOne, (X, X)),
        model_case(
            "an alpha that is computed", "alpha", additions.AlphaComputed, (X, X), (X, X, 3)
        ),
        model_case("an alpha of 0, and of -1", "alpha", additions.AlphaZero, (X, X)),
        model_case("in place", "in place", additions.InPlaceAdd, (X, X)),
        model_case("an operator in place", "in place", additions.InPlaceOperator, (X, X)),
        model_case(
            "names with `add` in them", "in place", additions.Namesakes, (X, X), (WIDE, WIDE)
        ),
        model_case(
            "another function called add",
            "in place",
            additions.OwnAdd,
            (X, X),
            functions={"add": additions.add},
        ),
        model_case("all three together", "rest", additions.OtherAdds, (X, X)),
        model_case("two equal sums", "rest", additions.EqualSums, (X, X)),
        model_case("a graph module", "rest", additions.traced_adds, (X, X)),
        model_case(
            "a part that does not train",
            "rest",
            additions.NormedAdd,
            (WIDE, WIDE),
            training=True,
            prepare=InEvaluation("norm"),
        ),
    ),
    fine_print={
        "If `alpha` is computed in the model, it is a node, so it is not 1.": (
            "an alpha that is computed",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY),
)
