"""A graph's links, signature, code and lint result, derived from the rows of its record.

The student's process also reports these. Its claims can only count against an answer; evidence
in its favor is recomputed here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from torch import fx

from autograder.core.codec import Tagged
from autograder.core.graph_record import GraphRecord, Signature, reads

OPCODES = ("placeholder", "call_function", "call_method", "call_module", "get_attr", "output")


class DerivedGraph:
    """The links, signature, code and lint result of one described graph.

    Attributes:
        description: the description; the judge trusts only its rows.
    """

    def __init__(self, description: GraphRecord, graph: Callable[[], fx.Graph | None]) -> None:
        """Take a description, and a function that returns the rebuilt graph, or ``None``."""
        self.description, self._graph = description, graph

    @cached_property
    def inputs(self) -> list[list[int]]:
        """The positions of the nodes that each node reads, in order of first appearance."""
        return [
            list(dict.fromkeys(leaf["node"] for leaf in reads(row) if "node" in leaf))
            for row in self.description["nodes"]
        ]

    @cached_property
    def users(self) -> list[list[int]]:
        """The positions of the nodes that read each node."""
        found: list[list[int]] = [[] for _ in self.inputs]
        for i, read in enumerate(self.inputs):
            for place in read:
                if 0 <= place < len(found):
                    found[place].append(i)
        return found

    @cached_property
    def untrue_links(self) -> list[str]:
        """Names of nodes whose claimed inputs or users differ from those that the arguments imply.

        Links to erased nodes or to nodes of other graphs are ignored; other rules check those.
        """
        rows = zip(self.description["nodes"], self.inputs, self.users, strict=True)
        return [
            row["name"]
            for row, inputs, users in rows
            if _places(row["inputs"]) != set(inputs) or _places(row["users"]) != set(users)
        ]

    @cached_property
    def signature(self) -> Signature:
        """The parameters that the placeholders define, in the form of `describe.signature_of`."""
        found: Signature = []
        kind = "POSITIONAL_OR_KEYWORD"
        for row in self.description["nodes"]:
            if row["op"] != "placeholder":
                continue
            name = row["target"] if isinstance(row["target"], str) else ""
            stars = len(name) - len(name.lstrip("*"))
            here = {0: kind, 1: "VAR_POSITIONAL"}.get(stars, "VAR_KEYWORD")
            default = row["args"].get("tuple", ())[:1] if isinstance(row["args"], dict) else ()
            found.append([name.lstrip("*"), here, *default])
            if stars == 1:
                kind = "KEYWORD_ONLY"
        return found

    @property
    def signatures(self) -> tuple[Signature | None, Signature]:
        """The claimed parameters, and those that the placeholders define."""
        return self.description["signature"], self.signature

    @cached_property
    def lint(self) -> str | None:
        """The first problem that the rows show, or that `Graph.lint` finds in the rebuilt graph."""
        names: set[str] = set()
        for row in self.description["nodes"]:
            if row["op"] not in OPCODES:
                return f"Node {row['name']} has the unknown opcode {row['op']!r}"
            if row["name"] in names:
                return f"Node redefined name {row['name']}"
            names.add(row["name"])
        graph = self._graph()
        if graph is None:
            return None
        try:
            graph.lint()
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:500]
        return None

    @cached_property
    def unresolved(self) -> list[str]:
        """Names of `call_module` nodes whose target is not a module of the description."""
        paths = {row["path"] for row in self.description["modules"]} - {""}
        calls = (row for row in self.description["nodes"] if row["op"] == "call_module")
        return [row["name"] for row in calls if row["target"] not in paths]

    @cached_property
    def code(self) -> str | None:
        """The code that FX generates for the graph; it is never run. ``None`` if FX raises."""
        graph = self._graph()
        try:
            return graph.python_code("self").src if graph is not None else ""
        except Exception:
            return None


def _places(links: list[Tagged]) -> set[int]:
    return {link["node"] for link in links if "node" in link}
