"""Patches with which FX traces small models faster, in the sandboxes of a class.

They are for processes that trace thousands of models, and never apply in a learner's kernel.
Without any of them, a class takes 1.58 times as long. Each part states its own ratio: the time of a
class of 60 in chapter 03 without that part, divided by the time with it (2026-11-30).
"""

from __future__ import annotations

import builtins
import inspect
import math
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from traceback import FrameSummary
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

from torch import nn
from torch.fx import (
    Graph,
    Node,
    Proxy,
    _symbolic_trace,
    graph,
    graph_module,
    interpreter,
    node,
    proxy,
)
from torch.fx.immutable_collections import immutable_dict, immutable_list
from torch.nn.modules import module as module_file

from autograder.speed.patching import Patch, patch_of, source_digest

PATCHED = _symbolic_trace, graph, graph_module, interpreter, node, proxy, module_file
"""The modules of PyTorch on which the patches depend."""

WRITTEN_FOR = "6cd404e4b049a9222e5040b240ec5703085ed430fb2e9a91b19fe8e6162f309e"
"""The digest of their text in PyTorch 2.14.1. With any other text, nothing is patched."""


def install() -> None:
    """Apply the patches for the rest of this process."""
    for patch in patches():
        patch.apply()


@lru_cache(maxsize=1)
def patches() -> tuple[Patch, ...]:
    """Return all patches; none for a PyTorch for which they were not written."""
    if source_digest(PATCHED) != WRITTEN_FOR:
        return ()
    wrapper_of = _cached(_symbolic_trace._create_wrapped_func)
    patch_all = _patching_together(_symbolic_trace._patch_wrapped_functions, wrapper_of)
    patch_math = _patching_math(_symbolic_trace._autowrap_check, wrapper_of)
    return (
        *_module_patches(),
        patch_of(_symbolic_trace, "_create_wrapped_func", wrapper_of),
        patch_of(_symbolic_trace, "_autowrap_check", patch_math),
        patch_of(_symbolic_trace, "_patch_wrapped_functions", patch_all),
        patch_of(graph_module, "_exec_with_source", _compiling_once(graph_module._loader)),
        patch_of(graph.CodeGen, "_call_method_with_signature_check", _call_with_known_keywords),
        patch_of(graph, "pytree", _pytree_with_fast_leaves()),
        patch_of(_symbolic_trace.Tracer, "create_arg", _fast_create_arg()),
        patch_of(nn.Module, "__setattr__", _fast_setattr()),
        patch_of(graph_module._WrappedCall, "_generate_error_message", _message_without_dynamo()),
    )


_END_OF_FILE = 100_000
"""More lines than any file of PyTorch has."""


def _defined_in(module: ModuleType, name: str, text: str, names: dict[str, Any]) -> Any:
    """Define a function that a learner's traceback shows as one of PyTorch's.

    Its lines come after the last one of the module's file, so the traceback shows no text.

    Args:
        module: the module of PyTorch.
        name: the function's name.
        text: its definition.
        names: the global names that the text uses.
    """
    names["__name__"] = module.__name__
    exec(compile(_END_OF_FILE * "\n" + text, str(module.__file__), "exec"), names)
    return names[name]


# ------------------------------------------------------------------ methods of modules
#
# For each trace, FX sets two methods of `nn.Module`, and resets them afterwards. Each time, CPython
# visits all classes that derive from it. Here both are set once, and call the function that FX
# currently wants. Without this, a class takes 1.25 times as long.

_METHODS = ("__call__", "__getattr__")

_METHOD = """
def {name}(self, *args, **kwargs):
    return (wanted[-1] if wanted else original)(self, *args, **kwargs)
"""

_wanted: dict[str, list[Callable[..., Any]]] = {name: [] for name in _METHODS}
"""The functions that unfinished traces have set, by the method's name; the last one is called."""


def _module_patches() -> tuple[Patch, ...]:
    ours = {}
    for name in _METHODS:
        names = {"wanted": _wanted[name], "original": vars(nn.Module)[name]}
        ours[name] = _defined_in(_symbolic_trace, name, _METHOD.format(name=name), names)
    fx_patch = _symbolic_trace._PatchedFnSetAttr
    set_in_class, reset_in_class = fx_patch.patch, fx_patch.revert

    def patch(self: Any) -> None:
        # If another function was set in the class, FX replaces it in its own way.
        if _is_ours(self) and vars(nn.Module).get(self.fn_name) is ours[self.fn_name]:
            _wanted[self.fn_name].append(self.new_fn)
        else:
            set_in_class(self)

    def revert(self: Any) -> None:
        if _is_ours(self) and self.new_fn in _wanted[self.fn_name]:
            _wanted[self.fn_name].remove(self.new_fn)
        else:
            reset_in_class(self)

    return (
        *(patch_of(nn.Module, name, method) for name, method in ours.items()),
        patch_of(fx_patch, "patch", patch),
        patch_of(fx_patch, "revert", revert),
    )


def _is_ours(change: Any) -> bool:
    return change.frame_dict is nn.Module and change.fn_name in _METHODS


# ------------------------------------------------------------------ wrapped functions
#
# For each trace, FX makes a wrapper for each function of `math`, and for each one that was passed
# to `fx.wrap`, of which torchvision has dozens. It installs them one by one. Here each wrapper is
# made once, and all are installed together. Without this, a class takes 1.16 times as long.

Table = dict[tuple[int, str], dict[str, Any]]
"""FX's table of functions that were passed to `fx.wrap`: the namespace, by its id and the name."""

_ABSENT = object()


def _cached(wrap: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes the wrapper of each function once."""
    cached = lru_cache(maxsize=1024)(wrap)

    def wrapper_of(function: Callable[..., Any]) -> Any:
        try:
            return cached(function)
        except TypeError:  # it has no hash
            return wrap(function)

    return wrapper_of


class _MathPatch:
    """The patch of all functions of `math`, with the methods of FX's own patches."""

    def __init__(self, names: dict[str, Any], wrap: Callable[..., Any]) -> None:
        self._functions = {
            name: value
            for name, value in names.items()
            if not name.startswith("_") and callable(value)
        }
        self._wrappers = {name: wrap(value) for name, value in self._functions.items()}
        self._names, self._values = names, tuple(names.values())
        self._ids = set(map(id, self._functions.values()))

    def is_due(self, function_ids: set[int]) -> bool:
        """Whether a trace wraps all of these functions, and none was changed."""
        return self._ids <= function_ids and tuple(self._names.values()) == self._values

    def patch(self) -> None:
        """Install the wrappers."""
        self._names.update(self._wrappers)

    def revert(self) -> None:
        """Restore the functions."""
        self._names.update(self._functions)


def _patching_math(check: Callable[..., None], wrapper_of: Callable[..., Any]) -> Any:
    """Return FX's search of a namespace for functions to wrap, without a search of `math`."""
    names = vars(math)
    change = _MathPatch(names, wrapper_of)

    def autowrap_check(patcher: Any, frame_dict: dict[str, Any], function_ids: set[int]) -> None:
        if frame_dict is not names or not change.is_due(function_ids):
            check(patcher, frame_dict, function_ids)
        elif patcher.visit_once(frame_dict):
            patcher.patches_made.append(change)
            change.patch()

    return autowrap_check


class _WrapPatch:
    """The patch of all functions that were passed to `fx.wrap`.

    A name that is not in its namespace, such as that of a builtin, is removed again.

    Args:
        table: FX's table of these functions.
        wrap: makes the wrapper of a function.

    Raises:
        AttributeError: a name has no function.
    """

    def __init__(self, table: Table, wrap: Callable[..., Any]) -> None:
        self._table = dict(table)
        self._found = [
            (names, name, names.get(name, _ABSENT)) for (_, name), names in table.items()
        ]
        self._wrappers = [
            (names, name, wrap(getattr(builtins, name) if value is _ABSENT else value))
            for names, name, value in self._found
        ]

    def is_due(self, table: Table) -> bool:
        """Whether a trace wraps these functions, and none was changed."""
        return table == self._table and all(
            names.get(name, _ABSENT) is value for names, name, value in self._found
        )

    def patch(self) -> None:
        """Install the wrappers."""
        for names, name, wrapper in self._wrappers:
            names[name] = wrapper

    def revert(self) -> None:
        """Restore the functions."""
        for names, name, value in self._found:
            if value is _ABSENT:
                del names[name]
            else:
                names[name] = value


def _patching_together(patch_each: Callable[..., None], wrapper_of: Callable[..., Any]) -> Any:
    """Return FX's function that installs wrappers, for all of them together."""
    table = _symbolic_trace._wrapped_fns_to_patch
    methods = _symbolic_trace._wrapped_methods_to_patch
    known: _WrapPatch | None = None

    def patch_wrapped_functions(patcher: Any) -> None:
        nonlocal known
        if known is None or not known.is_due(table):
            try:
                known = _WrapPatch(table, wrapper_of)
            except AttributeError:
                known = None
        if known is None or methods:
            patch_each(patcher)
        else:
            patcher.patches_made.append(known)
            known.patch()

    return patch_wrapped_functions


# ------------------------------------------------------------------ generated code
#
# Each copy of a graph module compiles its code again, and inspects the signatures of the methods
# that write it. Here each text is compiled once, and each method inspected once. Without these two,
# a class takes 1.05 times as long.


def _compiling_once(loader: Any) -> Callable[..., None]:
    """Return FX's function that runs a graph's code, changed to compile equal texts once."""

    @lru_cache(maxsize=1024)
    def compiled(source: str, fields: tuple[tuple[str, Any], ...]) -> CodeType:
        # A traceback finds the text by this name, and any file with this text will do.
        file = loader.cache(source, {}, dict(fields))
        return compile(source, file, "exec", dont_inherit=True)

    def exec_with_source(
        source: str, names: dict[str, Any], fields: dict[str, Any] | None = None
    ) -> None:
        exec(compiled(source, tuple((fields or {}).items())), names)

    return exec_with_source


@lru_cache(maxsize=256)
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


def _call_with_known_keywords(
    self: graph.CodeGen, method: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Call a method with the keywords that it has parameters for, as FX does."""
    known = _parameters(getattr(method, "__func__", method))
    return method(*args, **{name: value for name, value in kwargs.items() if name in known})


# ------------------------------------------------------------------ arguments and attributes
#
# For each argument of a node, and for each attribute of a module, PyTorch tests for a few rare
# types. Here numbers, names and the like skip these tests. Without these three, a class takes 1.03
# times as long.

_LEAVES = frozenset({type(None), bool, int, float, str, Node, Proxy})
"""Exact types of most arguments that contain no others."""

_CONTAINERS = frozenset({tuple, list, dict, immutable_list, immutable_dict})
"""Exact types of most arguments that do."""

_PLAIN = frozenset({type(None), bool, int, float, str, tuple, list, dict, OrderedDict, set, Graph})
"""Exact types of most attributes that are not parameters, buffers or modules."""

_CREATE_ARG = """
def create_arg(self, a):
    way = ways.get(type(a)) if base.create_arg is known else None
    return original(self, a) if way is None else way(self, a)
"""

_SETATTR = """
def __setattr__(self, name, value):
    try:
        is_plain = type(value) in plain
    except TypeError:  # a class without a hash
        is_plain = False
    if is_plain:
        own = self.__dict__
        if (
            name not in (own.get("_parameters") or ())
            and name not in (own.get("_modules") or ())
            and name not in (own.get("_buffers") or ())
        ):
            return super(Module, self).__setattr__(name, value)
    return original(self, name, value)
"""


def _pytree_with_fast_leaves() -> SimpleNamespace:
    """Return the tree functions that a graph uses, with a faster one for the usual leaves."""
    trees: Any = graph.pytree  # type: ignore[attr-defined]
    return SimpleNamespace(**vars(trees) | {"tree_iter": _leaves_by(trees.tree_iter)})


def _leaves_by(tree_iter: Callable[..., Iterable[Any]]) -> Callable[..., Iterable[Any]]:
    """Return a `tree_iter` that is fast for a node's arguments if none of them contains others."""

    def leaves(tree: Any, **wishes: Any) -> Iterable[Any]:
        if not wishes and type(tree) is tuple and len(tree) == 2:
            args, kwargs = tree
            if type(args) is tuple and type(kwargs) in (dict, immutable_dict) and not kwargs:
                if _LEAVES.issuperset(map(type, args)):
                    return args
        return tree_iter(tree, **wishes)

    return leaves


def _fast_create_arg() -> Any:
    """Return a tracer's `create_arg` with a faster path for values without tensors."""
    base = proxy.TracerBase
    usual = (_LEAVES | _CONTAINERS) & proxy._create_arg_bypass.keys()
    names = {
        "ways": {kind: proxy._create_arg_bypass[kind] for kind in usual},
        "base": base, "known": base.create_arg, "original": _symbolic_trace.Tracer.create_arg,
    }  # fmt: skip
    return _defined_in(_symbolic_trace, "create_arg", _CREATE_ARG, names)


def _fast_setattr() -> Any:
    """Return a module's `__setattr__` with a faster path for plain values."""
    names = {"original": nn.Module.__setattr__, "Module": nn.Module, "plain": _PLAIN}
    return _defined_in(module_file, "__setattr__", _SETATTR, names)


# ------------------------------------------------------------------ messages
#
# If a graph's code raises, FX excludes the function that makes the message from compilation, and so
# imports Dynamo, which takes half a second. Without this, a class takes 1.15 times as long.


def _message_without_dynamo() -> Any:
    """Return FX's function that makes a message about an error in a graph's code."""
    original = graph_module._WrappedCall._generate_error_message
    nothing = SimpleNamespace(_dynamo=SimpleNamespace(disable=lambda function, **_: function))
    names = vars(graph_module) | {"torch": nothing}
    quick = FunctionType(original.__code__, names, original.__name__, original.__defaults__)

    def message_about(summary: FrameSummary) -> str:
        if "torch._dynamo" not in sys.modules:
            with suppress(AttributeError):  # another version uses more of `torch`
                return str(quick(summary))
        return original(summary)

    return staticmethod(message_about)
