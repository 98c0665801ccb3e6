"""The nodes of a trace, recorded when the tracer creates them; used by several oracles."""

from __future__ import annotations

from typing import Any

from torch import fx, nn


class _RecordingTracer(fx.Tracer):
    """A tracer that records each node that it creates."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[fx.Node] = []

    def create_node(self, *args: Any, **kwargs: Any) -> fx.Node:
        """Create a node and record it."""
        node = super().create_node(*args, **kwargs)
        self.made.append(node)
        return node


def nodes_made(model: nn.Module) -> list[fx.Node]:
    """Trace the model, and return the nodes in the order of their creation."""
    tracer = _RecordingTracer()
    tracer.trace(model)
    return tracer.made
