"""Chapter 06: the random models of `count_flops`; what there is to count says PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear
from torch.utils.flop_counter import FlopCounterMode

from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.judge.oracles import answer_of
from autograder.syllabus.interpreter_random import KINDS, with_inputs

OTHERS = tuple(op for op in COMMON if "Linear" in op.text or op.outs == 2 or op.column)


def counted(model: nn.Module, *inputs: Any) -> int:
    """What PyTorch itself counts while the model runs."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(*inputs)
    return int(counter.get_total_flops())


FLOPS = RandomModels(
    Vocabulary(
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
            "torch.conv1d(input={x}, weight=[nn.Parameter(torch.ones(C, 1, 3))], padding=1, "
            "groups=4)",
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
    ),
    answer_of(counted),
    with_inputs,
)
