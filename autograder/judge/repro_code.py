"""The code of a case, ready to be pasted into a new cell with everything that it needs.

The text of a class lacks the constants, helper functions and imports of its module. They are found
by the names that the text uses, and added around it.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import symtable
import sys
import textwrap
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import ModuleType
from typing import Any

import torch
from torch import fx, nn
from torch.library import CustomOpDef  # type: ignore[attr-defined]

from autograder.fuzz.wrapped import Wrapped

_LIBRARIES = frozenset(sys.stdlib_module_names) | {"torch", "torchvision"} - {"__main__"}
"""Modules that are imported; all other definitions are written out."""

_GIVEN = "autograder.given"
"""Functions that the course provides; learners import them from this module."""

_BUILTIN = frozenset(vars(builtins)) | {"__name__", "__file__", "__class__"}


@dataclass(frozen=True)
class Piece:
    """A text, and the names that it may use.

    Attributes:
        text: whole statements; dropped if they are not Python.
        scope: the values of its global names.
        module: the module that defines these names.
    """

    text: str
    scope: dict[str, Any]
    module: str = ""


def piece_of(value: Any) -> Piece:
    """The code of a model, function or object of a case.

    A layer or network of a library takes one line, which imports or builds it.
    """
    if isinstance(value, fx.GraphModule):
        return _graph_modules(value)
    thing: Any = value if inspect.isfunction(value) or inspect.isclass(value) else type(value)
    home = _home(thing)
    scope = {**getattr(sys.modules.get(home), "__dict__", {}), **_closed_over(thing)}
    if hasattr(thing, "source_code"):  # a random model
        return Piece(str(thing.source_code), _scope_of(thing), home)
    if _is_library(home):
        return Piece(_of_library(value, thing), {"nn": nn, "OrderedDict": OrderedDict})
    try:
        text = _text_of(thing)
    except (OSError, TypeError):
        return Piece(_commented(repr(value)[:2_000]), {})
    return Piece(text if _is_python(text) else _commented(text), scope, home)


@lru_cache(maxsize=256)
def _text_of(thing: Any) -> str:
    """The text of a class or function; cached, as `inspect` parses the whole file for each class.

    Raises:
        OSError, TypeError: if there is no text.
    """
    return textwrap.dedent(inspect.getsource(thing))


def graph_text(gm: fx.GraphModule, steps: tuple[str, ...]) -> str:
    """The table of a graph that may differ from its code, as comments."""
    lines = ["and this graph", *str(gm.graph).strip().splitlines()]
    return _commented("\n".join([*lines, *(f"made with {step}" for step in steps)]))


def pasteable(pieces: list[Piece]) -> str:
    """The pieces one after the other, with the imports, constants and helpers that they need.

    Definitions that a class or function needs when it is defined precede it; those that it needs
    when it is called follow. The first piece comes first, so that a card shows it, after its own
    imports only.
    """
    page = _Page()
    page.write(pieces[0])
    page.import_what_is_called()
    top = page.taken()
    for piece in pieces[1:]:
        page.write(piece)
    page.write_what_is_called()
    return "\n\n".join(filter(None, (top, page.taken()))) + "\n"


@dataclass
class _Page:
    """The imports and texts that are written, but not yet taken."""

    texts: list[str] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    known: set[tuple[str, str]] = field(default_factory=set)
    later: list[tuple[str, Piece]] = field(default_factory=list)
    said: set[str] = field(default_factory=set)

    def taken(self) -> str:
        """Return the imports and texts that were not returned before."""
        imports = sorted(self.imports - self.said)
        texts = [text for text in dict.fromkeys(self.texts) if text not in self.said]
        self.said |= {*imports, *texts}
        self.imports.clear()
        self.texts.clear()
        return "\n\n".join(filter(None, (_merged(imports), *(t.strip("\n") for t in texts))))

    def import_what_is_called(self) -> None:
        """Import the names of libraries that the functions written so far use when called."""
        lines = [(name, user, _import_of(name, user.scope.get(name))) for name, user in self.later]
        self.imports |= {line for *_, line in lines if line}
        self.later = [(name, user) for name, user, line in lines if not line]

    def write(self, piece: Piece) -> None:
        first, then = _names_used(piece.text)
        self.known |= {(piece.module, name) for name in _defined(piece.text)}
        for name in first:
            self.define(name, piece)
        self.texts.append(piece.text)
        self.later += [(name, piece) for name in then]

    def write_what_is_called(self) -> None:
        while self.later:
            self.define(*self.later.pop(0))

    def define(self, name: str, user: Piece) -> None:
        """Write the definition of a name, once."""
        if (user.module, name) in self.known or name not in user.scope:
            return
        self.known.add((user.module, name))
        value = user.scope[name]
        if isinstance(value, Wrapped):
            self.wrapped(name, value.function, user)
            return
        line = _import_of(name, value) or _operator(name, value, user.module)
        if line:
            self.imports.add(line)
            return
        home, text = _definition(user.module, name)
        if text and (home, name) not in self.known | {(user.module, name)}:
            self.known.add((home, name))
            self.write(Piece(text, vars(sys.modules[home]), home))
        elif text and home == user.module:
            self.write(Piece(text, user.scope, home))
        elif not text and callable(value):
            self.write(piece_of(value))
            own = getattr(value, "__name__", name)
            self.texts += [f"{name} = {own}"] if own != name else []
        elif not text and type(value) is torch.Tensor:
            self.imports.add("import torch")
            self.texts.append(f"{name} = torch.{value!r}")
        elif not text and _is_python(repr(value)):
            self.texts.append(f"{name} = {value!r}")

    def wrapped(self, name: str, function: Any, user: Piece) -> None:
        """Write a function of random models, which is registered with `fx.wrap`."""
        self.known.discard((user.module, name))
        self.define(name, replace(user, scope={**user.scope, name: function}))
        self.imports.add("from torch import fx")
        self.texts.append(f'fx.wrap("{name}")')


def _merged(imports: list[str]) -> str:
    """Merge import lines into one for each module."""
    names: dict[str, list[str]] = {}
    for line in imports:
        module, _, name = line.partition(" import ")
        names.setdefault(module, []).append(name)
    whole = sorted(line for line in imports if not line.startswith("from "))
    taken = (f"{module} import {', '.join(own)}" for module, own in names.items() if own != [""])
    return "\n".join([*whole, *taken])


def _import_of(name: str, value: Any) -> str:
    """The line that imports a module, or an object that a library defines; ``""`` if neither."""
    if isinstance(value, ModuleType):
        parent, _, last = value.__name__.rpartition(".")
        if last == name:
            return f"from {parent} import {name}" if parent else f"import {name}"
        return f"import {value.__name__} as {name}"
    home = getattr(value, "__module__", None) or ""
    if not isinstance(home, str) or not (_is_library(home) or home == _GIVEN):
        return ""
    own = getattr(value, "__name__", None) or getattr(value, "_name", None) or ""
    if not own or getattr(sys.modules.get(home), own, None) is not value:
        return ""
    if home == "builtins":
        return ""
    shown = {"torch._tensor": "torch"}.get(home, home)
    return f"from {shown} import {own}" + (f" as {name}" if own != name else "")


def _operator(name: str, value: Any, module: str) -> str:
    """The line that imports a custom operator of a case; ``""`` for another value.

    A pasted definition would register the operator a second time in the process. This would remove
    the course's operator, and the next check would fail, or the kernel crash.
    """
    return f"from {module} import {name}" if isinstance(value, CustomOpDef) else ""


def _definition(module: str, name: str) -> tuple[str, str]:
    """The module of the course that defines a name, and the text of the definition."""
    if not module or _is_library(module):
        return module, ""
    statements = _statements(module)
    if name in statements:
        return module, statements[name]
    source = _imported_from(module).get(name)
    return _definition(source, name) if source else (module, "")


@lru_cache(maxsize=64)
def _tree(module: str) -> tuple[str, ast.Module]:
    try:
        text = inspect.getsource(sys.modules[module])
    except (OSError, TypeError, KeyError):
        text = ""  # it has no file
    return text, ast.parse(text)


@lru_cache(maxsize=64)
def _statements(module: str) -> dict[str, str]:
    """The top-level statements of a module by the name that they define, with its `fx.wrap`."""
    text, tree = _tree(module)
    lines = text.splitlines()
    found: dict[str, str] = {}
    for statement in tree.body:
        first = min([statement.lineno, *(d.lineno for d in _decorators(statement))])
        own = "\n".join(lines[first - 1 : statement.end_lineno])
        for name in _defined_by(statement) or _wrapped_by(statement):
            found[name] = f"{found[name]}\n\n{own}" if name in found else own
    return found


@lru_cache(maxsize=64)
def _imported_from(module: str) -> dict[str, str]:
    """The names that a module imports from the course, each with the module that it comes from."""
    return {
        alias.asname or alias.name: statement.module
        for statement in _tree(module)[1].body
        if isinstance(statement, ast.ImportFrom) and not _is_library(statement.module or "")
        for alias in statement.names
        if statement.module
    }


def _decorators(statement: ast.stmt) -> list[ast.expr]:
    return getattr(statement, "decorator_list", [])


def _defined_by(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    names = (node for target in targets for node in ast.walk(target))
    return [node.id for node in names if isinstance(node, ast.Name)]


def _wrapped_by(statement: ast.stmt) -> list[str]:
    """The name in a line such as ``fx.wrap("slow")``; none for another statement."""
    found = re.fullmatch(r"(?:torch\.)?fx\.wrap\(['\"](\w+)['\"]\)", ast.unparse(statement))
    return [found[1]] if found else []


def _defined(text: str) -> set[str]:
    return {n for statement in ast.parse(text).body for n in _defined_by(statement)}


def _names_used(text: str) -> tuple[list[str], list[str]]:
    """The global names that a text needs when it runs, and those that its functions need later."""
    table = symtable.symtable(text, "<a case>", "exec")
    own = _defined(text)
    first: dict[str, None] = {}
    later: dict[str, None] = {}
    for each in _tables(table):
        wanted = later if each.get_type() == "function" else first
        for symbol in each.get_symbols():
            at_top = each is table and not symbol.is_assigned()
            if symbol.is_referenced() and (at_top or symbol.is_global()):
                wanted[symbol.get_name()] = None
    skipped = own | _BUILTIN
    before = [name for name in first if name not in skipped]
    return before, [name for name in later if name not in skipped and name not in first]


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def _is_python(text: str) -> bool:
    """Whether a text compiles by itself; the line of a lambda is often part of another."""
    try:
        compile(text, "<a case>", "exec")
    except SyntaxError:
        return False
    return True


def _commented(text: str) -> str:
    return textwrap.indent(text.strip("\n"), "# ", lambda line: True)


def _scope_of(thing: Any) -> dict[str, Any]:
    """The global names of a function, or of the methods of a class."""
    function = thing if inspect.isfunction(thing) else getattr(thing, "forward", None)
    return getattr(function, "__globals__", {})


def _closed_over(thing: Any) -> dict[str, Any]:
    """The values that a function closes over, by name."""
    names = getattr(getattr(thing, "__code__", None), "co_freevars", ())
    cells = getattr(thing, "__closure__", None) or ()
    return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}


def _graph_modules(gm: fx.GraphModule) -> Piece:
    """The code of a graph module, with functions of the course by their own names.

    FX gives a wrapped function a long name that contains its module.
    """
    code = re.sub(r"(?m)^torch\.fx\._symbolic_trace\.wrap\(.*\)\n", "", gm.code)
    scope = dict(getattr(type(gm).forward, "__globals__", {}))
    for name, value in list(scope.items()):
        own = str(getattr(value, "__name__", name))
        if own != name and own.isidentifier() and not _is_library(_home(value)):
            shown = f"call_{own}" if re.search(rf"\b{own} =", code) else own  # a variable's name
            code, scope[shown] = re.sub(rf"\b{name}\b", shown, code), value
    said = f"# a GraphModule with this code\n{code.strip()}"
    return Piece(said if _is_python(code) else _commented(said), scope)


def _home(value: Any) -> str:
    """The module that defines a value; ``"torch"`` if it has none."""
    home = getattr(value, "__module__", None)
    return home if isinstance(home, str) else "torch"


def _is_library(module: str) -> bool:
    return module.partition(".")[0] in _LIBRARIES


def _of_library(value: Any, thing: type) -> str:
    """One line for a layer or network of a library."""
    expression = _expression(value)
    if expression:
        return f"model = {expression}"
    if isinstance(value, nn.Module) and hasattr(nn, thing.__name__):
        return _commented(repr(value)[:2_000])
    if getattr(sys.modules.get(thing.__module__), thing.__name__, None) is thing:
        name = thing.__name__
        return f"from {thing.__module__} import {name}  # the model is a {name}"
    return _commented(repr(value)[:2_000])


def _expression(module: Any) -> str:
    """Code that builds a layer, or an `nn.Sequential` of such layers; ``""`` if unknown."""
    kind = type(module)
    if getattr(nn, kind.__name__, None) is not kind:
        return ""
    if kind is not nn.Sequential:
        return f"nn.{module!r}" if _builds(repr(module), kind) else ""
    children = dict(module.named_children())
    parts = [_expression(child) for child in children.values()]
    if not all(parts):
        return ""
    if list(children) == [str(place) for place in range(len(children))]:
        return f"nn.Sequential({', '.join(parts)})"
    pairs = ", ".join(f"{name}={part}" for name, part in zip(children, parts, strict=True))
    return f"nn.Sequential(OrderedDict({pairs}))"


def _builds(text: str, kind: type) -> bool:
    """Whether the `repr` of a layer, which need not be code, builds a layer of this type."""
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call):
            return False
        kwargs = {word.arg or "": ast.literal_eval(word.value) for word in call.keywords}
        return type(kind(*map(ast.literal_eval, call.args), **kwargs)) is kind
    except Exception:
        return False
