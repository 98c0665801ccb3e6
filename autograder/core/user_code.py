"""Calls of the notebook's own code in a result's graph, and what the judge takes them for.

The judge has no such code. Where an exercise allows some, it is taken for exactly what the
exercise allows: a copy of its one argument, or a call that nobody reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from autograder.core import allowlist
from autograder.core.codec import Plain

COPY, NOTHING = "a copy", "nothing"
"""The names under which what stands in for own code travels; no case's function has them."""


def copy_of(value: Any) -> Any:
    """A copy of a value's tensors, in the same nesting; gradients flow through it."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if type(value) in (list, tuple):
        return type(value)(copy_of(item) for item in value)
    if isinstance(value, dict):
        return {key: copy_of(item) for key, item in value.items()}
    return value


def nothing() -> None:
    """What is left of a call that is skipped."""


STAND_INS: dict[str, Callable[..., Any]] = {COPY: copy_of, NOTHING: nothing}


def own_calls(description: Plain) -> Iterator[tuple[int, str]]:
    """Nodes that call functions or module classes only the learner's process knows.

    Pairs of the node's place and the name of what it calls.
    """
    classes = {row["path"]: row.get("class") for row in description["modules"]}
    for row in description["modules"]:
        if "same_as" in row:
            classes[row["path"]] = classes[row["same_as"]]
    for i, row in enumerate(description["nodes"]):
        target = row["target"]
        if isinstance(target, dict) and "opaque" in target:
            yield i, target["opaque"]
        elif row["op"] == "call_module" and target in classes:
            if not allowlist.is_known_class(classes[target]):
                yield i, str(classes[target]).rpartition(".")[2]


def taken_for(allowed: str, description: Plain) -> Plain:
    """The description with the own code that is allowed taken for what it may be.

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


def _call(row: Plain, name: str, given: list[Plain]) -> Plain:
    return {
        **row,
        "op": "call_function",
        "target": {"case": name},
        "args": {"tuple": given},
        "kwargs": {"dict": []},
    }


def _attributes_of_own(description: Plain) -> Iterator[int]:
    """Nodes that read what has no description, such as a function kept on the module."""
    modules = {row["path"]: row for row in description["modules"]}
    known = set(modules)
    for path, row in modules.items():
        own = modules[row.get("same_as", path)]
        names = (name for kind in ("params", "buffers", "tensors") for name in own[kind])
        known |= {f"{path}.{name}" if path else name for name in names}
    for i, row in enumerate(description["nodes"]):
        if row["op"] == "get_attr" and row["target"] not in known:
            yield i
