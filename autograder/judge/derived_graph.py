"""A graph's form, worked out by the judge from the rows of its description.

What a student's process says of a graph's form (its links, its signature, what `lint` finds) is
a claim. It counts against an answer only: what speaks for it is here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from torch import fx

from autograder.core.codec import Plain, reads

OPCODES = ("placeholder", "call_function", "call_method", "call_module", "get_attr", "output")


class Form:
    """The form of one described graph.

    Attributes:
        description: the description, whose rows alone are believed.
    """

    def __init__(self, description: Plain, graph: Callable[[], fx.Graph | None]) -> None:
        """Take a description, and what gives the graph that was rebuilt from it, if it can be."""
        self.description, self._graph = description, graph

    @cached_property
    def inputs(self) -> list[list[int]]:
        """The places of the nodes that each node reads, in order of first appearance."""
        return [
            list(dict.fromkeys(leaf["node"] for leaf in reads(row) if "node" in leaf))
            for row in self.description["nodes"]
        ]

    @cached_property
    def users(self) -> list[list[int]]:
        """The places of the nodes that read each node."""
        found: list[list[int]] = [[] for _ in self.inputs]
        for i, read in enumerate(self.inputs):
            for place in read:
                if 0 <= place < len(found):
                    found[place].append(i)
        return found

    @cached_property
    def untrue_links(self) -> list[str]:
        """Names of nodes whose inputs or users are not those that arguments make.

        Links to nodes of other graphs, or erased ones, are left out: others speak of them.
        """
        rows = zip(self.description["nodes"], self.inputs, self.users, strict=True)
        return [
            row["name"]
            for row, inputs, users in rows
            if _places(row["inputs"]) != set(inputs) or _places(row["users"]) != set(users)
        ]

    @cached_property
    def signature(self) -> list[Plain]:
        """The parameters that the placeholders make, as `describe.signature_of` writes them."""
        found: list[Plain] = []
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
    def signatures(self) -> tuple[Plain, Plain]:
        """The parameters that are claimed, and those that the placeholders make."""
        return self.description["signature"], self.signature

    @cached_property
    def lint(self) -> str | None:
        """What is wrong by the judge's own look at the rows, and by `lint` of what is rebuilt."""
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
        """Names of `call_module` nodes whose target is no module of the description."""
        paths = {row["path"] for row in self.description["modules"]} - {""}
        calls = (row for row in self.description["nodes"] if row["op"] == "call_module")
        return [row["name"] for row in calls if row["target"] not in paths]

    @cached_property
    def code(self) -> str | None:
        """The text that FX makes of the graph, which is never run; ``None`` if it makes none."""
        graph = self._graph()
        try:
            return graph.python_code("self").src if graph is not None else ""
        except Exception:
            return None


def _places(links: list[Plain]) -> set[int]:
    return {link["node"] for link in links if "node" in link}
