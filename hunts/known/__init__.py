"""The known bugs of the pinned PyTorch, each with a model that shows it."""

from __future__ import annotations

from hunts.bug import Bug
from hunts.known import (
    captured,
    codegen,
    effects,
    folding,
    fusion,
    recomputing,
    rewriting,
    splitting,
    transports,
)

BUGS: tuple[Bug, ...] = (
    *codegen.BUGS,
    *transports.BUGS,
    *effects.BUGS,
    *folding.BUGS,
    *fusion.BUGS,
    *splitting.BUGS,
    *rewriting.BUGS,
    *captured.BUGS,
    *recomputing.BUGS,
)
"""All bugs, in the order of the page."""
