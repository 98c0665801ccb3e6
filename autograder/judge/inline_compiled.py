"""Inlines compiled subgraphs back into the graph that calls them.

The compiler of a case returns a module of the course, which no description can contain. This
module computes the same as the subgraph that the compiler received. So each call is replaced by
that subgraph, and the result is an ordinary description, which can be admitted and run.
"""

from __future__ import annotations

from autograder.core.codec import Encoded
from autograder.core.graph_record import GraphRecord, ModuleRecord, NodeRecord, target_path
from autograder.core.outcome import ResultRecord
from autograder.judge.splice import Writing


def inline_compiled(value: ResultRecord) -> GraphRecord:
    """The description of a result in which compiled calls are replaced by their subgraphs.

    If the record is inconsistent, return the description unchanged; rules report the problem.

    Args:
        value: ``graph_module``, ``pieces`` and ``compiled``, from `runner.kinds.lowering`.
    """
    try:
        return _Inlining(value).description()
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        return value["graph_module"]


class _Inlining(Writing):
    def __init__(self, value: ResultRecord) -> None:
        super().__init__()
        self._outer = value["graph_module"]
        self._pieces = [piece["graph_module"] for piece in value["pieces"]]
        self._compiled = value["compiled"]
        paths = {row["path"].partition(".")[0] for row in self._outer["modules"]}
        self._prefix = "piece"
        while any(path.startswith(self._prefix) for path in paths):
            self._prefix += "_"

    def description(self) -> GraphRecord:
        """The description of the whole graph."""
        modules = list(self._outer["modules"])
        for i, piece in enumerate(self._pieces):
            modules += [self._moved(row, i) for row in piece["modules"]]
        values: list[Encoded] = []
        for row in self._outer["nodes"]:
            number = self._compiled.get(target_path(row)) if row["op"] == "call_module" else None
            if number is None:
                values.append(self.copy(row, row["name"], values))
            else:
                values.append(self._pasted(number, row, values))
        return {**self._outer, "nodes": self.linked(), "modules": modules}

    def _path(self, path: str, number: int) -> str:
        return ".".join(filter(None, (f"{self._prefix}_{number}", path)))

    def _moved(self, row: ModuleRecord, number: int) -> ModuleRecord:
        """A module of a subgraph, with its path below the root of the whole."""
        moved = row.copy()
        moved["path"] = self._path(row["path"], number)
        if "same_as" in row:
            moved["same_as"] = self._path(row["same_as"], number)
        return moved

    def _pasted(self, number: int, call: NodeRecord, values: list[Encoded]) -> Encoded:
        """Copy the nodes of a subgraph; the call's arguments replace its placeholders."""
        given = list(self.rewritten(call["args"], values)["tuple"])
        *inside, output = self._pieces[number]["nodes"]
        wanted = sum(row["op"] == "placeholder" for row in inside)
        if call["kwargs"]["dict"] or len(given) != wanted or output["op"] != "output":
            raise ValueError("the call does not give what the piece takes")
        own: list[Encoded] = []
        for row in inside:
            if row["op"] == "placeholder":
                own.append(given.pop(0))
                continue
            if row["op"] in ("call_module", "get_attr"):
                row = {**row, "target": self._path(target_path(row), number)}
            own.append(self.copy(row, row["name"], own))
        result: Encoded
        (result,) = self.rewritten(output["args"], own)["tuple"]
        return result
