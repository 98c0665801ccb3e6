"""Finds forbidden names in the text of an answer.

The runner records the use of forbidden functions while an answer runs, but code in the same
process can evade that. It cannot change the text of the cells. The text is parsed and never run:
the reader starts from the definition of the answer and follows every name to the notebook's cells.

A text is clean, uses a forbidden name, or cannot be followed, for example because it makes code at
run time or imports another file. The last case proves nothing, so it costs no points; the verdict
reports it to the grader. A ban is therefore a rule, and not a security boundary.
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
    "__reduce__ __reduce_ex__ __getstate__ "  # the state that an object gives when it is copied
    "get_referents get_referrers get_objects pythonapi PyDLL py_object".split()
)
"""Attributes that evade the recording of forbidden functions; no exercise needs them."""

ROADS_BY_NAME = frozenset(
    "getmro get_referents get_referrers get_objects pythonapi PyDLL py_object".split()
)
"""Functions that do the same."""

_MAKES_CODE = frozenset("compile exec eval __import__ FunctionType CodeType LambdaType".split())
"""Names of functions that turn text or data into code; `model.eval()` is unrelated."""

_OF_CODE = frozenset("__code__ __globals__ __builtins__ FunctionType CodeType LambdaType".split())
"""Attributes that give access to code, or to names, that the text does not show."""

_BY_NAME = frozenset("getattr attrgetter methodcaller".split())
"""Functions that read an attribute whose name is an argument."""

_KNOWN_PACKAGES = sys.stdlib_module_names | frozenset(
    "torch torchvision autograder numpy matplotlib IPython".split()
)
_LOADS_CODE = frozenset("ctypes importlib marshal pickle runpy".split())
"""Modules of Python that load or make code that is in no cell."""

MOST, LONGEST = 4, 60
"""Number of constructs listed that cannot be followed, and the length of each."""

_MAGIC = re.compile(r"^\s*(%%?|!|\?)|\?\s*$")
_PATH = re.compile(r"[\w.]+")
_STAR = "*"
"""The key for the names of `from somewhere import *`."""


@dataclass(frozen=True)
class Reading:
    """The findings in the text of an answer; the text is clean if both are empty.

    Attributes:
        forbidden: forbidden words, and attributes that give access to them.
        unread: constructs that the reader cannot follow: see `Verdict.unread`.
    """

    forbidden: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def reading_of(exercise: Exercise, source: Source) -> Reading:
    """Read an answer's text; the reading is empty if the exercise forbids nothing.

    Args:
        exercise: the exercise, with its forbidden words.
        source: the text.
    """
    if not exercise.forbidden_words:
        return Reading()
    return read(source.cells, source.name, exercise.forbidden_words)


def source_findings(exercise: Exercise, reading: Reading) -> list[Finding]:
    """The findings about an answer's text.

    Args:
        exercise: the exercise, with its forbidden words.
        reading: the words that the text uses.
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
    """List the forbidden words in an answer's text, and the constructs that cannot be followed.

    A word counts as an attribute, as a name that the notebook does not define, and as a string,
    from which `getattr` and similar functions can make an attribute. It does not count if a class
    of the notebook defines it and reads it from its own objects, or if a string only mentions it.

    Args:
        cells: the sources of the code cells that have run before the answer is tried, in order. The
            last definition of a name counts.
        name: the name of the answer.
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
                reached.add(_STAR)  # it may be a name of `from somewhere import *`
            new = (reached & known.keys()) - seen
            seen |= new
            waiting += sorted(new)
            found |= dict.fromkeys(sorted(elsewhere & (words | ROADS_BY_NAME)))
            found |= dict.fromkeys(w for w in _words(definition) if w in words | ROADS)
            unread |= dict.fromkeys(sorted(elsewhere & _MAKES_CODE))
            unread |= dict.fromkeys(_not_followed(definition, elsewhere))
    return Reading(tuple(found), tuple(name[:LONGEST] for name in list(unread)[:MOST]))


# ------------------------------------------------------------------ definitions


def _definitions(cells: Sequence[str]) -> dict[str, list[ast.stmt]]:
    """The top-level statements of cells that define a name, by name."""
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
    """The names that an import defines, each with an import of this name alone."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0], ast.Import([alias])
    elif isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            alone = ast.ImportFrom(statement.module, [alias], statement.level)
            yield alias.asname or alias.name, alone


def _replaces(statement: ast.stmt) -> bool:
    """Whether a statement always replaces the earlier meaning of a name."""
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Name) for target in statement.targets)
    return isinstance(statement, definitions)


def _parsed(cell: str) -> list[ast.stmt]:
    """The statements of a cell; none if it is not Python."""
    lines = ["" if _MAGIC.search(line) else line for line in cell.splitlines()]
    for text in (cell, "\n".join(lines)):
        try:
            return ast.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return []


def _statements(body: Iterable[ast.stmt], at_top: bool = True) -> Iterator[tuple[bool, ast.stmt]]:
    """Yield all statements of a cell that are outside of functions and classes.

    The flag says whether the statement is at the top level, not in an `if`, `try`, `with` or loop.
    """
    for statement in body:
        yield at_top, statement
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            parts = (getattr(statement, name, []) for name in ("body", "orelse", "finalbody"))
            handlers = (handler.body for handler in getattr(statement, "handlers", []))
            for part in (*parts, *handlers):
                yield from _statements(part, at_top=False)


def _names_bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement binds, imports excepted."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
        return
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return
    # Nested statements are visited on their own; here only the expressions of this one count.
    for part in ast.iter_child_nodes(statement):
        if not isinstance(part, ast.stmt):
            for node in ast.walk(part):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id
    if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign):
        # `inputs_of.helper = other` also changes the meaning of a name.
        targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
        for target in targets:
            while isinstance(target, ast.Attribute | ast.Subscript):
                target = target.value
                if isinstance(target, ast.Name):
                    yield target.id


# ------------------------------------------------------------------ unreadable constructs


def _not_followed(definition: ast.stmt, elsewhere: Collection[str]) -> Iterator[str]:
    """Yield the constructs in a statement that the reader cannot follow.

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
    """Whether a module of Python or of a package that the course uses, and does not make code."""
    top = module.partition(".")[0]
    return top in _KNOWN_PACKAGES and top not in _LOADS_CODE


def _reads_a_constant(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether a call reads an attribute whose name is a constant in the text."""
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    called = node.func.id if isinstance(node.func, ast.Name) else called
    names = {"getattr": node.args[1:2], "methodcaller": node.args[:1]}.get(called, node.args)
    return bool(names) and all(_text(each) is not None for each in names)


# ------------------------------------------------------------------ uses


def _free_names(definition: ast.stmt) -> Iterator[str]:
    """The names that a statement reads but does not define."""
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
    """Attributes, string keys and imported names, in order of appearance."""
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
    """The `id` of each node where a method uses an attribute that its own class defines."""
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
    """The text that an expression of constants evaluates to."""
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
    """Yield a finding if a `raise NotImplementedError` before the answer still ends the call."""
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
