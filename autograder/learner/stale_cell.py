"""Detects that the function being checked is older than the cell that should define it.

The kernel keeps old definitions: if a cell does not compile, or defines another name, an earlier
definition remains. A check would then be about code that is no longer in the notebook.
"""

from __future__ import annotations

import ast
import difflib
import dis
import inspect
import re
import sys
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

from autograder.core.code_objects import codes_of
from autograder.core.verdict import Finding
from autograder.environment import notebook_kernel

_DEFINED = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)", re.M)
_NEAR = 0.88


def find_stale_cell(name: str, answer: Any, others: Collection[str]) -> Finding | None:
    """A finding about the cells of this notebook, or ``None``.

    Args:
        name: the exercise's name.
        answer: the object to check.
        others: names that are not misspellings, because other exercises have them.
    """
    shell = notebook_kernel.ipython()
    if shell is None:
        return None
    cells = [str(cell) for cell in shell.user_ns.get("In", [])[1:]]
    return problem_in(cells, name, answer, others, shell.transform_cell)


def problem_in(
    cells: list[str], name: str, answer: Any, others: Collection[str], transform: Any = str
) -> Finding | None:
    """Like `find_stale_cell`, for the sources of the cells that were run, the latest at the end."""
    elsewhere = re.compile(rf"^\s*{name}\s*=|\bimport\b.*\b{name}\b", re.M)
    for cell in reversed(cells):
        defined = defined_in(cell)
        if name in defined:
            return _not_compiled(cell, name, transform) or _older(cell, name, answer)
        if elsewhere.search(cell):
            return None  # assigned or imported, so that its code is not in a cell
        near = [n for n in difflib.get_close_matches(name, defined, 1, _NEAR) if n not in others]
        if near and not _mentions(answer, near[0]):
            return Finding(
                "near-name",
                f"You defined `{near[0]}`, and this check is about `{name}`. What has this name is "
                "older than your last cell.",
                "Compare the two names, letter by letter.",
            )
    return None


def defined_in(cell: str) -> list[str]:
    """The names that lines without indentation define in a cell, found without parsing."""
    return _DEFINED.findall(cell)


def _not_compiled(cell: str, name: str, transform: Any) -> Finding | None:
    said = _syntax_error(cell, name, transform)
    return (
        None
        if said is None
        else Finding(
            "cell-did-not-run",
            f"{said} What you wrote before is still there, and was not checked.",
            "Fix that line, run the cell, then run this one again.",
        )
    )


def broken_cell(cells: Sequence[str], name: str) -> Finding | None:
    """A finding if the last cell that defines a name is not Python, for a graded notebook.

    Args:
        cells: the sources of the code cells that may define the answer, in order.
        name: the exercise's name.
    """
    last = next((cell for cell in reversed(cells) if name in _DEFINED.findall(cell)), "")
    said = _syntax_error(last, name, without_magic)
    return (
        None
        if said is None
        else Finding(
            "cell-did-not-run",
            f"{said} So nothing in it was defined.",
            "Before you hand in a notebook, restart the kernel and run it from top to bottom: each "
            "cell that is not Python stops there.",
        )
    )


def without_magic(cell: str) -> str:
    """A cell without lines that only IPython reads, which begin with ``%`` or ``!``."""
    return re.sub(r"(?m)^(\s*)[%!].*$", r"\1pass", re.sub(r"\A\s*%%.*", "", cell))


def _syntax_error(cell: str, name: str, transform: Any) -> str | None:
    """A sentence about a cell that is not Python, with the line; ``None`` if it is Python."""
    try:
        ast.parse(transform(cell))
    except SyntaxError as error:
        line = (error.text or "").strip()[:200]
        where = f", at line {error.lineno}: `{line}`" if line else ""
        return f"The cell with `{name}` did not run: it is not Python{where} ({error.msg})."
    except ValueError:  # a character that is not allowed in source code
        return f"The cell with `{name}` did not run: it is not Python."
    return None


_STOPPING = {
    "breakpoint": "stops in the debugger",
    "exit": "ends the kernel",
    "quit": "ends the kernel",
    "input": "waits for typed text",
}


def stopping_call(name: str, answer: Any) -> Finding | None:
    """A finding about a call in an answer that stops a check, such as a forgotten `breakpoint`."""
    module = sys.modules.get(getattr(answer, "__module__", None) or "")
    names = getattr(answer, "__globals__", vars(module) if module else {})
    for each in chain.from_iterable(map(dis.get_instructions, codes_of(answer))):
        called = each.opname == "LOAD_GLOBAL" and (each.arg or 0) & 1
        if called and each.argval in _STOPPING and not inspect.isfunction(names.get(each.argval)):
            line = each.positions.lineno if each.positions else None
            at = f", at line {line}" if line else ""
            return Finding(
                "stops-the-check",
                f"`{name}` calls `{each.argval}()`{at}, which {_STOPPING[each.argval]}. So it was "
                "not checked.",
                "Remove that call, and check again. To stop in your code with a case that fails, "
                "write `failed().debug()`.",
            )
    return None


def _older(cell: str, name: str, answer: Any) -> Finding | None:
    its = getattr(answer, "__name__", name)
    text = _text_of(answer) if its == name else None  # a decorator's function is in another cell
    if text is None or _squeezed(text) in _squeezed(cell):
        return None
    return Finding(
        "older-than-cell",
        f"`{name}` is older than its cell: when the cell ran last, it did not come as far as the "
        f"line that defines `{name}`, or another cell defined it again.",
        "Run the cell once more. Does it raise an error, or does a later cell use the same name?",
    )


def _mentions(answer: Any, name: str) -> bool:
    """Whether the answer uses that name, which is then a helper's; true if its text is unknown."""
    text = _text_of(answer)
    return text is None or re.search(rf"\b{name}\b", text) is not None


def _text_of(answer: Any) -> str | None:
    """The source of a function, or of a class's first method; ``None`` if it is not known."""
    if isinstance(answer, type):
        own = [value for value in vars(answer).values() if inspect.isfunction(value)]
        answer = own[0] if own else None
    try:
        return inspect.getsource(answer) if inspect.isfunction(answer) else None
    except (OSError, TypeError):
        return None


def _squeezed(text: str) -> str:
    return "".join(text.split())
