"""Writes the code of a graph as FX writes it, in less than half the time.

A pass has the code of its graph written three times and more: by the trace, by `recompile`, by each
copy; and the judge writes it once more. FX asks each time for what the course never wants, such as
shapes beside the names, and has each node stand for its name by way of an attribute that is set
and set back. Here is what is left without that, for graphs of plain functions, modules and values.
For all others, and where anything is amiss, FX writes the code itself.
"""

from __future__ import annotations

import os
import types
from collections.abc import Iterable
from typing import Any

import torch
from torch import fx
from torch.fx import graph as fx_graph
from torch.fx.graph import CodeGen, Graph, PythonCode
from torch.fx.immutable_collections import immutable_dict, immutable_list

from autograder.core.torch_private import qualified_name

_PLAIN = frozenset({bool, int, float, str, type(None), type(...), torch.dtype})
"""Types of values that are written as Python writes them."""

_SHOWS_MORE = ("FX_GRAPH_SHOW_STRIDE", "FX_GRAPH_SHOW_DEVICE", "FX_GRAPH_SHOW_META")
"""Variables of the environment by which FX is asked for more than the code."""

_FUNCTIONS = types.BuiltinFunctionType, types.FunctionType
_LIBRARIES = "torch", "_operator", "math", "builtins"


class Unusual(Exception):
    """Something is in the graph that is left to FX."""


def quick_code(graph: Graph, root: str, wishes: dict[str, Any]) -> PythonCode | None:
    """The code of a graph, if it is a usual one.

    Args:
        graph: the graph.
        root: what the code calls its module.
        wishes: further arguments of `fx.Graph.python_code`.
    """
    try:
        return None if any(wishes.values()) else _Writer(graph, root).written()
    except Exception:
        return None  # FX knows what to do, or what to raise


def _in_use() -> tuple[Any, ...]:
    """What FX writes code with. Who puts something else there wants it to be used."""
    module: Any = fx_graph
    return (
        CodeGen._gen_python_code, CodeGen.gen_fn_def, CodeGen.generate_output,
        CodeGen.additional_globals, Graph._python_code, fx.Node.__repr__, module._format_target,
        module._get_qualified_name, module._is_from_torch, module._type_repr,
        module._Namespace.create_name,
    )  # fmt: skip


_AS_SHIPPED = _in_use()


class _Writer:
    """Writes one graph's code.

    Args:
        graph: the graph.
        root: what the code calls its module.

    Raises:
        Unusual: its code is written in some other way.
    """

    def __init__(self, graph: Graph, root: str) -> None:
        if _in_use() != _AS_SHIPPED:
            raise Unusual("somebody has changed FX")
        code_gen: Any = graph._codegen
        if type(code_gen) is not CodeGen or code_gen._body_transformer is not None:
            raise Unusual("its code is written by somebody else")
        if any(name in os.environ for name in _SHOWS_MORE):
            raise Unusual("there are more arguments")
        self._graph, self._root, self._nodes = graph, root, list(graph.nodes)
        self._inside = set(self._nodes)
        self._space, self._globals = _begun()
        self._names: dict[fx.Node, str] = {}
        self._parameters: list[str] = []
        self._returns = ""

    def written(self) -> PythonCode:
        """The code."""
        nodes, last = self._nodes, _last_uses(self._nodes)
        if not nodes or [node for node in nodes if node.op == "output"] != nodes[-1:]:
            raise Unusual("the output is not its last node")
        lines: list[str] = []
        places: dict[int, int | None] = {}
        for place, node in enumerate(nodes):
            line = self._line(node)
            if line is None:
                continue
            if node.op not in ("placeholder", "output"):
                line += self._freed(node, last.get(node, []))
            lines.append(line)
            places[len(lines)] = place
        places[len(lines) + 1] = len(nodes) - 1  # an empty line is the last one
        text = "\n".join(lines)
        if "COUNTER" in text or text.count("\n") != len(lines) - 1:
            raise Unusual("a line looks like one of FX's own, or is several")
        if not self._parameters or self._parameters[0] != "self":
            self._parameters.insert(0, "self")
        name = self._graph._codegen._func_name
        begin = f"def {name}({', '.join(self._parameters)}){self._returns}:"
        body = "".join(f"    {line}\n" for line in lines)
        self._put_in_order()
        return PythonCode(
            f"\n\n\n{begin}\n{body}    ", self._globals, _lineno_map=places, _prologue_start=4
        )

    def _line(self, node: fx.Node) -> str | None:
        """The statement for a node, if there is one."""
        if type(node) is not fx.Node or (node.meta and not _is_plain(node.meta)):
            raise Unusual("a node that says more")
        told = _type_told(node.type)
        match node.op:
            case "placeholder":
                return self._parameter(node, told)
            case "call_function":
                return self._call(node, told)
            case "call_method":
                name = f"{self._name(node)}{told} = "
                owner = _attribute(self._value(node.args[0]), node.target)
                return f"{name}{owner}({self._values(node.args[1:], node.kwargs)})"
            case "call_module":
                name = f"{self._name(node)}{told} = "
                owner = _attribute(self._root, node.target)
                return f"{name}{owner}({self._values(node.args, node.kwargs)})"
            case "get_attr":
                return f"{self._name(node)}{told} = {_attribute(self._root, node.target)}"
            case "output":
                self._returns = told.replace(" :", " ->")
                return f"return {self._value(node.args[0])}"
        raise Unusual("a node of another kind")

    def _parameter(self, node: fx.Node, told: str) -> str | None:
        target = _text(node.target)
        default = f" = {self._value(node.args[0])}" if node.args else ""
        self._parameters.append(f"{target}{told}{default}")
        plain, name = target.replace("*", ""), self._name(node)
        return f"{name} = {plain}" if plain != name else None

    def _call(self, node: fx.Node, told: str) -> str:
        function: Any = node.target
        if getattr(function, "__module__", "") == "_operator":
            symbol = fx_graph.magic_methods.get(function.__name__)
            if symbol is not None:
                return f"{self._name(node)}{told} = {symbol.format(*map(self._value, node.args))}"
            symbol = fx_graph.inplace_methods.get(function.__name__)
            if symbol is not None:
                done = symbol.format(*map(self._value, node.args))
                return f"{done};  {self._name(node)}{told} = {self._value(node.args[0])}"
        called = self._function(function)
        if called == "getattr" and len(node.args) < 3:
            owner, attribute = node.args
            if type(attribute) is not str or not attribute.isidentifier():
                raise Unusual("no name of an attribute")
            return f"{self._name(node)}{told} = {self._value(owner)}.{attribute}"
        values = self._values(node.args, node.kwargs)
        return f"{self._name(node)}{told} = {called}({values})"

    def _function(self, function: Any) -> str:
        """What the code calls a function."""
        known = _of_libraries.get(id(function))
        if known is None:
            known = function, *_looked_up(function)
            if _is_of_library(function):
                _of_libraries[id(function)] = known
        _, name, importable = known
        if importable:
            return name
        written: str = self._space.create_name(name, function)
        if self._globals.setdefault(written, function) is not function:
            raise Unusual("two functions of one name")
        return written

    def _values(self, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
        found = [self._value(value) for value in args]
        found += [f"{key} = {self._value(value)}" for key, value in kwargs.items()]
        return ", ".join(found)

    def _value(self, value: Any) -> str:
        kind = type(value)
        if kind is fx.Node:
            return self._name(value)
        if kind in _PLAIN:
            return repr(value)
        if kind is tuple:
            inside = ", ".join(map(self._value, value))
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        if kind is list or kind is immutable_list:
            return f"[{', '.join(map(self._value, value))}]"
        if kind is dict or kind is immutable_dict:
            rows = (f"{self._value(key)}: {self._value(one)}" for key, one in value.items())
            return f"{{{', '.join(rows)}}}"
        if kind is slice:
            parts = (value.start, value.stop, value.step)
            return f"slice({', '.join(map(self._value, parts))})"
        raise Unusual("a value that needs a name")

    def _name(self, node: fx.Node) -> str:
        name = self._names.get(node)
        if name is None:
            if node not in self._inside:
                raise Unusual("a node of another graph")
            name = self._names[node] = self._space.create_name(node.name, node)
        return name

    def _freed(self, node: fx.Node, unused: list[fx.Node]) -> str:
        """What lets go of values that are not read any more."""
        if not node.users:
            unused = [*unused, node]
        return f";  {' = '.join(map(self._name, unused))} = None" if unused else ""

    def _put_in_order(self) -> None:
        """Leave the table behind `find_nodes` as FX does, which enters each node once more."""
        table: Any = self._graph._find_nodes_lookup_table
        for node in self._nodes:
            if node in table:
                table.remove(node)
                table.insert(node)


_of_libraries: dict[int, tuple[Any, str, bool]] = {}
"""By the number of a function of PyTorch or Python, which is kept so that no other one gets that
number: its full name, and whether the code can call it by that."""

_first: list[tuple[int, Any, dict[str, Any]]] = []
"""How many names FX had on its list, and the names with which each graph's code began then."""


def _begun() -> tuple[Any, dict[str, Any]]:
    """The names that are taken before the first node has one, and the values of these."""
    always = fx_graph._custom_builtins
    if not _first or _first[0][0] != len(always):
        space = fx_graph._Namespace()
        values = {space.create_name(name, value): value for name, (_, value) in always.items()}
        if list(values) != list(always):
            raise Unusual("names on FX's list collide")
        _first[:] = [(len(always), space, values)]
    _, known, values = _first[0]
    space = fx_graph._Namespace()
    space._obj_to_name.update(known._obj_to_name)
    space._used_names.update(known._used_names)
    space._base_count.update(known._base_count)
    return space, dict(values)


def _looked_up(function: Any) -> tuple[str, bool]:
    importable = fx_graph._is_from_torch(function) and function is not torch.device
    if getattr(function, "_boxed_arg_indices", ()) or not callable(function):
        raise Unusual("a function that takes over its arguments")
    return qualified_name(function), importable


def _is_of_library(function: Any) -> bool:
    home = str(getattr(function, "__module__", "")).partition(".")[0]
    return type(function) in _FUNCTIONS and home in _LIBRARIES


def _is_plain(meta: dict[str, Any]) -> bool:
    return not (meta.get("boxed_arg_indices") or meta.get("is_wrapped"))


def _type_told(kind: Any) -> str:
    """What the code has beside a name whose type is known."""
    if kind is None:
        return ""
    if kind is torch.Tensor:
        return " : torch.Tensor"
    raise Unusual("a type that needs a name")


def _text(target: Any) -> str:
    if type(target) is not str:
        raise Unusual("a target that is not a text")
    return target


def _attribute(owner: str, target: Any) -> str:
    """How the code reads what has such a path."""
    path = _text(target)
    for name in path.split("."):
        owner = f"{owner}.{name}" if name.isidentifier() else f'getattr({owner}, "{name}")'
    return owner


def _last_uses(nodes: list[fx.Node]) -> dict[fx.Node, list[fx.Node]]:
    """For each node, those that nobody behind it reads, in the order of FX."""
    found: dict[fx.Node, list[fx.Node]] = {}
    seen: set[fx.Node] = set()
    for node in reversed(nodes):
        for read in node.all_input_nodes:
            if read not in seen:
                seen.add(read)
                found.setdefault(node, []).append(read)
    return found
