"""Readers of step graphs, shared by the answer keys of chapter 16."""

from __future__ import annotations

from torch import fx

from autograder.authoring.key import Encoded, NodeRecord, called_function

MARK = ["phase", "backward"]
"""The entry of `meta["custom"]` of each call of the backward pass."""


def is_marked(meta: dict[str, Encoded]) -> bool:
    """Whether a node's notes say that it belongs to the backward pass."""
    custom = meta.get("custom")
    return isinstance(custom, dict) and MARK in custom.get("dict", [])


def target_name(row: NodeRecord) -> str:
    """The name of the function that a node calls; ``""`` if it calls none."""
    return called_function(row) if isinstance(row["target"], dict) else ""


def is_backward(node: fx.Node) -> bool:
    """Whether a node is a call of the backward pass."""
    return node.op == "call_function" and node.meta.get("custom", {}).get("phase") == "backward"
