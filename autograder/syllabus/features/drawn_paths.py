"""The random models of `node_paths`, and the paths of their nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from torch import fx, nn

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.models import fresh
from autograder.models import paths as zoo

VOCABULARY = Vocabulary(
    ops(
        "torch.sin({a})",
        "[nn.Sequential(nn.Tanh(), nn.Sequential(nn.ReLU()))]({a})",
        "[nn.ReLU()]({a})",
        "{a} * [nn.Parameter(torch.ones(()))]",
        "[buffer(torch.ones(()))] + {a}",
        "[nn.Tanh()]([buffer(torch.ones(()))]) + {a}",
        "[nn.Sequential(nn.Sigmoid(), nn.ReLU())][1]({a})",
        "{x} - {b}.sum()",
    )
    + ops(
        "[nn.Linear(D, D)].weight.sum() * {x}",
        "[nn.Sequential(nn.Linear(D, D), nn.Tanh())][0].bias * {x}",
        "[nn.Sequential(nn.Linear(D, D), nn.Sequential(nn.Linear(D, D)))]({x})",
        dims=(1, 4),
    )
    + COMMON,
    inputs=("", "tensor", "row", "default", "star"),
    training=True,
    namesakes=("sin", "part_1"),
    most=6,
)
# Models on which the answer is called before: there is little in them to be wrong about, so
# that what is wrong about a random model is shown on that model.
EARLIER: tuple[tuple[Callable[[], nn.Module], ...], ...] = (
    (),
    (zoo.Flat,),
    (zoo.Untraceable,),
    (zoo.Flat, zoo.Untraceable),
)


def after_others(trial: Trial, choice: int) -> Trial:
    """The trial, now and then with models on which the answer is called before."""
    earlier = EARLIER[choice // 2 % len(EARLIER)] if choice % 2 else ()
    return replace(trial, watch=tuple(fresh(make, 0) for make in earlier))


def paths_of(model: nn.Module) -> dict[str, str]:
    """The path of each node, by hooks: they run where a module's own code begins and ends."""
    tracer, running, paths = fx.Tracer(), [""], {}

    def note() -> None:
        """All nodes that are new since the last time were made where we are."""
        for node in tracer.graph.nodes:
            if node.op != "output":
                paths.setdefault(node.name, running[-1])

    def enter(path: str, *_: Any) -> None:
        note()
        running.append(path)

    def leave(*_: Any) -> None:
        note()
        running.pop()

    for path, module in model.named_modules():
        module.register_forward_pre_hook(partial(enter, path))
        module.register_forward_hook(leave)
    tracer.trace(model)
    note()
    return paths


def by_hooks(trial: Trial) -> Reference:
    """The paths in the case's model, and in those of earlier calls."""
    encoder, runs = Encoder(), []
    for model in trial.watch:
        try:
            runs.append({"value": encoder.encode(paths_of(model))})
        except Exception as error:  # its trace raises, whoever traces it
            runs.append({"error": {"type": type(error).__name__}})
    return Reference(encoder.encode(paths_of(trial.model)), runs, encoder.tensors)


PATHS = RandomModels(VOCABULARY, by_hooks, after_others)
