"""The nodes of a trace, for oracles of several exercises: noted where the tracer makes them."""

from __future__ import annotations

from typing import Any

from torch import fx, nn


class _Noting(fx.Tracer):
    """Notes each node where it is made."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[fx.Node] = []

    def create_node(self, *args: Any, **kwargs: Any) -> fx.Node:
        """Called for each node."""
        node = super().create_node(*args, **kwargs)
        self.made.append(node)
        return node


def nodes_made(model: nn.Module) -> list[fx.Node]:
    """The nodes of a fresh trace of the model, in the order in which they are made."""
    tracer = _Noting()
    tracer.trace(model)
    return tracer.made
