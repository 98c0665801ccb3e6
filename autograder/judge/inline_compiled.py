"""Puts the graphs that were given to a compiler back into the graph that calls what it gave.

What a compiler of a case gives is a module of the course, which no description can hold. It does
what the graph does that it was given. So that graph takes the place of the call, and the whole is
a description like any other, to be admitted and run.
"""

from __future__ import annotations

from autograder.core.codec import Plain
from autograder.judge.splice import Writing


def with_pieces(value: Plain) -> Plain:
    """The description of a result, with what was compiled in the place of its calls.

    Where it does not fit together, the result is described as it came; rules say what is wrong.

    Args:
        value: ``graph_module``, ``pieces`` and ``compiled``, as `runner.lowering` tells them.
    """
    try:
        return _Inlining(value).description()
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        described: Plain = value["graph_module"]
        return described


class _Inlining(Writing):
    def __init__(self, value: Plain) -> None:
        super().__init__()
        self._outer = value["graph_module"]
        self._pieces = [piece["graph_module"] for piece in value["pieces"]]
        self._compiled = value["compiled"]
        paths = {row["path"].partition(".")[0] for row in self._outer["modules"]}
        self._prefix = "piece"
        while any(path.startswith(self._prefix) for path in paths):
            self._prefix += "_"

    def description(self) -> Plain:
        """The description of the whole."""
        modules = list(self._outer["modules"])
        for i, piece in enumerate(self._pieces):
            modules += [self._moved(row, i) for row in piece["modules"]]
        values: list[Plain] = []
        for row in self._outer["nodes"]:
            number = self._compiled.get(row["target"]) if row["op"] == "call_module" else None
            if number is None:
                values.append(self.copy(row, row["name"], values))
            else:
                values.append(self._pasted(number, row, values))
        return {**self._outer, "nodes": self.linked(), "modules": modules}

    def _path(self, path: str, number: int) -> str:
        return ".".join(filter(None, (f"{self._prefix}_{number}", path)))

    def _moved(self, row: Plain, number: int) -> Plain:
        """A module of a piece, at its place below the root of the whole."""
        moved = {key: self._path(row[key], number) for key in ("path", "same_as") if key in row}
        return {**row, **moved}

    def _pasted(self, number: int, call: Plain, values: list[Plain]) -> Plain:
        """Copy what a piece computes; the values of its placeholders are given by the call."""
        given = list(self.rewritten(call["args"], values)["tuple"])
        *inside, output = self._pieces[number]["nodes"]
        wanted = sum(row["op"] == "placeholder" for row in inside)
        if call["kwargs"]["dict"] or len(given) != wanted or output["op"] != "output":
            raise ValueError("the call does not give what the piece takes")
        own: list[Plain] = []
        for row in inside:
            if row["op"] == "placeholder":
                own.append(given.pop(0))
                continue
            if row["op"] in ("call_module", "get_attr"):
                row = {**row, "target": self._path(row["target"], number)}
            own.append(self.copy(row, row["name"], own))
        (result,) = self.rewritten(output["args"], own)["tuple"]
        return result
