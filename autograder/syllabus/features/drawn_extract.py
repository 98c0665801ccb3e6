"""The random models of `extract`, and what is wanted of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import fx, nn

from autograder.core.exercise import Trial
from autograder.core.outcome import Reference
from autograder.core.storage import Recorder, recorded
from autograder.fuzz.grammar import Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.fuzz.recipe import Recipe
from autograder.judge.oracles import runs_of
from autograder.rubric.extracting import meant
from autograder.syllabus.interpreter_random import renamed

UNKNOWN = "no_such.name"
VOCABULARY = Vocabulary(
    ops(
        "F.relu({x}, inplace=True)",
        "[nn.ReLU(inplace=True)]({x})",
        "[nn.Hardtanh(-0.5, 0.5, inplace=True)](input={x})",
        "[nn.Dropout(0.5)]({x}).mul_(3)",
        "F.dropout({x}, 0.5, training=False).neg_()",
        "torch.relu_({x}.detach())",
        "[nn.Identity()]({x}).add_(1)",
        outs=0,
    )
    + ops(
        "{x}[0].neg_()",
        "{x}.narrow(0, 0, 1).mul_({n})",
        "torch.neg_({x}.view(-1))",
        "torch.reshape(input={x}, shape=(-1,)).relu_()",
        "{x}.chunk(2, dim=-1)[0].mul_(2)",
        "torch.split({x}, 1, dim=-1)[0].neg_()",
        "[nn.Flatten(0)]({x}).sub_(1)",
        "F.relu(input={x}.unsqueeze(0).squeeze(0), inplace=True)",
        dims=(1, 4),
        outs=0,
    )
    + ops("{x}.T.mul_(2)", "{x}.transpose(0, 1).neg_()", dims=(2, 2), outs=0)
    + ops(
        "{x}.add_({b})",
        "{a} + {b}",
        "F.relu({x}, inplace=True)",
        "[nn.Tanh()]([=nn.Tanh()]({a}))",
        "[nn.Sigmoid()]({a}) - [=nn.Sigmoid()]({b})",
        "{x}.view({x}.shape)",
        "{a} * [nn.Parameter(torch.ones(()))]",
        "{a} - [buffer(torch.ones(()))]",
        "torch.where({a} > {n}, {a}, {b})",
    )
    + ops("[nn.Linear(D, D)]({x})", dims=(1, 4)),
    shapes=((2, 3), (2, 3), (3,), (), (2, 3), (2, 1, 3), (2, 3), (1, 2, 4, 4)),
    namesakes=("tanh", "sub", "add_1", "sigmoid_1"),
    most=10,
)


def some_wanted(trial: Trial, choice: int) -> Trial:
    """The trial with up to three names and a key for each; some models in training mode."""
    model = trial.model
    if isinstance(model, fx.GraphModule) and choice % 2:
        renamed(model)
    if choice % 4 == 1 and not any(isinstance(m, nn.Dropout) for m in model.modules()):
        model.train()
    gm = fx.symbolic_trace(model)
    calls, overwritten = _tensors(gm, trial.inputs[0])
    wanted = {}
    if choice % 8 == 7:
        wanted = {calls[0].name: "key 0", UNKNOWN: "key 1"}
    if overwritten and choice % 8 < 5:
        wanted[overwritten[choice // 3 % len(overwritten)].name] = "key 9"
    for place in range(1 + choice % 3):
        node = calls[-1 - (choice // 5 * (place + 1)) % len(calls)]
        name = node.target if node.op == "call_module" and choice % 7 else node.name
        wanted.setdefault(name, f"key {8 - place}")
        if choice % 8 == 4:  # the same node by both of its names
            wanted.setdefault(node.name, f"key {5 - place}")
    return replace(trial, args=(model, wanted))


def _tensors(gm: fx.GraphModule, inputs: tuple[Any, ...]) -> tuple[list[fx.Node], list[fx.Node]]:
    """The nodes whose value is a tensor, and those of them whose value is overwritten later."""
    record = recorded(gm, inputs)
    nodes = [node for node in gm.graph.nodes if node.op != "output"]
    nodes = [node for node in nodes if isinstance(record.then[node.name], torch.Tensor)]
    changed = [n for n in nodes if not torch.equal(record.then[n.name], record.values[n.name])]
    return nodes, changed


def unknown(recipe: Recipe) -> dict[str, Any]:
    """What is to come of a name that the model does not have."""
    if recipe.choice % 8 != 7:
        return {}
    look = "A name that is neither a node's nor a module's is not to be passed over."
    return {"raises": "ValueError", "names": UNKNOWN, "look": look}


def as_computed(trial: Trial) -> Reference:
    """The wanted values, each copied as soon as it is there."""
    _, wanted = trial.args
    gm = fx.symbolic_trace(trial.model)

    def call(*args: Any) -> dict[str, Any]:
        recorder = Recorder(gm)
        recorder.run(*args)
        return {key: recorder.record.then[meant(gm, name).name] for name, key in wanted.items()}

    return runs_of(call, trial)


EXTRACT = RandomModels(VOCABULARY, as_computed, some_wanted, expecting=unknown)
