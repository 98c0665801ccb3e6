"""The answer key of `fuse_linear_relu`: each layer and its ReLU are one module with that layer."""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.authoring.key import (
    PASS,
    AnswerKey,
    Evidence,
    Finding,
    Place,
    Stage,
    class_of,
    model_itself,
    overwritten,
    places_rewritten,
    rule,
    target_path,
)

_FUSED = "autograder.given.LinearReLU"


def linears_before_relu(evidence: Evidence) -> list[Place]:
    """The places of `fuse_linear_relu`."""
    gm = evidence.traced

    def is_module(node: fx.Node, kind: type[nn.Module]) -> bool:
        return node.op == "call_module" and isinstance(gm.get_submodule(str(node.target)), kind)

    def spelling(node: fx.Node) -> str:
        if node.op == "call_method" and node.target == "relu":
            return "the method `.relu()`"
        if node.target in (torch.relu, F.relu):
            return "a ReLU function"
        return "an `nn.ReLU`" if is_module(node, nn.ReLU) else ""

    found = []
    for node in gm.graph.nodes:
        users = list(node.users)
        relu = spelling(users[0]) if is_module(node, nn.Linear) and len(users) == 1 else ""
        if relu:
            names = (node.name, users[0].name)
            found.append(Place(names, f"calls {relu}, and is the only reader of `{node}`"))
    return found


@rule("no module overwritten", Stage.STRUCTURE)
def none_overwritten(evidence: Evidence) -> Iterable[Finding]:
    """Modules that the model calls outside of all places are unchanged."""
    places = linears_before_relu(evidence)
    yield from overwritten(evidence, [name for place in places for name in place.nodes])


@rule("layers of the model", Stage.COPY)
def layers_of_the_model(evidence: Evidence) -> Iterable[Finding]:
    """A `LinearReLU` contains the model's own linear layer, with its parameters.

    An answer that traces a copy of the whole model shares no parameters, so this rule allows it.
    """
    rows = {row["path"]: row for row in evidence.graph["modules"]}
    found = [entry for row in rows.values() for entry in row.get("params", {}).values() if entry]
    if not any(entry["origin"] for entry in found):
        return
    for node in evidence.graph["nodes"]:
        if node["op"] != "call_module" or class_of(target_path(node), evidence.graph) != _FUSED:
            continue
        row = rows[target_path(node)]
        layer = rows.get(f"{row.get('same_as', row['path'])}.linear", {})
        if "same_as" in layer:
            layer = rows[layer["same_as"]]
        weight = layer.get("params", {}).get("weight")
        if not (weight and weight["origin"]):
            yield evidence.finding(
                "not-shared",
                f"The `LinearReLU` that `{node['name']}` calls holds a linear layer with the "
                "same numbers, but not the model's own: it is a copy.",
                "When somebody trains the model, the result must see it. A trace shares its "
                "layers with the model; `copy.deepcopy` does not.",
                nodes=(node["name"],),
            )
            return


KEY = AnswerKey(
    (
        *PASS,
        none_overwritten.because("names the module, where others see a wrong count"),
        places_rewritten(
            linears_before_relu,
            "a call of a `LinearReLU`",
            "Look at the type of the layer, at its readers, and at the spelling of the reader: a "
            "module, a function or a method.",
        ),
        layers_of_the_model,
    ),
    model_itself,
)
