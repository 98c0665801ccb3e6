"""Exercise 6b.2: floating-point operations of a run."""

from __future__ import annotations

from torch.nn.modules.linear import NonDynamicallyQuantizableLinear

from autograder.authoring.question import Aspect, Exercise, RandomModels, T, Vocabulary, ops
from autograder.exercises.ch06_interpreter.cases import KINDS, OTHERS, run_case
from autograder.exercises.ch06b_measuring.count_flops import models
from autograder.models import networks
from autograder.models.running import with_inputs

HINTS = (
    "In a product of an *n* by *k* matrix and a *k* by *m* matrix, each of the *n · m* results "
    "needs *k* multiplications and *k* additions. Linear layers and convolutions are the same "
    "thing: count the results, and ask how many inputs go into each.",
    "Each number in the result costs two operations for each weight that belongs to *one* output "
    "channel: `2 * result.numel() * weight[0].numel()` holds for linear layers and for "
    "convolutions, with groups too. (Why?) "
    "For a product of matrices the inner size is the last one of the left operand. "
    "Section 6b.2 shows how to get arguments that may come by keyword.",
    "```python\n"
    "class FlopCounter(fx.Interpreter):\n"
    "    total = 0\n\n"
    "    def call_function(self, target, args, kwargs):\n"
    "        result = super().call_function(target, args, kwargs)\n"
    "        if target in ...:    # linear and convolutions: the weight is args[1] or a keyword\n"
    "            ...\n"
    "        elif target in ...:  # products: the left operand is args[0] or a keyword\n"
    "            ...\n"
    "        return result\n\n"
    "    ...  # methods; modules\n"
    "```",
)

VOCABULARY = Vocabulary(
    ops(
        "[nn.Linear(D, 5)]({x}).mean(dim=-1, keepdim=True) * {y}",
        "F.linear({x}, weight=[nn.Parameter(torch.ones(D, D))], bias=[buffer(torch.ones(D))])",
        "F.linear(input={x}, weight=[nn.Parameter(torch.ones(D, D))])",
        "[NonDynamicallyQuantizableLinear(D, D)]({x})",
        "[nn.LayerNorm(D)]({x})",
        dims=(1, 4),
    )
    + ops(
        "{x} @ {y}.transpose(-1, -2) @ {x}",
        "torch.matmul({x}, {y}.transpose(-1, -2)).sum() + {y}",
        "torch.matmul({x}, other={y}.transpose(-1, -2)).sum() + {y}",
        "torch.matmul(input={x}, other=[nn.Parameter(torch.ones(D, D))])",
        "{x}.matmul([buffer(torch.ones(D, D))])",
        "{x}.matmul(other={y}.mT).mean() * {y}",
        "([nn.Parameter(torch.ones(4, D))] @ {x}.mT).sum() * {y}",
        "torch.matmul([buffer(torch.ones(2, 1, 4, D))], {x}.mT).mean() + {y}",
        "({x} @ [nn.Parameter(torch.ones(2, 1, D, 2))]).mean() * {y}",
        dims=(2, 4),
    )
    + ops(
        "torch.mm({x}, {y}.t()).mm({x})",
        "torch.mm({x}, mat2={y}.t()).sum() + {y}",
        "torch.mm(input={x}, mat2=[nn.Parameter(torch.ones(D, D))])",
        "{x}.mm(mat2=[buffer(torch.ones(D, D))])",
        "[nn.BatchNorm1d(D)]({x})",
        dims=(2, 2),
    )
    + ops(
        "torch.bmm({x}, {y}.mT).bmm({x})",
        "torch.bmm({x}, mat2={y}.mT).mean() + {y}",
        "{x}.bmm(mat2={y}.transpose(1, 2)).sum() * {y}",
        "[nn.Conv1d(C, C, 3, padding=1)]({x})",
        "[nn.Conv1d(C, C, 2, stride=2, groups=2, padding=2)]({x}).mean() * {y}",
        "F.conv1d({x}, [nn.Parameter(torch.ones(C, C, 1))])",
        "torch.conv1d(input={x}, weight=[nn.Parameter(torch.ones(C, 1, 3))], padding=1, groups=4)",
        dims=(3, 3),
    )
    + ops(
        "[nn.Conv2d(C, C, 3, padding=1)]({x})",
        "[nn.Conv2d(C, C, (1, 3), padding=(0, 1), bias=False)](input={x})",
        "[nn.Conv2d(C, C, (3, 2), stride=2, padding=1, groups=2)]({x}).mean() * {y}",
        "[nn.Conv2d(C, 4, (2, 3), groups=2, bias=False)]({x}).sum() * {y}",
        "[nn.Conv2d(C, 3, 2, dilation=2, padding=1)]({x}).sum() + {y}",
        "F.conv2d({x}, [nn.Parameter(torch.ones(C, 1, 3, 3))], padding=1, groups=2)",
        "torch.conv2d(input={x}, weight=[nn.Parameter(torch.ones(C, C, 1, 1))])",
        "[nn.BatchNorm2d(C)]({x})",
        dims=(4, 4),
    )
    + OTHERS
    + ops("{a} + {b}", "torch.mul({a}, {b})", "{a}.tanh()"),
    shapes=((2, 3), (2, 2, 4, 5), (2, 4, 3), (2, 2, 5, 4), (3,), ()),
    inputs=KINDS,
    names={"NonDynamicallyQuantizableLinear": NonDynamicallyQuantizableLinear},
)


EXERCISE = Exercise(
    number=2,
    title="Floating-point operations",
    stars=3,
    minutes=20,
    points=6,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "linear layers, a multiply-add counts as two"),
        Aspect("convolutions", 2, "convolutions with groups, stride and dilation"),
        Aspect("products", 2, "matrix products in every spelling, with batches and broadcasting"),
        Aspect("spellings", 1, "functions, keyword calls and subclasses"),
        Aspect("networks", 1, "whole networks"),
    ),
    cases=(
        run_case("one layer", "task", models.OneLinear, T(2, 4)),
        run_case("what is on no list", "task", models.NotCounted, T(3, 4)),
        run_case("a function called matmul", "products", models.OwnMatmul, T(3, 3)),
        run_case("relatives on no list", "task", models.OnNoList, T(2, 3, 4)),
        run_case("no rows", "task", models.OneLinear, T(0, 4)),
        run_case("one convolution", "convolutions", models.OneConv, T(2, 3, 7, 8)),
        run_case("an image without a batch", "convolutions", models.OneConv, T(3, 9, 8)),
        run_case("transposed convolutions", "convolutions", models.Upwards, T(2, 2, 4, 5)),
        run_case("groups", "convolutions", models.Grouped, T(2, 4, 5, 6)),
        run_case(
            "every spelling of a product", "products", models.MatmulSpellings, T(3, 3), T(3, 3)
        ),
        run_case("a batch and one matrix", "products", models.OneMatrix, T(2, 3, 4), T(4, 5)),
        run_case("layers in every spelling", "spellings", models.LinearSpellings, T(4, 3)),
        run_case("a subclass that PyTorch has", "spellings", models.OfTorch, T(2, 4)),
        run_case("an encoder", "networks", networks.Encoder, T(2, 5, 6)),
    ),
    fine_print={
        (
            "Transposed convolutions, `einsum` and attention count zero, too, although "
            "PyTorch's counter may count them."
        ): ("transposed convolutions",),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, with_inputs),
)
