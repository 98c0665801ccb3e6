"""Exercise 4b.1: fuse a product and a sum into one call."""

from __future__ import annotations

from functools import partial

from autograder.authoring.question import (
    ONE_DTYPE,
    SMOOTH,
    Aspect,
    Exercise,
    RandomModels,
    T,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch04b_matchers.fuse_addcmul import models

XY, XYZ = (T(2, 3), T(2, 3)), (T(2, 3), T(2, 3), T(2, 3))
WIDE = (T(2, 1), T(3), T(4, 1, 1))
SQUARE = (T(3, 3), T(3, 3), T(3, 3))
FOUR = (T(3), T(2, 1), T(2, 3), T(1))

HINTS = (
    "A pattern for every form would be a long list: two spellings of each operation, two sides, "
    "the same value twice, keywords. A loop over the nodes with conditions of your own is shorter.",
    "Start at the addition. Its two operands are `terms`. One of them must be a product. "
    "Write a small function that gives the two operands of a call, positional or keyword, "
    "and nothing if the call has other arguments such as `alpha` or `out`.",
    "The product may have one reader only: `len(product.users) == 1`. "
    "But `users` lists a reader once, even if it reads twice: think of `p + p`.",
    "Does a node hold a tensor? Extend `is_size` of section 4.5. Numbers come from methods "
    "(`size`, `dim`, `numel`, `item`), from attributes (`shape`, `ndim`), from parameters with "
    "a number as default, and from arithmetic in which everything is a number.",
    "```python\n"
    "for node in list(gm.graph.nodes):\n"
    "    terms = operands(node, (operator.add, torch.add))\n"
    "    if ...:  # no plain sum of two tensors\n"
    "        continue\n"
    "    for product, other in (terms, terms[::-1]):\n"
    "        factors = operands(product, (operator.mul, torch.mul))\n"
    "        if ...:\n"
    "            ...  # insert the call, rewire, erase the sum, erase the product\n"
    "            break\n"
    "```",
)

VOCABULARY = Vocabulary(
    ops(
        "{a} * {b} + {c}",
        "{a} + {b}",
        "{c} + {a} * {b}",
        "torch.mul({a}, {b})",
        "torch.add({a}, {b})",
        "torch.add(torch.mul({a}, {b}), {c})",
        "torch.add({c}, {a} * {b})",
        "torch.mul({a}, other={b}) + {c}",
        "torch.add(input={c}, other=torch.mul(input={a}, other={b}))",
        "{a} * {a} + {b}",
        "{a} * {b} + {a}",
        "{a} * {b} + {n}",
        "{a} * {n} + {b}",
        "{n} + {a} * {b}",
        "torch.add({c}, {a} * {b}, alpha={n})",
        "torch.add({a} * {b}, {c}, out=torch.empty_like({a} * {b} + {c}))",
        "({a} * {b}).add({c})",
        "{a}.mul({b}) + {c}",
        "{a} * {b} - {c}",
        "(product := {a} * {b}) + product",
        "(product := {a} * {b}) + {c} + torch.tanh(product)",
        "{a} * {b} + {b} * {c}",
        "{a} * {b} + {#x}.numel()",
        "{a} * {#x}.dim() + {c}",
        "torch.add({c}, torch.mul({a}, {b}), alpha=2)",
        "{a} * ({#x}.numel() + 1) + {b}",
        "{a} * ({#x}.dim() * 2 + 1)",
        "{a} * {b} + {#c}.sum().item()",
        "{a} * [nn.Parameter(torch.ones(()))] + [buffer(torch.ones(()))]",
        "torch.stack([product := {x} * {y}, product + {y}]).mean(0)",
        "{a} * torch.ones({x}.shape).to({a}.dtype) + {c}",
    )
    + ops(
        "{a} * {#x}.size(-1) + {b}",
        "{a} * {b} + {#x}.shape[0]",
        "{#x}.size(0) * {a} + {b}",
        "{a} * {b} + {#x}.size(-1)",
        "{a} * ({#x}.size(-1) * {#x}.size(0) + {n})",
        "{a} * torch.max({x}, dim=-1, keepdim=True)[0] + {x}",
        dims=(1, 4),
    )
    + SMOOTH,
    dtypes=ONE_DTYPE,
    dead=False,
)


EXERCISE = Exercise(
    number=1,
    title="A product and a sum in one",
    stars=3,
    minutes=20,
    points=6,
    kind="transform",
    aspects=(
        Aspect("task", 3, "`a * b + c` becomes `torch.addcmul(c, a, b)`"),
        Aspect("spellings", 3, "`operator` or `torch`, the product on either side, keywords"),
        Aspect("values", 2, "whatever the tensors are: the same twice, parameters, results"),
        Aspect("numbers", 3, "a number or a size is not a tensor"),
        Aspect("readers", 2, "a product with another reader stays"),
        Aspect("chains", 2, "sums of several products, one after the other"),
        Aspect("stays", 2, "all else stays as it is"),
    ),
    cases=(
        model_case("a product and a sum", "task", models.ProductLeft, XYZ, (T(4), T(4), T(4))),
        model_case("the product on the right", "spellings", models.ProductRight, XYZ, WIDE),
        model_case("mixed spellings", "spellings", models.MixedSpellings, XYZ),
        model_case("keywords", "spellings", models.Keywords, XYZ),
        model_case("a square", "values", models.Square, XY),
        model_case("the same value again", "values", models.SameValueAgain, XY),
        model_case("parameters and buffers", "values", models.Scale, (T(2, 3),), (T(3),)),
        model_case("pieces of tensors", "values", models.Pieces, (T(3, 4), T(3, 5))),
        model_case("a size times a tensor", "values", models.SizeTimesTensor, XY),
        model_case("sums over everything", "values", models.WholeSums, XY),
        model_case("a number in the product", "numbers", models.NumberInProduct, XY),
        model_case("sizes", "numbers", models.Sizes, XY),
        model_case("numbers made of sizes", "numbers", models.ComputedSizes, XY),
        model_case("other numbers of a tensor", "numbers", models.OtherNumbersOfTensors, XY),
        model_case("zero as default", "numbers", models.DefaultZero, XY),
        model_case("pieces of sizes", "numbers", models.PiecesOfSizes, XY),
        model_case("the product is returned, too", "readers", models.ProductReturned, XYZ),
        model_case("a product added to itself", "readers", models.AddedToItself, XY),
        model_case("two products", "chains", models.TwoProducts, FOUR),
        model_case("a chain of two", "chains", partial(models.ShiftedAgain, 2), XYZ),
        model_case("a longer chain", "chains", models.ShiftedAgain, XYZ),
        model_case("alpha", "stays", models.Alpha, XYZ),
        model_case("out", "stays", models.Out, XYZ),
        model_case("methods", "stays", models.Methods, XYZ),
        model_case("other operations", "stays", models.OtherOperations, SQUARE),
    ),
    fine_print={
        "`x * x + z` and `x * y + x` count as well.": ("a square", "the same value again"),
        "Everything else stays as it is, the methods `.mul` and `.add` too.": (
            "methods",
            "other operations",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY),
)
