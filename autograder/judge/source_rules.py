"""What the text of an answer uses, where an exercise forbids a tool.

While an answer runs, its use of what is forbidden is noted; code in the same process can find
ways around that. Its text cannot be changed from there. It is parsed and never run: starting from
the definition of the answer, all that it reaches by name among the notebook's cells is looked at.

A text is clean, or uses what is forbidden, or cannot be followed: code that is made at run time, or
that stands in another file, is not in the text. The last costs nothing, as it proves nothing. It is
named to the person who grades. So a ban is a rule, not a wall.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from autograder.core.exercise import Exercise
from autograder.core.verdict import Finding
from autograder.judge.answer_text import Source

ROADS = frozenset(
    "__subclasses__ __getattribute__ __mro__ mro getmro __base__ __bases__ __closure__ _NodeBase "
    "__reduce__ __reduce_ex__ __getstate__ "  # what an object says of itself when it is copied
    "get_referents get_referrers get_objects pythonapi PyDLL py_object".split()
)
"""Attributes that lead around what notes the use of another; no exercise needs them."""

ROADS_BY_NAME = frozenset(
    "getmro get_referents get_referrers get_objects pythonapi PyDLL py_object".split()
)
"""The same for names."""

_MAKES_CODE = frozenset("compile exec eval __import__ FunctionType CodeType LambdaType".split())
"""Names of what turns text or data into code; `model.eval()` is another thing."""

_OF_CODE = frozenset("__code__ __globals__ __builtins__ FunctionType CodeType LambdaType".split())
"""Attributes that lead to code, or to names, which the text does not show."""

_BY_NAME = frozenset("getattr attrgetter methodcaller".split())
"""Functions that read an attribute whose name they are given."""

_KNOWN_PACKAGES = sys.stdlib_module_names | frozenset(
    "torch torchvision autograder numpy matplotlib IPython".split()
)
_LOADS_CODE = frozenset("ctypes importlib marshal pickle runpy".split())
"""Modules of Python that load or make code which stands in no cell."""

MOST, LONGEST = 4, 60
"""How many things that cannot be followed are named, and with how many characters each."""

_MAGIC = re.compile(r"^\s*(%%?|!|\?)|\?\s*$")
_PATH = re.compile(r"[\w.]+")
_STAR = "*"
"""Stands for the names of `from somewhere import *`."""


@dataclass(frozen=True)
class Reading:
    """What the text of an answer uses; clean if it uses neither.

    Attributes:
        forbidden: forbidden words, and roads to them.
        unread: what keeps a reader from saying what else it uses: see `Verdict.unread`.
    """

    forbidden: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def reading_of(exercise: Exercise, source: Source) -> Reading:
    """What an answer uses by its text; nothing where the exercise forbids nothing.

    Args:
        exercise: says what may not be used.
        source: where the text stands.
    """
    if not exercise.forbidden_words:
        return Reading()
    return read(source.cells, source.name, exercise.forbidden_words)


def source_findings(exercise: Exercise, reading: Reading) -> list[Finding]:
    """What is wrong with an answer by its text.

    Args:
        exercise: says what may not be used.
        reading: what the text uses.
    """
    you = f"`{exercise.name}`"
    return [
        Finding(
            "forbidden",
            f"The text of {you} says `{word}`"
            + (", which this exercise forbids." if word in exercise.forbidden_words
               else "; with that, one gets at what this exercise forbids."),
            "The point is to do its work yourself. Functions that your answer calls count, too.",
        )
        for word in reading.forbidden
    ]  # fmt: skip


def read(cells: Sequence[str], name: str, forbidden: Collection[str]) -> Reading:
    """The forbidden words and roads that an answer's text uses, and what cannot be followed in it.

    A word counts as an attribute, as a name that the notebook does not define itself, and as
    text, from which `getattr` and its relatives make an attribute. What a class of the notebook
    defines under such a name and reads from its own objects does not count, nor does text that
    only mentions a word.

    Args:
        cells: the sources of code cells that have run when the answer is tried, in order. Of
            several definitions of a name the last one counts.
        name: what the answer is called.
        forbidden: the words.
    """
    known = _definitions(cells)
    words = frozenset(forbidden)
    found: dict[str, None] = {}
    unread: dict[str, None] = {}
    if name not in known:
        unread[f"no cell defines {name}"] = None
    waiting, seen = [name], {name}
    while waiting:
        for definition in known.get(waiting.pop(), ()):
            reached = set(_free_names(definition))
            elsewhere = reached - known.keys()
            if elsewhere - vars(builtins).keys():
                reached.add(_STAR)  # it may come from `from somewhere import *`
            new = (reached & known.keys()) - seen
            seen |= new
            waiting += sorted(new)
            found |= dict.fromkeys(sorted(elsewhere & (words | ROADS_BY_NAME)))
            found |= dict.fromkeys(w for w in _words(definition) if w in words | ROADS)
            unread |= dict.fromkeys(sorted(elsewhere & _MAKES_CODE))
            unread |= dict.fromkeys(_not_followed(definition, elsewhere))
    return Reading(tuple(found), tuple(name[:LONGEST] for name in list(unread)[:MOST]))


# ------------------------------------------------------------------ what is defined where


def _definitions(cells: Sequence[str]) -> dict[str, list[ast.stmt]]:
    """The statements at the top of cells that give a name its meaning, by name."""
    found: dict[str, list[ast.stmt]] = {}
    for cell in cells:
        for at_top, statement in _statements(_parsed(cell)):
            for name, imported in _imported(statement):
                before = found.get(name, []) if name == _STAR else []
                found[name] = [*before, imported]
            for name in _names_bound(statement):
                if at_top and _replaces(statement):
                    found[name] = []
                found.setdefault(name, []).append(statement)
    return found


def _imported(statement: ast.stmt) -> Iterator[tuple[str, ast.stmt]]:
    """The names that an import gives, each with an import of it alone."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0], ast.Import([alias])
    elif isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            alone = ast.ImportFrom(statement.module, [alias], statement.level)
            yield alias.asname or alias.name, alone


def _replaces(statement: ast.stmt) -> bool:
    """Whether what a name meant before is gone after a statement, in any case."""
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Name) for target in statement.targets)
    return isinstance(statement, definitions)


def _parsed(cell: str) -> list[ast.stmt]:
    """The statements of a cell; none of one that is no Python."""
    lines = ["" if _MAGIC.search(line) else line for line in cell.splitlines()]
    for text in (cell, "\n".join(lines)):
        try:
            return ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return []


def _statements(body: Iterable[ast.stmt], at_top: bool = True) -> Iterator[tuple[bool, ast.stmt]]:
    """All statements of a cell that are outside of functions and classes.

    Each with whether it stands by itself, and not within an `if`, a `try`, a `with` or a loop.
    """
    for statement in body:
        yield at_top, statement
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            parts = (getattr(statement, name, []) for name in ("body", "orelse", "finalbody"))
            handlers = (handler.body for handler in getattr(statement, "handlers", []))
            for part in (*parts, *handlers):
                yield from _statements(part, at_top=False)


def _names_bound(statement: ast.stmt) -> Iterator[str]:
    """The names to which a statement gives a meaning of the notebook's own."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
        return
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return
    # Statements within this one speak for themselves; what is bound in between is its own.
    for part in ast.iter_child_nodes(statement):
        if not isinstance(part, ast.stmt):
            for node in ast.walk(part):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id
    if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign):
        # `inputs_of.helper = other` gives what is called so another meaning, too.
        targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
        for target in targets:
            while isinstance(target, ast.Attribute | ast.Subscript):
                target = target.value
                if isinstance(target, ast.Name):
                    yield target.id


# ------------------------------------------------------------------ what cannot be followed


def _not_followed(definition: ast.stmt, elsewhere: Collection[str]) -> Iterator[str]:
    """What a statement uses besides names that can be looked up, attributes, and known imports.

    Args:
        definition: the statement.
        elsewhere: the names in it that no cell defines.
    """
    followed = {id(node.func) for node in ast.walk(definition) if _reads_a_constant(node)}
    for node in ast.walk(definition):
        match node:
            case ast.Attribute(attr=name) if name in _OF_CODE:
                yield name
            case ast.Attribute(value=ast.Name(id="sys"), attr="modules"):
                yield "sys.modules"
            case ast.Attribute(value=ast.Name(id="builtins"), attr=name) if name in _MAKES_CODE:
                yield name
            case ast.Name(id=name) if name in _BY_NAME and name in elsewhere:
                if id(node) not in followed:
                    yield name
            case ast.Attribute(attr=name) if name in _BY_NAME:
                if id(node) not in followed:
                    yield name
            case ast.Import(names=names):
                yield from (f"import {each.name}" for each in names if not _is_known(each.name))
            case ast.ImportFrom(module=module, names=names, level=level):
                if level or not _is_known(module or ""):
                    yield f"from {'.' * level}{module or ''} import"
                yield from (
                    each.name
                    for each in names
                    if each.name in _MAKES_CODE or (module, each.name) == ("sys", "modules")
                )


def _is_known(module: str) -> bool:
    """Whether a module is Python's, or of a package that this course uses, and makes no code."""
    top = module.partition(".")[0]
    return top in _KNOWN_PACKAGES and top not in _LOADS_CODE


def _reads_a_constant(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether a call reads an attribute whose name stands in the text."""
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    called = node.func.id if isinstance(node.func, ast.Name) else called
    names = {"getattr": node.args[1:2], "methodcaller": node.args[:1]}.get(called, node.args)
    return bool(names) and all(_text(each) is not None for each in names)


# ------------------------------------------------------------------ what a definition uses


def _free_names(definition: ast.stmt) -> Iterator[str]:
    """The names that a statement reads from outside of it; those of its own are left out."""
    try:
        top = symtable.symtable(ast.unparse(definition), "cell", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return
    waiting = [top]
    while waiting:
        part = waiting.pop()
        waiting += part.get_children()
        for symbol in part.get_symbols():
            if symbol.is_referenced() and (part is top or symbol.is_global()):
                yield symbol.get_name()


def _words(definition: ast.stmt) -> Iterator[str]:
    """Attributes, keys made of text, and imported names, in the order in which they stand."""
    quiet = {id(node.value) for node in ast.walk(definition) if isinstance(node, ast.Expr)}
    owns = _own_attributes(definition)
    for node in ast.walk(definition):
        if isinstance(node, ast.Attribute) and id(node) not in owns:
            yield node.attr
        elif isinstance(node, ast.MatchClass):
            yield from node.kwd_attrs
        elif isinstance(node, ast.ImportFrom | ast.Import):
            for alias in node.names:
                yield from alias.name.split(".")
        elif isinstance(node, ast.Constant | ast.BinOp | ast.JoinedStr) and id(node) not in quiet:
            text = _text(node)
            if text and _PATH.fullmatch(text):
                yield from text.split(".")


def _own_attributes(definition: ast.stmt) -> set[int]:
    """Where methods of classes defined here use attributes that their class defines."""
    found: set[int] = set()
    for cls in ast.walk(definition):
        if isinstance(cls, ast.ClassDef):
            uses = [node for method in cls.body for node in _uses_of_self(method)]
            own = {node.attr for node in uses if isinstance(node.ctx, ast.Store)}
            own |= {name for statement in cls.body for name in _names_bound(statement)}
            found |= {id(node) for node in uses if node.attr in own}
    return found


def _uses_of_self(method: ast.stmt) -> list[ast.Attribute]:
    """The attributes of a method's first parameter."""
    if not (isinstance(method, ast.FunctionDef) and method.args.args):
        return []
    this = method.args.args[0].arg
    attributes = (node for node in ast.walk(method) if isinstance(node, ast.Attribute))
    return [n for n in attributes if isinstance(n.value, ast.Name) and n.value.id == this]


def _text(node: ast.expr) -> str | None:
    """The text that an expression of constants stands for."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.FormattedValue):
        return _text(node.value) if node.format_spec is None and node.conversion < 0 else None
    if isinstance(node, ast.JoinedStr):
        parts = [_text(value) for value in node.values]
        return None if None in parts else "".join(map(str, parts))
    return None


UNREACHED = "unreached"


def unreached(source: Source) -> Iterator[Finding]:
    """The finding that an answer stands below the stub's `raise`, which still ends the call."""
    try:
        tree = ast.parse(source.cell)
    except (SyntaxError, ValueError):
        return
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    for statement in (each for function in functions for each in function.body[:-1]):
        if isinstance(statement, ast.Raise) and "NotImplementedError" in ast.unparse(statement):
            yield Finding(
                UNREACHED,
                f"Line {statement.lineno} of `{source.name}` still raises `NotImplementedError`; "
                "the lines below it are never reached.",
                "Remove that line.",
            )
            return
