"""Runs a described graph with a small interpreter that uses only the parts that it declares.

A description comes from a student's process and cannot be trusted. So nothing of it is compiled or
executed as code, and its names are never used as attribute paths of Python objects. Paths are
looked up in a table of its declared parts; functions, methods and attributes in the allowlist.

`admitted` rejects a description that contains anything else. `Program.run` then evaluates its rows
one by one, on values that were made for this run.
"""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import fx, nn

from autograder.core import allowlist
from autograder.core.codec import Decoder, Tagged, unwrap
from autograder.core.graph_record import (
    MAX_NODES,
    GraphRecord,
    ModuleRecord,
    NodeRecord,
    TensorRecord,
    target_path,
)
from autograder.core.torch_private import own_buffers, own_modules, own_parameters

_OPS = frozenset("placeholder get_attr call_function call_method call_module output".split())
_PATH = re.compile(r"[\w :/+-]+(\.[\w :/+-]+)*")
_INTERNALS = frozenset(nn.Module().__dict__)
_TYPES = frozenset(f"builtins.{name}" for name in ("bool", "float", "int"))

Functions = Mapping[str, Callable[..., Any]]
Observe = Callable[[fx.Node, Any], None]


class NotAdmitted(ValueError):
    """A description contains something that must not run."""


class NotListed(NotAdmitted):
    """A description calls an operation that is not on the list; `operation` is its name."""

    def __init__(self, operation: str) -> None:
        super().__init__(f"`{operation}` is not among the operations that are run here")
        self.operation = operation


class Program:
    """A described graph that was admitted.

    Attributes:
        root: a module that contains the declared parts; it is never called.
        modules: the declared modules by path.
        parts: the declared tensors by path.
        rows: the description's nodes, in order.
    """

    def __init__(
        self,
        root: nn.Module,
        modules: dict[str, nn.Module],
        parts: dict[str, torch.Tensor | None],
        rows: list[NodeRecord],
        tensors: list[torch.Tensor],
        functions: Functions,
    ) -> None:
        self.root, self.modules, self.parts, self.rows = root, modules, parts, rows
        self._tensors, self._functions = tensors, functions
        self._last = _last_readers(rows)

    @cached_property
    def graph(self) -> fx.Graph:
        """The same graph as a `fx.Graph`, to be read, printed or linted, but never run."""
        graph = fx.Graph()
        made: list[fx.Node] = []
        decoder = _Static(self._tensors, self._functions, node=lambda i: made[i])
        for row in self.rows:
            args, kwargs = tuple(decoder.decode(row["args"])), decoder.decode(row["kwargs"])
            target = row["target"]
            target = target if isinstance(target, str) else decoder.decode(target)
            try:
                made.append(graph.create_node(row["op"], target, args, kwargs, name=row["name"]))
            except (AssertionError, TypeError, RuntimeError) as error:
                raise NotAdmitted(str(error)) from None
        return graph

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters that the placeholders declare.

        Raises:
            NotAdmitted: no Python function can have them.
        """
        decoder = _Static(self._tensors, self._functions)
        found = []
        for row in self.rows:
            if row["op"] == "placeholder":
                default = decoder.decode(row["args"])
                found.append(_parameter(target_path(row), default))
        try:
            return inspect.Signature(found)
        except ValueError as error:
            raise NotAdmitted(f"no function has these parameters: {error}") from None

    def run(self, *inputs: Any, observe: Observe | None = None) -> Any:
        """Evaluate the graph.

        Args:
            inputs: its positional arguments, which it may change.
            observe: called with each node of `graph` and its value, in order of evaluation.

        Returns:
            The value of its output node; ``None`` if it has none.
        """
        bound = self.signature.bind(*inputs)
        bound.apply_defaults()
        values: dict[int, Any] = {}
        own = _RunCopies(self._tensors)
        decoder = _Static(own, self._functions, node=values.__getitem__)
        nodes = list(self.graph.nodes) if observe else []
        for i, row in enumerate(self.rows):
            value = self._evaluate(row, decoder, bound.arguments)
            if observe:
                observe(nodes[i], value)
            if row["op"] == "output":
                return value
            values[i] = value
            if not observe:
                for read in self._last.get(i, ()):
                    values.pop(read, None)
        return None

    __call__ = run

    def _evaluate(self, row: NodeRecord, decoder: Decoder, given: Mapping[str, Any]) -> Any:
        op = row["op"]
        if op == "placeholder":
            return given[target_path(row).lstrip("*")]
        if op == "get_attr":
            return self.parts[target_path(row)]
        args, kwargs = decoder.decode(row["args"]), decoder.decode(row["kwargs"])
        if op == "output":
            return args[0]
        if op == "call_module":
            return self.modules[target_path(row)](*args, **kwargs)
        if op == "call_method":
            return _method(target_path(row), args[0])(*args[1:], **kwargs)
        function = decoder.decode(row["target"])
        if function is getattr:
            return _attribute(*args)
        _require_fitting(function, args, kwargs)
        return function(*args, **kwargs)


def admitted(data: GraphRecord, tensors: list[torch.Tensor], functions: Functions) -> Program:
    """Check a description, and make a program of it.

    Args:
        data: a description, which may come from an untrusted process.
        tensors: the table that it refers to.
        functions: functions of the case, by the names used for them in the data.

    Raises:
        NotListed: it calls an operation that is not on the list.
        NotAdmitted: it contains something else that must not run, or is inconsistent.
    """
    try:
        root, modules = _modules(data["modules"], tensors)
        parts = _tensors_in(modules)
        rows = data["nodes"]
        if type(rows) is not list or len(rows) > MAX_NODES:
            raise NotAdmitted("it has too many nodes")
        names: set[str] = set()
        for i, row in enumerate(rows):
            _admit(row, i, modules, parts, _Reads(tensors, functions, i))
            if row["name"] in names:
                raise NotAdmitted(f"two nodes are called {row['name']!r}")
            names.add(row["name"])
        program = Program(root, modules, parts, rows, tensors, functions)
        _ = program.signature
        return program
    except NotAdmitted:
        raise
    except RecursionError:
        raise NotAdmitted("it is nested too deeply") from None
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise NotAdmitted(f"it does not fit together ({error})"[:300]) from None


# ------------------------------------------------------------------ rows


class _Static(Decoder):
    """Decodes arguments; a function must be on the allowlist."""

    def _decode_function(self, name: str) -> Callable[..., Any]:
        try:
            return allowlist.function_of(name)
        except LookupError:
            raise NotListed(str(name)[:200]) from None

    def _decode_unlisted(self, name: str) -> Callable[..., Any]:
        raise NotListed(str(name)[:200])


class _Reads(_Static):
    """Decodes a row's arguments for the check; of functions, it accepts only types of numbers."""

    def __init__(self, tensors: list[torch.Tensor], functions: Functions, at: int) -> None:
        super().__init__(tensors, dict(functions), node=self._read)
        self._at = at

    def _read(self, index: Any) -> Any:
        if type(index) is not int or not 0 <= index < self._at:
            raise NotAdmitted("a node reads a node that does not come before it")
        return index

    def _decode_function(self, name: str) -> Callable[..., Any]:
        if name not in _TYPES:
            raise NotAdmitted(f"{str(name)[:200]} is among a node's arguments")
        return super()._decode_function(name)


def _admit(
    row: NodeRecord, at: int, modules: Mapping[str, Any], parts: Mapping[str, Any], reads: _Reads
) -> None:
    op, target = row["op"], row["target"]
    if op not in _OPS:
        raise NotAdmitted(f"there is no opcode {op!r}"[:200])
    if not _is_name(row["name"]):
        raise NotAdmitted(f"{row['name']!r} is not the name of a node"[:200])
    args, kwargs = reads.decode(row["args"]), reads.decode(row["kwargs"])
    if type(args) not in (tuple, list) or type(kwargs) is not dict:
        raise NotAdmitted("a node's arguments are not a tuple and a dictionary")
    if not all(_is_name(name) for name in kwargs):
        raise NotAdmitted("a keyword is not the name of an argument")
    if op == "call_function":
        _admit_function(target, args, kwargs, reads)
        return
    if type(target) is not str:
        raise NotAdmitted(f"the target of a `{op}` node is not a name")
    if op == "placeholder" and not _is_name(target.lstrip("*")[:200]):
        raise NotAdmitted(f"{target!r} is not the name of an input"[:200])
    if op == "call_method":
        _admit_method(target, args)
    if op == "get_attr" and target not in parts:
        raise NotAdmitted(f"{target!r} is not a parameter or buffer that was described"[:200])
    if op == "call_module" and (not target or target not in modules):
        raise NotAdmitted(f"{target!r} is not a module that was described"[:200])
    if op == "output" and len(args) != 1:
        raise NotAdmitted("the output node takes one argument")


def _admit_function(target: str | Tagged, args: Any, kwargs: dict[str, Any], reads: _Reads) -> None:
    if type(target) is not dict or len(target) != 1:
        raise NotAdmitted("the target of a `call_function` node is not a function")
    kind, name = unwrap(target)
    if kind not in ("function", "case", "unlisted"):
        raise NotAdmitted(f"`{name}` is not a function that can be run here"[:200])
    function = reads._decode_case(name) if kind == "case" else _Static.decode(_Static([]), target)
    if function is not getattr:
        return
    fits = len(args) in (2, 3) and not kwargs and type(args[1]) is str
    if not fits or args[1] not in _ALL_ATTRIBUTES:
        raise NotAdmitted("`getattr` may only be asked for attributes of tensors here")


def _admit_method(target: str, args: Any) -> None:
    if target not in _ALL_METHODS:
        if hasattr(torch.Tensor, target) and not target.startswith("_"):
            raise NotListed(f"Tensor.{target}")
        raise NotAdmitted(f"the method {target!r} may not be called here"[:200])
    if not args:
        raise NotAdmitted("a method is called on nothing")


_ALL_METHODS = frozenset().union(*allowlist.METHODS.values())
_ALL_ATTRIBUTES = frozenset().union(*allowlist.ATTRIBUTES.values())
_KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("Tensor", (torch.Tensor,)),
    ("list", (list,)),
    ("tuple", (tuple,)),
    ("dict", (dict,)),
    ("set", (set, frozenset)),
    ("str", (str,)),
    ("number", (bool, int, float, complex, torch.SymInt, torch.SymFloat, torch.SymBool)),
    ("dtype", (torch.dtype,)),
    ("device", (torch.device,)),
    ("slice", (slice, range)),
)


def _kind_of(value: Any) -> str:
    """The kind of a value in the tables of methods and attributes; ``""`` for none."""
    return next((kind for kind, types in _KINDS if isinstance(value, types)), "")


def _method(name: str, owner: Any) -> Callable[..., Any]:
    kind = _kind_of(owner)
    operators = name.startswith("__") and name in allowlist.METHODS["Tensor"] and kind
    if operators or name in allowlist.METHODS.get(kind, ()):
        found: Callable[..., Any] = getattr(owner, name)
        return found
    raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")


_PARAMETERS = {
    "native_batch_norm": "input weight bias running_mean running_var",
    "native_batch_norm_backward": "grad_out input weight running_mean running_var save_mean "
    "save_invstd train",
    "native_layer_norm_backward": "grad_out input normalized_shape mean rstd weight bias",
    "_log_softmax_backward_data": "grad_output output",
}
"""Operators that read or write memory without a look at sizes; their first parameters."""


def _require_fitting(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuse tensors of sizes that an operator of `_PARAMETERS` does not compare.

    Raises:
        ValueError: two tensors do not fit together.
    """
    name = str(getattr(function, "__name__", "")).partition(".")[0]
    if name not in _PARAMETERS:
        return
    given = dict(zip(_PARAMETERS[name].split(), args, strict=False)) | dict(kwargs)
    shape = (given["output"] if name.startswith("_log") else given["input"]).shape
    rows, per_channel = 1, shape[1:2].numel()
    if "normalized_shape" in given:
        own = torch.Size(given["normalized_shape"])
        rows, per_channel = shape.numel() // max(own.numel(), 1), own.numel()
        if not own or shape[-len(own) :] != own:
            raise ValueError(f"the tensors given to `{name}` do not fit together")
    if not given.get("train", True):  # an evaluated norm saves nothing
        given |= {saved: None for saved in ("save_mean", "save_invstd") if not len(given[saved])}
    for key, value in given.items():
        sizes = {"mean": rows, "rstd": rows}.get(key, per_channel)
        if key.startswith("grad"):
            fits = value.shape == shape
        elif isinstance(value, torch.Tensor) and key not in ("input", "output", "out"):
            fits = value.numel() == sizes
        else:
            fits = True
        if not fits:
            raise ValueError(f"the tensors given to `{name}` do not fit together")


def _attribute(owner: Any, name: str, *default: Any) -> Any:
    if name in allowlist.ATTRIBUTES.get(_kind_of(owner), ()):
        return getattr(owner, name, *default)
    if default:
        return default[0]
    raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")


class _RunCopies:
    """A table of tensors that clones each tensor at its first use in a run."""

    def __init__(self, tensors: list[torch.Tensor]) -> None:
        self._tensors = tensors
        self._own: dict[int, torch.Tensor] = {}

    def __getitem__(self, index: int) -> torch.Tensor:
        if index not in self._own:
            self._own[index] = self._tensors[index].clone()
        return self._own[index]


def _parameter(target: str, default: Any) -> inspect.Parameter:
    name, stars = target.lstrip("*"), len(target) - len(target.lstrip("*"))
    if stars:
        kind = inspect.Parameter.VAR_KEYWORD if stars > 1 else inspect.Parameter.VAR_POSITIONAL
        return inspect.Parameter(name, kind)
    given = default[0] if default else inspect.Parameter.empty
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=given)


def _is_name(text: Any) -> bool:
    if type(text) is not str or len(text) > 200:
        return False
    return text.isidentifier() and not keyword.iskeyword(text)


def _last_readers(rows: list[NodeRecord]) -> dict[int, list[int]]:
    """For each row, the rows whose values no later row reads."""
    last: dict[int, int] = {}

    def walk(data: object, at: int) -> None:
        if isinstance(data, dict):
            read = data.get("node")
            if type(read) is int and len(data) == 1:
                last[read] = at
                return
            for item in data.values():
                walk(item, at)
        elif isinstance(data, list):
            for item in data:
                walk(item, at)

    for i, row in enumerate(rows):
        last.setdefault(i, i)
        walk([row["args"], row["kwargs"]], i)
    found: dict[int, list[int]] = {}
    for read, at in last.items():
        found.setdefault(at, []).append(read)
    return found


# ------------------------------------------------------------------ modules


def _modules(
    rows: list[ModuleRecord], tensors: list[torch.Tensor]
) -> tuple[nn.Module, dict[str, nn.Module]]:
    """The declared modules: the root, and all of them by path."""
    made: dict[str, nn.Module] = {}
    shared: dict[int, torch.Tensor] = {}
    for row in rows:
        path = row["path"]
        if type(path) is not str or path in made or (path and not _is_path(path)):
            raise NotAdmitted(f"{path!r} is not the path of a module"[:200])
        module = made[row["same_as"]] if "same_as" in row else _module(row, tensors, shared)
        made[path] = module
        if path:
            parent, _, name = path.rpartition(".")
            _reject_shadowing(type(made[parent]), name)
            own_modules(made[parent])[name] = module
    return made[""], made


def _is_path(path: str) -> bool:
    return len(path) < 1_000 and _PATH.fullmatch(path) is not None


def _module(
    row: ModuleRecord, tensors: list[torch.Tensor], shared: dict[int, torch.Tensor]
) -> nn.Module:
    try:
        cls = allowlist.module_class_of(row["class"]) if row["path"] else nn.Module
    except LookupError:
        cls = nn.Module  # a container, or a class that fails only if it is called
    module = cls.__new__(cls)
    nn.Module.__init__(module)
    decoder = _Attributes(tensors)
    for name, value in row["attrs"].items():
        if name in _INTERNALS or not _is_name(name) or name.startswith("__"):
            continue
        if hasattr(nn.Module, name) or callable(getattr(cls, name, None)):
            continue  # it would shadow a method
        try:
            module.__dict__[name] = decoder.decode(value)
        except ValueError:
            continue  # without a plain form; code that needs it raises an AttributeError
    for kind in ("params", "buffers", "tensors"):
        for name, entry in row[kind].items():
            _reject_shadowing(cls, name)
            tensor = None if entry is None else _tensor(entry, kind, tensors, shared)
            stores: dict[str, dict[str, Any]] = {
                "params": own_parameters(module), "buffers": own_buffers(module),
                "tensors": module.__dict__,
            }  # fmt: skip
            stores[kind][name] = tensor
    module.training = bool(row["training"])
    return module


class _Attributes(_Static):
    """Decodes a module's plain attributes, which may include functions on the allowlist."""

    def _decode_tensor(self, index: int) -> torch.Tensor:
        return self.tensors[index].clone()


def _reject_shadowing(cls: type, name: Any) -> None:
    """Reject a declared name that would shadow an attribute of its class."""
    fits = type(name) is str and bool(name) and "." not in name
    special = fits and name.startswith("__") and name.endswith("__")
    if not fits or special or name in _INTERNALS or hasattr(cls, name):
        raise NotAdmitted(f"{name!r} is not a name for a part of a module"[:200])


def _tensor(
    entry: TensorRecord, kind: str, tensors: list[torch.Tensor], shared: dict[int, torch.Tensor]
) -> torch.Tensor:
    index = entry["tensor"]
    if type(index) is not int or not 0 <= index < len(tensors):
        raise NotAdmitted("a part of a module is not a tensor of the table")
    if index not in shared:
        value = tensors[index].clone()
        if kind == "params":
            value = nn.Parameter(value, requires_grad=bool(entry["requires_grad"]))
        shared[index] = value
    return shared[index]


def _tensors_in(modules: Mapping[str, nn.Module]) -> dict[str, torch.Tensor | None]:
    """The declared tensors by path."""
    found: dict[str, torch.Tensor | None] = {}
    for path, module in modules.items():
        own = {k: v for k, v in module.__dict__.items() if isinstance(v, torch.Tensor)}
        for name, tensor in (own_parameters(module) | own_buffers(module) | own).items():
            found[f"{path}.{name}" if path else name] = tensor
    return found
