"""Has FX begin and end a trace in a moment, however many classes of modules and wrapped functions
there are.

Each trace puts a `__call__` and a `__getattr__` of its own into `nn.Module`, and takes them out
again. Each time, CPython goes through all classes that derive from it. It also makes a wrapper of
each function that anybody gave to `fx.wrap`: torchvision gives it dozens. That is more than half of
the time of a small model's trace. Here both methods are set once, and call whatever FX wants to
stand there now; and each wrapper is made once, since what it does depends on its function alone.

Each trace also puts a wrapper in the place of each of those functions, and of each function of
`math`, one by one; here they are put there together. What writes a graph's code asks for the
signatures of its own methods, again for each graph; here it asks once for each method, and the code
of usual graphs is written by `quick_code`. A text of code that was compiled before, as that of a
copy, is not compiled again. An `fx.Interpreter` makes a bar for each run; one that is not shown is
not made. A message about an error in a graph's code does not import what compiles. And what is
asked of each argument of a node, and of each attribute of a module that is set, whether it is one
of a few rare things, is not asked of numbers, names and the like.

It is for processes that trace thousands of models, fork servers and tests, and for the moments in
which a learner waits for a card.
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

from autograder.core.changes import Change, change_of, source_digest
from autograder.core.quick_code import quick_code

REPLACED = _symbolic_trace, graph, graph_module, interpreter, node, proxy, module_file
"""The modules of PyTorch in which something is replaced, or written in another way."""

WRITTEN_FOR = "6cd404e4b049a9222e5040b240ec5703085ed430fb2e9a91b19fe8e6162f309e"
"""The digest of their text in PyTorch 2.14.1. With any other text, nothing is replaced."""

_METHODS = ("__call__", "__getattr__")

_STANDING_IN = """
def {name}(self, *args, **kwargs):
    return (wanted[-1] if wanted else original)(self, *args, **kwargs)
"""

_WRITING = """
def python_code(self, root_module, **wishes):
    return quick(self, root_module, wishes) or original(self, root_module, **wishes)
"""

_TAKING = """
def create_arg(self, a):
    way = ways.get(type(a)) if base.create_arg is known else None
    return original(self, a) if way is None else way(self, a)
"""

_SETTING = """
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

_BEHIND = 100_000
"""More lines than FX's file has."""

_wanted: dict[str, list[Callable[..., Any]]] = {name: [] for name in _METHODS}
"""What traces that are under way have put there, by the method's name; the last one counts."""


def install() -> None:
    """Set all of that for as long as this process lasts."""
    for change in changes():
        if change.now is change.before:
            change.make()


@lru_cache(maxsize=1)
def changes() -> tuple[Change, ...]:
    """What is changed, in which order; nothing in a PyTorch that this was not written for."""
    if source_digest(REPLACED) != WRITTEN_FOR:
        return ()
    standing_in = {name: _method_that_stands_in(name) for name in _METHODS}
    wrapper_of = _kept(_symbolic_trace._create_wrapped_func)
    wrapped = _wrapping_together(_symbolic_trace._patch_wrapped_functions, wrapper_of)
    check = _wrapping(_symbolic_trace._autowrap_check, wrapper_of)
    patch, revert = _noting(standing_in)
    stock = {"original": graph.Graph.python_code, "quick": quick_code}
    writing = _as_of(graph, "python_code", _WRITING, stock)
    tqdm = interpreter.tqdm  # type: ignore[attr-defined]
    return (
        *(change_of(nn.Module, name, method) for name, method in standing_in.items()),
        change_of(_symbolic_trace._PatchedFnSetAttr, "patch", patch),
        change_of(_symbolic_trace._PatchedFnSetAttr, "revert", revert),
        change_of(_symbolic_trace, "_create_wrapped_func", wrapper_of),
        change_of(_symbolic_trace, "_autowrap_check", check),
        change_of(_symbolic_trace, "_patch_wrapped_functions", wrapped),
        change_of(graph_module, "_exec_with_source", _once_compiled(graph_module._loader)),
        change_of(graph.Graph, "python_code", writing),
        change_of(interpreter, "tqdm", _bar_for(tqdm)),
        change_of(graph, "pytree", _trees_with_leaves_sooner()),
        change_of(_symbolic_trace.Tracer, "create_arg", _taking_sooner()),
        change_of(nn.Module, "__setattr__", _setting_sooner()),
        change_of(graph.CodeGen, "_call_method_with_signature_check", _call_with_what_it_takes),
        change_of(graph_module._WrappedCall, "_generate_error_message", _without_the_compiler()),
    )


def _without_the_compiler() -> Any:
    """FX's message about an error in a graph's code, for which it asks what compiles to keep out.

    Where that has not been imported, nothing compiles; and importing it takes half a second.
    """
    original = graph_module._WrappedCall._generate_error_message
    nothing = SimpleNamespace(_dynamo=SimpleNamespace(disable=lambda function, **_: function))
    names = vars(graph_module) | {"torch": nothing}
    quick = FunctionType(original.__code__, names, original.__name__, original.__defaults__)

    def message_about(summary: FrameSummary) -> str:
        if "torch._dynamo" not in sys.modules:
            with suppress(AttributeError):  # another version asks `torch` for more
                return str(quick(summary))
        return original(summary)

    return staticmethod(message_about)


def _method_that_stands_in(name: str) -> Callable[..., Any]:
    """A method of modules that calls what FX wants to stand there now."""
    names: dict[str, Any] = {"wanted": _wanted[name], "original": vars(nn.Module)[name]}
    method: Callable[..., Any] = _as_of(
        _symbolic_trace, name, _STANDING_IN.format(name=name), names
    )
    return method


def _noting(standing_in: dict[str, Callable[..., Any]]) -> tuple[Callable[..., None], ...]:
    """FX's ways of putting a method into a class and of taking it out, which note it instead."""
    change = _symbolic_trace._PatchedFnSetAttr
    set_really, take_back_really = change.patch, change.revert

    def patch(self: Any) -> None:
        # Where somebody else's method stands in the class, FX takes its place as ever.
        if _is_meant(self) and vars(nn.Module).get(self.fn_name) is standing_in[self.fn_name]:
            _wanted[self.fn_name].append(self.new_fn)
        else:
            set_really(self)

    def revert(self: Any) -> None:
        if _is_meant(self) and self.new_fn in _wanted[self.fn_name]:
            _wanted[self.fn_name].remove(self.new_fn)
        else:
            take_back_really(self)

    return patch, revert


def _as_of(module: ModuleType, name: str, text: str, names: dict[str, Any]) -> Any:
    """A function that is one of FX's, as far as a learner's traceback shows.

    Its lines come behind the last one of the module's file, so that there is no text to show.

    Args:
        module: the module.
        name: what the function is called.
        text: its definition.
        names: what the text speaks of.
    """
    names["__name__"] = module.__name__
    exec(compile(_BEHIND * "\n" + text, str(module.__file__), "exec"), names)
    return names[name]


def _kept(wrap: Callable[..., Any]) -> Callable[..., Any]:
    """A function from functions to wrappers that makes each wrapper once."""
    keep = lru_cache(maxsize=1024)(wrap)

    def wrapper_of(function: Callable[..., Any]) -> Any:
        try:
            return keep(function)
        except TypeError:  # it has no hash
            return wrap(function)

    return wrapper_of


def _once_compiled(loader: Any) -> Callable[..., None]:
    """FX's way of running a graph's code, so that equal texts are compiled once."""

    @lru_cache(maxsize=1024)
    def compiled(source: str, fields: tuple[tuple[str, Any], ...]) -> CodeType:
        # The name of the file by which a traceback finds the text: any that has it will do.
        file = loader.cache(source, {}, dict(fields))
        return compile(source, file, "exec", dont_inherit=True)

    def exec_with_source(
        source: str, names: dict[str, Any], fields: dict[str, Any] | None = None
    ) -> None:
        exec(compiled(source, tuple((fields or {}).items())), names)

    return exec_with_source


_LEAVES = frozenset({type(None), bool, int, float, str, Node, Proxy})
"""Exact types of most arguments that hold no others, as trees go."""

_HOLDERS = frozenset({tuple, list, dict, immutable_list, immutable_dict})
"""Exact types of those that do."""

_PLAIN = frozenset({type(None), bool, int, float, str, tuple, list, dict, OrderedDict, set, Graph})
"""Exact types of most attributes that are no parameters, buffers or modules."""


def _trees_with_leaves_sooner() -> SimpleNamespace:
    """The functions about trees that a graph uses, with a short way to the leaves of most."""
    trees: Any = graph.pytree  # type: ignore[attr-defined]
    return SimpleNamespace(**vars(trees) | {"tree_iter": _leaves_by(trees.tree_iter)})


def _taking_sooner() -> Callable[..., Any]:
    """A tracer's way to take an argument; no tensor and no module goes the way it ends up with."""
    base = proxy.TracerBase
    usual = (_LEAVES | _HOLDERS) & proxy._create_arg_bypass.keys()
    ways = {kind: proxy._create_arg_bypass[kind] for kind in usual}
    names = {
        "ways": ways, "base": base, "known": base.create_arg,
        "original": _symbolic_trace.Tracer.create_arg,
    }  # fmt: skip
    taking: Callable[..., Any] = _as_of(_symbolic_trace, "create_arg", _TAKING, names)
    return taking


def _setting_sooner() -> Callable[..., Any]:
    """A module's way to set an attribute, without a look at all that something plain could be."""
    names: dict[str, Any] = {"original": nn.Module.__setattr__}
    names |= {"Module": nn.Module, "plain": _PLAIN}
    setting: Callable[..., Any] = _as_of(module_file, "__setattr__", _SETTING, names)
    return setting


def _leaves_by(tree_iter: Callable[..., Iterable[Any]]) -> Callable[..., Iterable[Any]]:
    """The leaves of a tree; of a node's arguments, where none of them holds others, at once."""

    def leaves(tree: Any, **wishes: Any) -> Iterable[Any]:
        if not wishes and type(tree) is tuple and len(tree) == 2:
            args, kwargs = tree
            if type(args) is tuple and type(kwargs) in _KEYWORDS and not kwargs:
                if _LEAVES.issuperset(map(type, args)):
                    return args
        return tree_iter(tree, **wishes)

    return leaves


_KEYWORDS = (dict, immutable_dict)


class _NoBar:
    """In place of a bar that shows nothing."""

    def update(self, steps: int) -> None:
        """Show nothing."""


def _bar_for(bar: Callable[..., Any]) -> Callable[..., Any]:
    """What makes the bar of an `fx.Interpreter`: one of each run, shown or not."""
    nothing = _NoBar()

    def maker(*args: Any, **wishes: Any) -> Any:
        return nothing if wishes.get("disable") else bar(*args, **wishes)

    return maker


class _OfMath:
    """The change of all of `math`'s functions, as one of those that a trace takes back."""

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
        """Whether a trace wraps all of them, and nobody has changed any."""
        return self._ids <= function_ids and tuple(self._names.values()) == self._values

    def patch(self) -> None:
        """Have the wrappers stand there."""
        self._names.update(self._wrappers)

    def revert(self) -> None:
        """Have the functions stand there again."""
        self._names.update(self._functions)


def _wrapping(check: Callable[..., None], wrapper_of: Callable[..., Any]) -> Callable[..., None]:
    """FX's search of a namespace for functions to wrap; it need not search `math`."""
    names = vars(math)
    change = _OfMath(names, wrapper_of)

    def autowrap_check(patcher: Any, frame_dict: dict[str, Any], function_ids: set[int]) -> None:
        if frame_dict is not names or not change.is_due(function_ids):
            check(patcher, frame_dict, function_ids)
        elif patcher.visit_once(frame_dict):
            patcher.patches_made.append(change)
            change.patch()

    return autowrap_check


Table = dict[tuple[int, str], dict[str, Any]]
"""FX's own: by namespace and name, the namespaces of what was given to `fx.wrap`."""


_ABSENT = object()


class _OfWrapped:
    """The change of all functions that were given to `fx.wrap`, as one that a trace takes back.

    A name that is not in its namespace, as that of a builtin, is taken out again.

    Args:
        table: which they are.
        wrap: makes the wrapper of a function.

    Raises:
        AttributeError: there is no function of a name.
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
        """Whether a trace wraps these, and each of them is what it was."""
        return table == self._table and all(
            names.get(name, _ABSENT) is value for names, name, value in self._found
        )

    def patch(self) -> None:
        """Have the wrappers stand there."""
        for names, name, wrapper in self._wrappers:
            names[name] = wrapper

    def revert(self) -> None:
        """Have the functions stand there again."""
        for names, name, value in self._found:
            if value is _ABSENT:
                del names[name]
            else:
                names[name] = value


def _wrapping_together(
    patch_each: Callable[..., None], wrapper_of: Callable[..., Any]
) -> Callable[..., None]:
    """FX's way of putting wrappers in the place of what was given to `fx.wrap`."""
    table = _symbolic_trace._wrapped_fns_to_patch
    methods = _symbolic_trace._wrapped_methods_to_patch
    known: _OfWrapped | None = None

    def patch_wrapped_functions(patcher: Any) -> None:
        nonlocal known
        if known is None or not known.is_due(table):
            try:
                known = _OfWrapped(table, wrapper_of)
            except AttributeError:
                known = None
        if known is None or methods:
            patch_each(patcher)
        else:
            patcher.patches_made.append(known)
            known.patch()

    return patch_wrapped_functions


@lru_cache(maxsize=256)
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


def _call_with_what_it_takes(
    self: graph.CodeGen, method: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """As FX's own: call a method with those of the keywords that it has parameters for."""
    known = _parameters(getattr(method, "__func__", method))
    return method(*args, **{name: value for name, value in kwargs.items() if name in known})


def _is_meant(change: Any) -> bool:
    return change.frame_dict is nn.Module and change.fn_name in _METHODS
