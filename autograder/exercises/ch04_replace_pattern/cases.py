"""Chapter 04: the random models of its exercises, and what must come of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import fx, nn

from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.judge.oracles import answer_of, model_itself, runs_of
from autograder.models import replace_pattern as zoo

# Without steps from one value to another: rounding may differ.
SMOOTH = tuple(op for op in COMMON if "torch.where" not in op.text)
ONE_DTYPE = (torch.float64,)

# ------------------------------------------------------------------ count_matches


def marked(*values: Any) -> Any:
    """Stands in a graph where a pattern stood."""
    return values


def places_marked(model: Any, pattern: Any) -> int:
    """How many marks there are when each place that is rewritten gets one."""
    gm = fx.symbolic_trace(model)
    graph = fx.Graph()
    traced = fx.symbolic_trace(pattern).graph
    given = [graph.placeholder(node.name) for node in traced.find_nodes(op="placeholder")]
    mark = graph.call_function(marked, tuple(given))
    (returned,) = traced.find_nodes(op="output")
    several = isinstance(returned.args[0], (list, tuple))
    if several:
        marks = range(len(returned.args[0]))
        graph.output(tuple(graph.call_method("item", (mark, i)) for i in marks))
    else:
        graph.output(mark)
    fx.replace_pattern(gm, pattern, fx.GraphModule({}, graph))
    return sum(node.target is marked for node in gm.graph.nodes)


class TwoRelus(nn.Module):
    """A pattern that is a module."""

    def forward(self, a: torch.Tensor) -> torch.Tensor:
        """One ReLU behind another."""
        return torch.relu(torch.relu(a))


PATTERNS: tuple[Callable[[], Callable[..., Any]], ...] = (
    lambda: zoo.relu_of_relu,
    lambda: zoo.sum_of_two,
    lambda: zoo.exp_of_neg,
    lambda: zoo.product_and_sum,
    TwoRelus,
    lambda: zoo.exp_and_neg,
    lambda: zoo.doubled,
)


def with_pattern(trial: Trial, choice: int) -> Trial:
    """A pattern to count."""
    pattern = PATTERNS[choice % len(PATTERNS)]()
    watch = (pattern,) if isinstance(pattern, nn.Module) else ()
    return replace(trial, args=(trial.model, pattern), watch=watch)


MATCHES = RandomModels(
    Vocabulary(
        ops(
            "torch.relu(torch.relu({a}))",
            "{a} + {b}",
            "torch.exp(torch.neg({a}))",
            "{a} * {b} + {c}",
            "torch.relu({a})",
            "torch.relu(torch.relu(torch.relu({a}))) + {b}",
            "torch.relu(torch.relu(torch.relu({a})))",
            "{a} * 2",
            "torch.neg({a})",
            "torch.exp({a})",
            "{a} * 2 + {n}",
            "{n} + {a}",
            "{a} * 2.0",
            "torch.add({a}, {b})",
            "{a}.relu()",
            "[nn.ReLU()]({a})",
            "torch.relu(input={a})",
        )
        + ops(
            "torch.exp(lower := torch.neg({a})) * lower",
            "torch.exp(lower := torch.neg({a})) + torch.relu(lower)",
        )
        + ops(
            "(lower := torch.neg({a})), torch.exp(lower)",
            "(first := torch.relu({a})), torch.relu(first)",
            outs=2,
        )
        + COMMON[:6],
    ),
    answer_of(places_marked),
    with_pattern,
)

# ------------------------------------------------------------------ to_hardswish

HARDSWISH = RandomModels(
    Vocabulary(
        ops(
            "{a} * F.relu6({a} + 3) / 6",
            "F.relu6({a} + 3) * {a} / 6",
            "{a} * F.relu6({a} + 3.0) / 6.0",
            "F.relu6({a} + 3.0) * {a} / 6",
            "F.relu6({a} + 3) * {a} / 6.0",
            "{a} * F.relu6({a} + 3) / 6.0",
            "{a} * F.relu6({a} + 3.0) / 6",
            "{x} * F.relu6({y} + 3) / 6",
            "F.relu6({x} + 3) * {y} / 6",
            "{a} * F.relu6({a} + {n}) / 6",
            "{a} * F.relu6({a} + 3) / 5",
            "{a} * F.relu6({a} + 3.1) / 6",
            "F.relu6({a} + 3) * {a} / 6.1",
            "{a} * F.relu6({a} + 3)",
            "F.relu6({a} + 3) / 6",
            "(gate := F.relu6({a} + 3)) * {a} / 6 + gate",
            "{a} * F.relu6(total := {a} + 3) / 6 * total",
            "(product := {a} * F.relu6({a} + 3.0)) / 6 - product",
            "(product := F.relu6({a} + 3) * {a}) / 6 + product / 6",
            "{a} + F.relu6({a} + 3) / 6",
            "{a} * F.relu({a} + 3) / 6",
            "F.hardswish({a})",
            "F.hardsigmoid({a})",
        )
        + SMOOTH,
        dtypes=ONE_DTYPE,
        dead=False,
        training=True,
    ),
    model_itself,
    count=10,
)

# ------------------------------------------------------------------ fuse_addcmul


ADDCMUL = RandomModels(
    Vocabulary(
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
            "{a} * {b} + {x}.numel()",
            "{a} * {x}.dim() + {c}",
            "torch.add({c}, torch.mul({a}, {b}), alpha=2)",
            "{a} * ({x}.numel() + 1) + {b}",
            "{a} * ({x}.dim() * 2 + 1)",
            "{a} * {b} + {c}.sum().item()",
            "{a} * [nn.Parameter(torch.ones(()))] + [buffer(torch.ones(()))]",
            "torch.stack([product := {x} * {y}, product + {y}]).mean(0)",
            "{a} * torch.ones({x}.shape).to({a}.dtype) + {c}",
        )
        + ops(
            "{a} * {x}.size(-1) + {b}",
            "{a} * {b} + {x}.shape[0]",
            "{x}.size(0) * {a} + {b}",
            "{a} * {b} + {x}.size(-1)",
            "{a} * ({x}.size(-1) * {x}.size(0) + {n})",
            "{a} * torch.max({x}, dim=-1, keepdim=True)[0] + {x}",
            dims=(1, 4),
        )
        + SMOOTH,
        dtypes=ONE_DTYPE,
        dead=False,
    ),
    model_itself,
)

# ------------------------------------------------------------------ fuse_linear_relu

LINEAR_RELU = RandomModels(
    Vocabulary(
        ops(
            "torch.relu([nn.Linear(D, D)]({x}))",
            "[nn.Linear(D, D)]({x})",
            "F.relu([nn.Linear(D, D)]({x}))",
            "[nn.Linear(D, D)]({x}).relu()",
            "[nn.ReLU()]([nn.Linear(D, D)]({x}))",
            "torch.relu({a})",
            "{a}.relu()",
            "F.relu({a})",
            "[nn.ReLU()]({a})",
            "torch.relu(input=[nn.Linear(D, D)](input={x}))",
            "F.relu(input=[nn.Linear(D, D, bias=False)]({x}))",
            "[nn.ReLU()](input=[nn.Linear(D, D)](input={x}))",
            "[nn.Sequential(nn.Linear(D, D), nn.ReLU())]({x})",
            "[nn.ReLU6()]([nn.Linear(D, D)]({x}))",
            "F.relu6([nn.Linear(D, D)]({x}))",
            "F.relu6(input=[nn.Linear(D, D)]({x}))",
            "F.gelu([nn.Linear(D, D)]({x}))",
            "[nn.LeakyReLU()]([nn.Linear(D, D)]({x}))",
            "torch.relu(layer := [nn.Linear(D, D)]({x})) + layer",
            "torch.relu(layer := [nn.Linear(D, D)]({x})) + F.relu(layer)",
            "[nn.Bilinear(D, D, D)]({x}, {x}).relu()",
            "torch.relu([nn.LayerNorm(D)]({x}))",
            "torch.relu(F.linear({x}, [nn.Parameter(torch.ones(D, D))]))",
            dims=(1, 4),
        )
        + ops("(layer := [nn.Linear(D, D)]({x})), torch.relu(layer)", dims=(1, 4), outs=2)
        + tuple(op for op in SMOOTH if "Linear" not in op.text),
        shapes=((2, 3), (3,), (2, 1, 3)),
        dtypes=ONE_DTYPE,
        namesakes=("linear_relu", "fused_0"),
        dead=False,
        training=True,
    ),
    model_itself,
)

# ------------------------------------------------------------------ replace_until_done

PAIRS = (
    (zoo.relu_of_relu, zoo.one_relu, torch.relu, 1),
    (zoo.neg_of_neg, zoo.itself, torch.neg, 2),
)


def shrunk_until_done(trial: Trial) -> Reference:
    """What the model computes; and how many replacements have made its graph that small."""
    _, pattern, replacement, *_ = trial.args
    ((function, each),) = [pair[2:] for pair in PAIRS if pair[0] is pattern]
    gm = fx.symbolic_trace(trial.model)

    def size() -> int:
        return sum(node.target is function for node in gm.graph.nodes)

    before, last = size(), -1
    while last != size():
        last = size()
        fx.replace_pattern(gm, pattern, replacement)
    return replace(runs_of(trial.model, trial), value=(before - last) // each)


def with_pair(trial: Trial, choice: int) -> Trial:
    """A pattern and its replacement, and now and then a limit that is high enough."""
    more = (12,) if choice % 4 == 3 else ()
    return replace(trial, args=(trial.model, *PAIRS[choice % 2][:2], *more))


UNTIL_DONE = RandomModels(
    Vocabulary(
        ops(
            "torch.relu(torch.relu({a}))",
            "torch.relu({a})",
            "torch.neg({a})",
            "torch.neg(torch.neg({a}))",
            "torch.relu(torch.relu(torch.relu(torch.relu({a}))))",
            "torch.neg(torch.neg(torch.neg(torch.neg({a}))))",
            "torch.neg(torch.relu(torch.neg(torch.neg({a}))))",
            "{a}.relu()",
            "[nn.ReLU()]({a})",
            "-{a}",
        )
        + COMMON[:6]
    ),
    shrunk_until_done,
    with_pair,
    count=12,
)
