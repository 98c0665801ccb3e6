"""A described graph as the node boxes of a picture."""

from __future__ import annotations

import re
from typing import Any

from autograder.core.codec import Encoded, show, unwrap
from autograder.core.graph_record import GraphRecord, NodeRecord, reads
from autograder.core.node_label import Ref, label
from autograder.core.verdict import NodeBox

_SHORT = {"torch.nn.functional.": "F.", "torch._C._nn.": "F.", "torch.functional.": "torch."}
_LOST = {"foreign": "other graph", "erased": "erased"}


class _Verbatim:
    """A value without a plain form; a label shows these words for it."""

    def __init__(self, words: str) -> None:
        self.words = words

    def __repr__(self) -> str:
        return self.words


def node_boxes(data: GraphRecord) -> tuple[NodeBox, ...]:
    """The boxes of a graph's description."""
    names = [row["name"] for row in data["nodes"]]
    classes = {row["path"]: row.get("class", "").rpartition(".")[2] for row in data["modules"]}
    return tuple(_box(row, names, classes) for row in data["nodes"])


def _box(row: NodeRecord, names: list[str], classes: dict[str, str]) -> NodeBox:
    target = target_text(row["target"])
    args, kwargs = _value(row["args"], names), _value(row["kwargs"], names)
    owner = (classes.get(target) or "Module") if row["op"] == "call_module" else ""
    inputs = (_value(leaf, names) for leaf in reads(row))
    read = dict.fromkeys(str(name) for name in inputs if isinstance(name, Ref))
    return NodeBox(
        row["name"], row["op"], label(row["op"], target, args, kwargs, owner), tuple(read)
    )


def _value(data: Encoded, names: list[str]) -> Any:
    """Arguments in the form that a label takes: nodes as `Ref`, the rest as values or words."""
    if not isinstance(data, dict):
        return data
    kind, body = unwrap(data)
    if kind == "node":
        return Ref(names[body])
    if kind in _LOST:
        return Ref(f"{body} ({_LOST[kind]})")  # so that it differs from a node of the same name
    if kind == "slice":
        return slice(*(_value(part, names) for part in body))
    if kind in ("list", "tuple"):
        items = [_value(item, names) for item in body]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return {_value(k, names): _value(v, names) for k, v in body}
    if kind in ("function", "case"):
        return _Verbatim(target_text(data))
    return _Verbatim(show(data))


def target_text(target: Encoded) -> str:
    """A node's target as a person would write it."""
    if not isinstance(target, dict):
        return str(target)
    _, name = unwrap(target)
    for long, short in _SHORT.items():
        if name.startswith(long):
            return f"{short}{name.removeprefix(long)}"
    return re.sub(r"^builtins\.", "", name)
