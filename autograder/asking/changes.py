"""Changes of one line of an answer, for wrong options.

A changed line may do what nobody wrote. So a cell that can reach files is never changed.
"""

from __future__ import annotations

import ast
import builtins
import copy
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import TypeGuard

import torch

from autograder.asking.code import Code, Place

_LIBRARIES = frozenset({
    "__future__", "abc", "autograder", "collections", "contextlib", "copy", "dataclasses", "enum",
    "functools", "heapq", "inspect", "itertools", "math", "numbers", "operator", "random", "re",
    "statistics", "string", "textwrap", "time", "torch", "torchvision", "traceback", "types",
    "typing", "warnings",
})  # fmt: skip
"""Modules that an answer may import and still be changed: with these, no line reaches a file
unless it names one of the functions below."""

_FUNCTIONS = frozenset({"__import__", "eval", "exec", "open"})
_ATTRIBUTES = frozenset({"hub", "load", "os", "save", "sys", "system", "to_folder"})

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip

_RELATED = {
    "args": "all_input_nodes", "all_input_nodes": "args", "name": "target", "target": "name",
    "inserting_before": "inserting_after", "inserting_after": "inserting_before",
    "append": "prepend", "prepend": "append", "add": "discard",
    "all": "any", "any": "all", "min": "max", "max": "min",
}  # fmt: skip
"""Names that are easily confused."""

_IN_PLACE = frozenset({"abs", "add", "exp", "mul", "neg", "relu", "sigmoid", "sub", "tanh"})
"""Operations that PyTorch also has with an underscore."""

_OPERATIONS = {
    "relu": ("relu6", "tanh"), "relu6": ("relu", "sigmoid"), "relu_": ("tanh_", "neg_"),
    "exp": ("sin", "neg"), "sin": ("cos", "exp"), "cos": ("sin", "exp"), "abs": ("neg", "exp"),
    "sigmoid": ("tanh", "relu"), "tanh": ("sigmoid", "relu"), "neg": ("abs", "exp"),
    "add": ("sub", "mul"), "sub": ("add", "mul"), "mul": ("div", "add"), "add_": ("sub_", "mul_"),
    "mul_": ("div_", "add_"), "sum": ("mean", "prod"), "mean": ("sum", "prod"),
    "zeros": ("ones",), "ones": ("zeros",), "clone": ("detach", "abs"), "rand": ("ones",),
}  # fmt: skip
"""Operations of a model, each with another one."""

_OPERATORS: dict[str, type[ast.operator]] = {"add": ast.Add, "sub": ast.Sub, "mul": ast.Mult}

_NO_VALUES = frozenset({"torch", "F", "nn", "self", "operator", "fx", "super"})

_OTHER: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip

_WRAPPERS = ("list", "reversed", "sorted", "tuple", "set")
"""Functions whose call is replaced by its argument."""

_STATEMENTS = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete, ast.Continue, ast.Break, ast.Raise)


@dataclass(frozen=True)
class Change:
    """One changed line.

    Attributes:
        line: its number.
        new: the new line, without its indentation; ``""`` if it is left out.
        cell: the whole changed cell.
        other: the next line, if the two change places.
    """

    line: int
    new: str
    cell: str
    other: int = 0

    @property
    def said(self) -> str:
        """The change in words, as an option."""
        if self.other:
            return f"Lines {self.line} and {self.other} change places"
        return f"Line {self.line} becomes `{self.new}`" if self.new else f"Without line {self.line}"

    def told(self, old: str) -> str:
        """The change as sentences.

        Args:
            old: the old line, as a sentence.
        """
        if self.other:
            return f"{self.said}."
        return f"{old} You change it to `{self.new}`." if self.new else f"{old} You leave it out."


def changes_of(code: Code, random: Random) -> list[Change]:
    """All changes of an answer in random order; none if one may do harm."""
    return sorted(_all_changes(code), key=lambda _: random.random())


@lru_cache(maxsize=8)
def _all_changes(code: Code) -> tuple[Change, ...]:
    """All changes of an answer, each syntax tree once."""
    seen = {ast.dump(code.tree)}
    found = []
    for place in () if is_dangerous(code) else (*code.places.values(), *code.class_lines):
        for change in (*_of_line(code, place), *_swapped(code, place)):
            if "--" in change.new:
                continue
            tree = _tree(change.cell)
            if tree is not None and (key := ast.dump(tree)) not in seen:
                seen.add(key)
                found.append(change)
    return tuple(found)


def is_dangerous(code: Code) -> bool:
    """Whether changed lines of an answer could reach files, processes or the network."""
    return any(map(_is_dangerous, ast.walk(ast.parse(f"{code.before}\n{code.cell}"))))


def _is_dangerous(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id in _FUNCTIONS
    if isinstance(node, ast.Attribute):
        return node.attr in _ATTRIBUTES
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return False
    names = [alias.name for alias in node.names]
    modules = names if isinstance(node, ast.Import) else [node.module or ""]
    if any(module.partition(".")[0] not in _LIBRARIES for module in modules):
        return True
    return isinstance(node, ast.ImportFrom) and not _ATTRIBUTES.isdisjoint(names)


def _tree(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `is` with a literal
            tree = ast.parse(text)
            compile(tree, "<a change>", "exec")
    except (SyntaxError, ValueError):
        return None
    return tree


def _of_line(code: Code, place: Place) -> Iterator[Change]:
    lines = code.cell.splitlines()
    old = lines[place.line - 1]
    indent = old[: len(old) - len(old.lstrip())]

    def change(new: str, left_out: bool = False) -> Change:
        changed = [*lines[: place.line - 1], new, *lines[place.line :]]
        return Change(place.line, "" if left_out else new.strip(), "\n".join(changed) + "\n")

    if place.line != place.last:
        return
    if place.function is not None and _can_go(place, place.function):
        yield change(f"{indent}pass", left_out=True)
    in_model = getattr(place.function, "name", "") == "forward"
    for node in _own_nodes(place):
        if node.lineno != place.line or node.end_lineno != place.line:
            continue
        for new in _edits(node, in_model=in_model):
            data = old.encode()  # columns count bytes
            text = ast.unparse(ast.fix_missing_locations(new))
            text = text.replace("'", '"') if '"' in old and "'" not in old else text
            yield change(
                (data[: node.col_offset] + text.encode() + data[node.end_col_offset :]).decode()
            )


def _swapped(code: Code, place: Place) -> Iterator[Change]:
    """The change in which a statement and the next one change places."""
    after = code.places.get(place.last + 1)
    if after is None or place.line != place.last or after.line != after.last:
        return
    alike = place.text and _indent(code, place) == _indent(code, after)
    simple = all(isinstance(each.node, _STATEMENTS) for each in (place, after))
    if alike and simple and not _names(place, ast.Store) & _names(after, ast.Load):
        lines = code.cell.splitlines()
        at = place.line - 1
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
        yield Change(place.line, "", "\n".join(lines) + "\n", after.line)


def _indent(code: Code, place: Place) -> int:
    line = code.cell.splitlines()[place.line - 1]
    return len(line) - len(line.lstrip())


def _names(place: Place, kind: type[ast.expr_context]) -> set[str]:
    names = [node for node in ast.walk(place.node) if isinstance(node, ast.Name)]
    return {node.id for node in names if isinstance(node.ctx, kind)}


def _can_go(place: Place, function: ast.FunctionDef) -> bool:
    """Whether leaving out a statement says something: no name is missing afterwards."""
    targets = place.node.targets if isinstance(place.node, ast.Assign) else []
    for name in {n.id for t in targets for n in ast.walk(t) if _is_stored(n)}:
        lines = [n.lineno for n in ast.walk(function) if _is_stored(n) and n.id == name]
        if min(lines) >= place.line:
            return False
    return isinstance(place.node, _STATEMENTS)


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _own_nodes(place: Place) -> Iterator[ast.expr]:
    """The expressions of a statement itself, and not of its body."""
    for field, value in ast.iter_fields(place.node):
        if field in ("body", "orelse", "finalbody", "handlers", "cases", "targets", "target"):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield from _expressions(part)


def _expressions(part: ast.AST) -> Iterator[ast.expr]:
    if isinstance(part, ast.expr):
        yield part
    for child in ast.iter_child_nodes(part):
        yield from _expressions(child)


def _edits(node: ast.expr, *, in_model: bool) -> Iterator[ast.expr]:
    """Replacements of an expression, or of one in the `forward` of a model."""
    new = copy.deepcopy(node)
    if in_model:
        yield from _in_model(copy.deepcopy(node))
    if isinstance(new, ast.Compare):
        new.ops = [_OPPOSITE[type(new.ops[0])](), *new.ops[1:]]
        yield new
    elif isinstance(new, ast.BoolOp):
        new.op = ast.Or() if isinstance(new.op, ast.And) else ast.And()
        yield new
        if len(new.values) == 2:
            yield from copy.deepcopy(new.values)
    elif isinstance(new, ast.UnaryOp) and isinstance(new.op, ast.Not):
        yield new.operand
    elif isinstance(new, ast.Constant):
        yield from _constants(new.value)
    elif isinstance(new, ast.Call):
        yield from _calls(new)
    elif isinstance(new, ast.Attribute):
        is_library = isinstance(new.value, ast.Name) and new.value.id in _NO_VALUES
        related = "" if is_library else _RELATED.get(new.attr, "")
        other = _in_place(new.attr) if in_model else related
        if other and not (is_library and not hasattr(torch, other)):
            new.attr = other
            yield new
    elif isinstance(new, ast.Name) and new.id in ("all", "any", "min", "max"):
        new.id = _RELATED[new.id]
        yield new
    elif isinstance(new, ast.BinOp):
        yield ast.BinOp(new.right, new.op, new.left)
        if type(new.op) in _OTHER:
            yield ast.BinOp(new.left, _OTHER[type(new.op)](), new.right)
    elif isinstance(new, ast.Tuple | ast.List) and isinstance(new.ctx, ast.Load):
        yield from _shorter(new)


def _in_model(node: ast.expr) -> Iterator[ast.expr]:
    """Replacements in the `forward` of a model: another operation, another value."""
    if isinstance(node, ast.Attribute):
        for other in _OPERATIONS.get(node.attr, ()):
            yield ast.Attribute(node.value, other, node.ctx)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield from _spellings(node, node.func)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in _NO_VALUES:
        yield ast.UnaryOp(ast.USub(), node)
        yield ast.BinOp(node, ast.Add(), ast.Constant(1))


def _spellings(call: ast.Call, function: ast.Attribute) -> Iterator[ast.expr]:
    """The same operation as a function, as a method, and as an operator."""
    name, given = function.attr, call.args
    if not (isinstance(function.value, ast.Name) and function.value.id == "torch"):
        if name in _OPERATIONS and hasattr(torch, name):
            torch_ = ast.Attribute(ast.Name("torch", ast.Load()), name, ast.Load())
            yield ast.Call(torch_, [function.value, *given], call.keywords)
    elif given and name in _OPERATIONS:
        yield ast.Call(ast.Attribute(given[0], name, ast.Load()), given[1:], call.keywords)
        if len(given) == 2 and not call.keywords and name in _OPERATORS:
            yield ast.BinOp(given[0], _OPERATORS[name](), given[1])


def _in_place(name: str) -> str:
    """The operation that works in place, or the one that does not; ``""`` for another name."""
    if name in _IN_PLACE:
        return f"{name}_"
    return name[:-1] if name[-1:] == "_" and name[:-1] in _IN_PLACE else ""


def _constants(value: object) -> Iterator[ast.expr]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
        yield ast.Constant(value - 1)
    elif isinstance(value, float):
        yield ast.Constant(value + 1)
        yield from [ast.UnaryOp(ast.USub(), ast.Constant(value))] if value else []


def _calls(call: ast.Call) -> Iterator[ast.expr]:
    name = getattr(call.func, "id", "")
    if name in _WRAPPERS and len(call.args) == 1:
        yield call.args[0]
    are_alike = not any(isinstance(arg, ast.Constant | ast.Starred) for arg in call.args)
    if len(call.args) == 2 and are_alike and not hasattr(builtins, name):
        other = copy.deepcopy(call)
        other.args.reverse()
        yield other
    for at in range(len(call.keywords)):
        other = copy.deepcopy(call)
        del other.keywords[at]
        yield other


def _shorter(items: ast.Tuple | ast.List) -> Iterator[ast.expr]:
    if len(items.elts) < 2:
        return
    if len(items.elts) == 2:
        yield type(items)(items.elts[::-1], items.ctx)
    for at in range(len(items.elts)):
        other = copy.deepcopy(items)
        del other.elts[at]
        yield other
