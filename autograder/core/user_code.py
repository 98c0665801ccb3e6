"""Replaces calls of the learner's own code in a described graph by functions that the judge has.

The judge does not have that code. If an exercise allows it, the judge assumes exactly what the
exercise allows: a copy of the only argument, or a call whose value is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from autograder.core import allowlist
from autograder.core.codec import Encoded
from autograder.core.graph_record import GraphRecord, NodeRecord, classes_of, target_path

COPY, NOTHING = "a copy", "nothing"
"""The names of the functions that replace own code; no case's function has them."""


def copy_of(value: Any) -> Any:
    """Copy the tensors of a value, in the same nesting; gradients pass through the copies."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if type(value) in (list, tuple):
        return type(value)(copy_of(item) for item in value)
    if isinstance(value, dict):
        return {key: copy_of(item) for key, item in value.items()}
    return value


def nothing() -> None:
    """Replace a call that is skipped."""


STAND_INS: dict[str, Callable[..., Any]] = {COPY: copy_of, NOTHING: nothing}


def own_calls(description: GraphRecord) -> Iterator[tuple[int, str]]:
    """Find the nodes that call functions or module classes of the learner's own.

    Yields:
        The index of the node, and the name of the function or class.
    """
    classes = classes_of(description)
    for i, row in enumerate(description["nodes"]):
        target = row["target"]
        if isinstance(target, dict) and "opaque" in target:
            yield i, target["opaque"]
        elif row["op"] == "call_module" and (cls := classes.get(target_path(row))) is not None:
            if not allowlist.is_known_class(cls):
                yield i, cls.rpartition(".")[2]


def substitute_user_code(allowed: str, description: GraphRecord) -> GraphRecord:
    """The description with the allowed calls of own code replaced.

    Args:
        allowed: `Exercise.own_code`.
        description: a graph module.
    """
    nodes = list(description["nodes"])
    if allowed == "copies":
        for i, _ in own_calls(description):
            given = list(nodes[i]["args"].get("tuple", ()))
            given += [value for _, value in nodes[i]["kwargs"]["dict"]]
            if len(given) == 1:
                nodes[i] = _call(nodes[i], COPY, given)
    elif allowed == "skipped":
        for i in (*(i for i, _ in own_calls(description)), *_attributes_of_own(description)):
            nodes[i] = _call(nodes[i], NOTHING, [])
    return {**description, "nodes": nodes}


def _call(row: NodeRecord, name: str, given: list[Encoded]) -> NodeRecord:
    return {
        **row,
        "op": "call_function",
        "target": {"case": name},
        "args": {"tuple": given},
        "kwargs": {"dict": []},
    }


def _attributes_of_own(description: GraphRecord) -> Iterator[int]:
    """Nodes that read an attribute without a description, such as a function on the module."""
    modules = {row["path"]: row for row in description["modules"]}
    known = set(modules)
    for path, row in modules.items():
        own = modules[row.get("same_as", path)]
        names = (*own["params"], *own["buffers"], *own["tensors"])
        known |= {f"{path}.{name}" if path else name for name in names}
    for i, node in enumerate(description["nodes"]):
        if node["op"] == "get_attr" and node["target"] not in known:
            yield i
