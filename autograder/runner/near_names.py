"""Finds the name that a learner meant, if an exception comes from a name that does not exist.

It reads objects, so it runs in the process of the answer. The judge turns the names into a message.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import dis
import inspect
import linecache
import operator
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from types import CodeType, FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

import torch
from torch import fx, nn

from autograder.core.code_objects import codes_of
from autograder.core.torch_private import schema_of

Near = list[str]
"""The kind of name, the name as written, its owner, and the names that may be meant.

Kinds: ``attribute``, ``name``, ``keyword``, ``key``, ``opcode``, ``path``; ``call`` for a method
that is not called, ``value`` for a value that is called. Empty if no existing name is similar.
"""

MOST = 3
"""Number of names to suggest, at most."""

_NAMESPACES: dict[str, Any] = {
    "torch": torch, "nn": nn, "F": nn.functional, "fx": fx, "operator": operator,
    "fx.node": fx.node, "fx.graph": fx.graph, "torch.fx.proxy": fx.proxy,
}  # fmt: skip
_OPCODES = ("placeholder", "call_function", "call_method", "call_module", "get_attr", "output")

answer_being_tried: ContextVar[Any] = ContextVar("answer_being_tried", default=None)


def near_names(error: BaseException) -> Near:
    """Names that are similar to the one that does not exist, or ``[]``."""
    with suppress(Exception):  # reading an attribute of a learner's object may raise
        frame, segment = _last_place(error.__traceback__)
        for find in _FINDERS.get(_family(error), ()):
            found = find(error, str(error), frame, segment)
            if found and _is_own(found, frame, segment):
                return [str(text)[:80] for text in found]
    return []


def _is_own(near: Near, frame: FrameType | None, segment: str) -> bool:
    """Whether the name is in the answer's text, and not one that a library looks up."""
    word = near[1].removesuffix("()")
    if frame is not None and not _is_generated(frame) and near[0] != "path":
        return word in segment
    return line_with(word, near[0])[0] > 0


def line_with(name: str, kind: str) -> tuple[int, str]:
    """The line of the answer that uses a name, as ``(line, text)``; ``(0, "")`` if none does."""
    with suppress(Exception):
        for code in _codes(answer_being_tried.get()):
            for each in dis.get_instructions(code):
                if _uses(each, name, kind) and each.positions and each.positions.lineno:
                    line = each.positions.lineno
                    return line, linecache.getline(code.co_filename, line).strip()[:200]
    return 0, ""


def _family(error: BaseException) -> str:
    kinds = (AttributeError, NameError, KeyError, TypeError, ImportError, AssertionError)
    return next((kind.__name__ for kind in kinds if isinstance(error, kind)), "RuntimeError")


# ------------------------------------------------------------------ similarity of names


def nearest(typed: str, names: Iterable[str]) -> list[str]:
    """The names that are most similar to a misspelled one."""
    known = {name for name in names if name and name != typed}
    public = {name for name in known if not name.startswith("_")}
    if typed.startswith("_"):
        return _nearest(typed, known)
    return _nearest(typed, public) or _nearest(typed, known - public)


def _nearest(typed: str, known: set[str]) -> list[str]:
    same = [name for name in known if name.lower() == typed.lower()]
    if same:
        return sorted(same)[:MOST]
    words = Counter(typed.lower().split("_"))
    turned = [name for name in known if len(words) > 1 and Counter(name.split("_")) == words]
    if turned:
        return sorted(turned)[:MOST]
    allowed = _allowed(typed)
    near = {name: _distance(typed, name, allowed) for name in known}
    best = min(near.values(), default=allowed + 1)
    found = [name for name, far in near.items() if far == best <= allowed]
    return sorted(found, key=lambda name: (-_likeness(name, typed), name))[:MOST]


def _likeness(name: str, typed: str) -> float:
    return difflib.SequenceMatcher(None, name, typed).ratio()


def _allowed(typed: str) -> int:
    """The number of letters of a name that may be wrong."""
    return 0 if len(typed) < 2 else 1 if len(typed) < 6 else 2 if len(typed) < 12 else 3


def _distance(a: str, b: str, limit: int) -> int:
    """The number of wrong, missing, extra or swapped letters, at most ``limit + 1``."""
    if abs(len(a) - len(b)) > limit or len(set(a) ^ set(b)) > 2 * limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                row[-1] = min(row[-1], older[j - 2] + 1)
    return min(row[-1], limit + 1)


# ------------------------------------------------------------------ attributes


def _attribute(error: Any, says: str, frame: FrameType | None, segment: str) -> Near:
    obj, name = getattr(error, "obj", None), getattr(error, "name", None)
    if found := re.match(r"'super' object has no attribute '(\w+)'", says):  # has no `error.obj`
        owner, name = (frame.f_locals.get("self") if frame else None), found[1]
        names = nearest(name, dir(owner)) if owner is not None else []
        return ["attribute", name, "super()", *names] if names else []
    if not isinstance(name, str) or obj is None:
        return []
    if obj is super or inspect.isroutine(obj):
        own = obj.__name__
        if _word(_owner(_parsed(segment))) == own:
            return ["call", own, "", f"{own}()"]
    owner = obj.__name__ if isinstance(obj, (type, ModuleType)) else type(obj).__name__
    if isinstance(obj, torch.Tensor) and (frame is None or _is_generated(frame)):
        if near := nearest(name, ("node", "tracer")):  # a Proxy records any other attribute
            return ["attribute", name, "Proxy", *near]
    own_names = nearest(name, dir(obj))
    if isinstance(obj, ModuleType):
        exact = [*_in_modules(name, frame, skip=obj), *own_names]
        return ["attribute", name, owner, *exact[:MOST]] if exact else []
    if not own_names and hasattr(getattr(obj, "graph", None), name):
        own_names = [f"graph.{name}"]
    return ["attribute", name, owner, *own_names] if own_names else []


def _in_modules(name: str, frame: FrameType | None, skip: Any = None) -> list[str]:
    """Other modules that define exactly that name, such as ``F.gelu``, as imported here."""
    own = frame.f_globals if frame is not None else {}
    homes = {key: value for key, value in own.items() if isinstance(value, ModuleType)}
    homes = {key: value for key, value in homes.items() if value.__name__.startswith("torch")}
    homes |= {key: value for key, value in _NAMESPACES.items() if value not in homes.values()}
    found: dict[int, str] = {}
    for key, home in homes.items():
        value = getattr(home, name, None)
        if home is skip or value is None or (skip is None and isinstance(value, ModuleType)):
            continue
        found.setdefault(id(value), f"{key}.{name}")
    return list(found.values())


def _imported(error: Any, says: str, frame: FrameType | None, segment: str) -> Near:
    found = re.search(r"cannot import name '(\w+)' from '([\w.]+)'", says)
    if not found:
        return []
    home = sys.modules.get(found[2])
    names = nearest(found[1], dir(home)) or _in_modules(found[1], frame, skip=home)
    return ["attribute", found[1], found[2], *names] if names else []


# ------------------------------------------------------------------ names


def _name(error: Any, says: str, frame: FrameType | None, segment: str) -> Near:
    name = getattr(error, "name", None) or (re.findall(r"'(\w+)'", says) or [""])[0]
    if not name or frame is None:
        return []
    own_names = _set_names(frame, error)
    if isinstance(error, UnboundLocalError):
        near = nearest(name, own_names)
        return ["name", name, "", *near] if near else []
    found = []
    owner = frame.f_locals.get("self")
    if owner is not None and name in dir(owner):
        found.append(f"self.{name}")
    found += nearest(name, (*own_names, *frame.f_globals, *vars(builtins)))
    found += _in_modules(name, frame)
    if not found and owner is not None:
        found = [f"self.{each}" for each in nearest(name, dir(owner))]
    if not found and len(name) > 3:
        homes = {key: home for key, home in _NAMESPACES.items() if "." not in key}
        found = [f"{key}.{n}" for key, home in homes.items() for n in nearest(name, dir(home))]
    return ["name", name, "", *found[:MOST]] if found else []


def _set_names(frame: FrameType, error: BaseException) -> list[str]:
    """Local names of a function, and of the functions in the same file that called it."""
    file = frame.f_code.co_filename
    frames = [each for each, _ in _walk(error.__traceback__) if each.f_code.co_filename == file]
    return [name for each in frames for name in (*each.f_locals, *each.f_code.co_varnames)]


# ------------------------------------------------------------------ arguments, keys, calls


def _keyword(error: Any, says: str, frame: FrameType | None, segment: str) -> Near:
    found = re.search(r"(?:([\w.<>]+)\(\) )?got an unexpected keyword argument '(\w+)'", says)
    odd = re.search(r"'(\w+)' is an invalid keyword argument for (\w+)\(\)", says)
    if odd:
        names = nearest(odd[1], _parameters(_called(segment, frame), odd[2]))
        return ["keyword", odd[1], odd[2], *names] if names else []
    if found:
        called = _called(segment, frame) or _by_path(found[1] or "")
        names = nearest(found[2], _parameters(called, found[1] or ""))
        return ["keyword", found[2], (found[1] or "").split(".")[-1], *names] if names else []
    found = re.search(r"(\w+)\(\) received an invalid combination .*? got \((.*?)\), but", says)
    if not found:
        return []
    known = set(re.findall(r"(\w+)(?=[,)]| = )", says.partition("but expected")[2]))
    for typed in re.findall(r"(\w+)=", found[2]):
        names = nearest(typed, known)
        if typed not in known and names:
            return ["keyword", typed, found[1], *names]
    return []


def _parameters(called: Any, name: str) -> list[str]:
    """The names of a function's parameters; for a builtin, those of its operator's schemas."""
    if called is not None:
        with suppress(TypeError, ValueError):
            return list(inspect.signature(called).parameters)
    packet = getattr(torch.ops.aten, name.split(".")[-1] or "-", None)
    overloads = [getattr(packet, each) for each in packet.overloads()] if packet else []
    names = [argument.name for each in overloads for argument in schema_of(each).arguments]
    return ["input" if each == "self" else each for each in names]


def _called(segment: str, frame: FrameType | None) -> Any:
    tree = _parsed(segment)
    return _value(tree.func, frame) if isinstance(tree, ast.Call) and frame else None


def _by_path(path: str) -> Any:
    """A method of a class of FX or `torch.nn`, such as ``Graph.call_function``."""
    kind, _, method = path.partition(".")
    owner = getattr(fx, kind, None) or getattr(nn, kind, None)
    return getattr(owner, method, None) if owner is not None and method else None


def _key(error: Any, says: str, frame: FrameType | None, segment: str) -> Near:
    tree = _parsed(segment)
    key = error.args[0] if error.args else None
    if frame is None or not isinstance(tree, ast.Subscript) or not isinstance(key, str):
        return []
    names = nearest(key, [each for each in _value(tree.value, frame) if isinstance(each, str)])
    return ["key", key, "", *names] if names else []


def _missing_call(error: Any, says: str, frame: FrameType | None, segment: str) -> Near:
    """Find a method that is used as a value, because its parentheses are missing."""
    if frame is None or not re.search(r"'?(?:method|function|builtin_function_or_method)\b", says):
        return []
    if _is_generated(frame):
        names = [value.__name__ for value in frame.f_locals.values() if inspect.isroutine(value)]
    else:
        nodes = list(ast.walk(_parsed(segment)))
        called = [node.func for node in nodes if isinstance(node, ast.Call)]
        left = [node for node in nodes if isinstance(node, ast.Attribute) and node not in called]
        names = [node.attr for node in left if _is_method(_value(node, frame), node.attr)]
        own = {each.id for each in nodes if isinstance(each, ast.Name)} - {
            each.id for each in called if isinstance(each, ast.Name)}  # fmt: skip
        for name in own & vars(builtins).keys():
            if near := nearest(name, _set_names(frame, error)):
                return ["builtin", name, "", *near]
    return ["call", names[0], "", f"{names[0]}()"] if names else []


def _uncalled_class(error: Any, says: str, frame: FrameType | None, segment: str) -> Near:
    """Find a method that is called on a class, because the parentheses of the class are missing."""
    tree = _parsed(segment)
    owner = _owner(tree.func) if isinstance(tree, ast.Call) else tree
    kind = _value(owner, frame)
    said = re.search(r"\bmissing \d|context manager protocol", says)
    if not said or not isinstance(kind, type) or kind.__name__ != _word(owner):
        return []
    return ["call", kind.__name__, "", f"{kind.__name__}()"]


def _is_method(value: Any, name: str) -> bool:
    return inspect.isroutine(value) and getattr(value, "__name__", "") == name


_VALUES = r"'(?:_node_list|torch\.\w+|Graph|dict|immutable_dict|tuple|immutable_list|list)' object"
"""Types whose attributes are values, not methods."""


def _called_value(error: Any, says: str, frame: FrameType | None, segment: str) -> Near:
    """Find a value that is called as if it were a method."""
    tree = _parsed(segment)
    called = tree.func if isinstance(tree, ast.Call) else None
    if not re.match(f"{_VALUES} is not callable", says) or not isinstance(called, ast.Attribute):
        return []
    return ["value", f"{called.attr}()", "", called.attr]


def _opcode(error: Any, says: str, frame: FrameType | None, segment: str) -> Near:
    """Find a misspelled opcode in a call of `create_node`."""
    texts = [n.value for n in ast.walk(_parsed(segment)) if isinstance(n, ast.Constant)]
    for text in texts:
        if isinstance(text, str) and text not in _OPCODES and (near := nearest(text, _OPCODES)):
            return ["opcode", text, "", *near]
    return []


def _path(error: Any, says: str, frame: FrameType | None, segment: str) -> Near:
    """Find a path in the answer that names no module or tensor."""
    found = re.search(r"nonexistent target ([\w.]+)|has no attribute [`'\"]?([\w.]+)", says)
    typed = next(filter(None, found.groups()), "") if found else ""
    frames = [frame for frame, _ in _walk(error.__traceback__)][::-1] if typed else []
    for each in frames[:4]:
        for value in each.f_locals.values():
            if isinstance(value, nn.Module):
                paths = [p for p, _ in (*value.named_modules(), *value.named_parameters(),
                                        *value.named_buffers())]  # fmt: skip
                if near := nearest(typed, paths):
                    return ["path", typed, "", *near]
    return []


Finder = Callable[[Any, str, "FrameType | None", str], Near]
_FINDERS: dict[str, tuple[Finder, ...]] = {
    "AttributeError": (_attribute, _path),
    "NameError": (_name,),
    "KeyError": (_key,),
    "TypeError": (_keyword, _missing_call, _called_value, _uncalled_class),
    "ImportError": (_imported,),
    "AssertionError": (_opcode,),
    "RuntimeError": (_path,),
}


# ------------------------------------------------------------------ place of the error


def _walk(trace: TracebackType | None) -> Iterator[tuple[FrameType, TracebackType]]:
    while trace is not None:
        yield trace.tb_frame, trace
        trace = trace.tb_next


_LIBRARIES = (sys.stdlib_module_names | {"torch", "autograder"}) - {"__main__"}
"""Packages that call an answer, or that an answer calls."""


def _last_place(trace: TracebackType | None) -> tuple[FrameType | None, str]:
    """The innermost frame outside the libraries, and the expression that it was evaluating."""
    found = [
        (frame, place)
        for frame, place in _walk(trace)
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _LIBRARIES
        or _is_generated(frame)
    ]
    if not found:
        return None, ""
    frame, place = found[-1]
    positions = list(frame.f_code.co_positions())[place.tb_lasti // 2]
    return frame, _segment(frame.f_code.co_filename, positions)


def _is_generated(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith("<eval_with_key>")


def _segment(file: str, positions: tuple[int | None, ...]) -> str:
    first, last, begin, end = positions
    if first is None or last is None or begin is None or end is None:
        return ""
    lines = [line.encode() for line in linecache.getlines(file)[first - 1 : last]]
    if not lines:
        return ""
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][begin:]
    return b"".join(lines).decode(errors="replace")


def _parsed(segment: str) -> ast.AST:
    """The expression of the segment, or of its `with`; an empty tuple if it cannot be parsed."""
    if context := re.match(r"with (.+?)(?: as \w+)?:\s", segment):
        segment = context[1]
    try:
        return ast.parse(f"({segment})", mode="eval").body
    except (SyntaxError, ValueError):
        return ast.Tuple([])


def _owner(tree: ast.AST) -> ast.AST:
    """The part before the last dot."""
    return tree.value if isinstance(tree, ast.Attribute) else tree


def _word(tree: ast.AST) -> str:
    """The name at the end of an expression."""
    return getattr(tree, "attr", "") or getattr(tree, "id", "")


def _value(tree: ast.AST, frame: FrameType | None) -> Any:
    """The value of a name or an attribute in a frame, found without calling the learner's code."""
    if frame is None:
        return None
    if isinstance(tree, ast.Name):
        scope = {**vars(builtins), **frame.f_globals, **frame.f_locals}
        return scope.get(tree.id)
    if isinstance(tree, ast.Attribute):
        owner = _value(tree.value, frame)
        if owner is None or isinstance(owner, fx.Proxy):
            return None  # because a Proxy has every attribute
        return getattr(owner, tree.attr, None)
    return None


# ------------------------------------------------------------------ the answer's own code


def _codes(answer: Any) -> Iterator[CodeType]:
    """The code of an answer, and of the functions and classes of its notebook."""
    home = getattr(answer, "__module__", None)
    function = next((v for v in vars(answer).values() if isinstance(v, FunctionType)), None) \
        if isinstance(answer, type) else answer  # fmt: skip
    others = getattr(function, "__globals__", {}).values()
    own = [value for value in list(others) if getattr(value, "__module__", None) == home]
    for value in (answer, *own):
        yield from codes_of(value)


def _uses(each: dis.Instruction, name: str, kind: str) -> bool:
    if kind == "keyword":
        return isinstance(each.argval, tuple) and name in each.argval
    if kind == "call" and (each.opname != "LOAD_ATTR" or "NULL" in each.argrepr):
        return False
    return bool(each.argval == name)
