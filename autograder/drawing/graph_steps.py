"""The steps in which a pass changes its graphs, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ChangeKind = Literal["new", "erased", "arguments", "target", "renamed", "moved"]


@dataclass(frozen=True)
class GraphRow:
    """A node in one state of a graph.

    Attributes:
        key: identifies the node in all states.
        name: its name.
        text: the node as a line of Python.
        reads: the keys of the nodes that it reads.
    """

    key: int
    name: str
    text: str
    reads: tuple[int, ...] = ()


@dataclass(frozen=True)
class NodeChange:
    """A change of one node.

    Attributes:
        kind: what happened to the node.
        key: its key in the rows.
        was: its text before; empty for a new node.
        now: its text afterwards; empty for an erased node.
    """

    kind: ChangeKind
    key: int
    was: str
    now: str

    @property
    def says(self) -> str:
        """The change in a few words."""
        if self.kind in ("arguments", "target", "renamed"):
            return f"`{self.was}` becomes `{self.now}`"
        return f"{self.kind}: `{self.now or self.was}`"


@dataclass(frozen=True)
class GraphStep:
    """The state of a graph after a line that changed it.

    Attributes:
        graph: the number of the graph, from 1.
        line: the number of the line; 0 if the graph was changed outside of the learner's lines.
        text: the line.
        rows: the nodes, in graph order.
        changes: the changes since the graph's step before; empty for its first step.
    """

    graph: int
    line: int
    text: str
    rows: tuple[GraphRow, ...]
    changes: tuple[NodeChange, ...] = ()


@dataclass(frozen=True)
class GraphFilm:
    """The steps of one run of a pass.

    Attributes:
        steps: the first steps.
        total: the number of all steps.
        note: a sentence about the end of the run, or the reason why there are no steps.
    """

    steps: tuple[GraphStep, ...] = ()
    total: int = 0
    note: str = ""
