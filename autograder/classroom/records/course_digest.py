"""A digest of the parts of the course that decide a grade.

A class is graded again when this digest changes. So the digest covers the syntax of the code and
the content of the data files. It leaves out comments, docstrings, and the sentences that students
read, because no grade depends on them.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from autograder.environment.package_folder import PACKAGE_FOLDER

GRADING = (
    "authoring", "boxed", "core", "exercises", "fuzz", "judge", "models", "rules", "runner",
    "speed", "submission",
)  # fmt: skip
"""Packages of the course that decide grades; `cards`, for example, does not."""

MODULES = ("alive.py", "given.py", "grading.py", "suspects.py")
"""Modules outside these packages that decide grades."""

LIBRARIES = ("torch", "torchvision", "numpy")
"""Libraries whose versions also decide grades."""

_SENTENCE = re.compile(r"[A-Z`*\"'(\x00]\S*\s+\S+\s.*[.?!]", re.DOTALL)
"""A message: at least three words, with the beginning and the end of a sentence."""

_LOOKUPS = {"startswith", "endswith", "match", "fullmatch", "search", "compile", "find", "index"}
"""Methods and functions whose arguments may decide something, even if they are sentences."""


def course() -> str:
    """The digest of everything in the course that decides grades, and of its libraries."""
    return f"{code()} {libraries()}"


@cache
def code() -> str:
    """The digest of the course's code and data files, without comments, docstrings and messages.

    Computing it takes seconds, so it is cached next to the installation's compiled modules.
    """
    return _computed_once(PACKAGE_FOLDER, _cache_path())


@cache
def exact() -> str:
    """A digest of the same files byte for byte, with the libraries; for comparing machines."""
    return f"{_bytes_digest(PACKAGE_FOLDER)} {libraries()}"


def libraries() -> str:
    """The versions of the libraries that decide grades, as text."""
    return ", ".join(f"{name} {number(name)}" for name in LIBRARIES)


def number(library: str) -> str:
    """The version of an installed library; builds for CPU and for CUDA have the same number."""
    try:
        return version(library).partition("+")[0]
    except PackageNotFoundError:  # for example on the scheduler of a cluster, which grades nothing
        return "none"


def _cache_path() -> Path | None:
    """The file that caches the digest; `None` if Python may not write compiled modules."""
    if sys.dont_write_bytecode:
        return None
    return Path(importlib.util.cache_from_source(__file__)).with_suffix(".json")


def _computed_once(home: Path, kept: Path | None) -> str:
    """The digest of a copy of the course, computed again only if one of its files has changed."""
    now = _bytes_digest(home)
    if kept is not None:
        with contextlib.suppress(OSError, ValueError):
            found = json.loads(kept.read_text(encoding="utf-8"))
            if isinstance(found, dict) and found.get("files") == now:
                return str(found["decides"])
    decides = digest(home)
    if kept is not None:
        with contextlib.suppress(OSError):  # the installation may be read-only
            building = kept.with_suffix(".new")
            building.write_text(json.dumps({"files": now, "decides": decides}), encoding="utf-8")
            building.replace(kept)
    return decides


def _paths(home: Path) -> Iterator[Path]:
    yield from (home / module for module in MODULES)
    for package in GRADING:
        for path in sorted((home / package).rglob("*")):
            if path.suffix in (".py", ".json", ".jsonl") and "__pycache__" not in path.parts:
                yield path


def _bytes_digest(home: Path) -> str:
    found = hashlib.sha256(Path(__file__).read_bytes())
    for path in _paths(home):
        data = path.read_bytes()
        found.update(f"{path.relative_to(home).as_posix()} {len(data)}\n".encode() + data)
    return found.hexdigest()


def digest(home: Path) -> str:
    """The digest of the copy of the course in a folder, without its libraries."""
    found = hashlib.sha256()
    for path in _paths(home):
        text = path.read_text(encoding="utf-8")
        content = _normalized_data(path, text) if path.suffix != ".py" else syntax(text)
        name = path.relative_to(home).as_posix()
        found.update(f"{name} {hashlib.sha256(content.encode()).hexdigest()}\n".encode())
    return found.hexdigest()


def _normalized_data(path: Path, text: str) -> str:
    """The content of a data file, independent of its layout."""
    rows = text.splitlines() if path.suffix == ".jsonl" else [text]
    return "\n".join(json.dumps(json.loads(row), sort_keys=True) for row in rows if row.strip())


def deciding(texts: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The parts of an instructor's own exercises that decide a grade, file by file.

    Args:
        texts: paths and texts of the files, as in `PreloadSpec.own`.
    """
    return tuple((path, _own_content(path, text)) for path, text in texts)


def _own_content(path: str, text: str) -> str:
    if path.endswith(".py"):
        with contextlib.suppress(SyntaxError, ValueError):
            return syntax(text)
    return text


# ------------------------------------------------------------------ syntax


def syntax(text: str) -> str:
    """A module's syntax tree as text, the same in every version of Python that the course supports.

    Comments, docstrings and messages are left out. A message is a string that is a sentence, unless
    the code compares it with something.
    """
    parts: list[str] = []
    _write(ast.parse(text), parts.append, messages=True)
    return "".join(parts)


def _write(part: object, add: Callable[[str], None], messages: bool) -> None:
    """Add the text of a part of a syntax tree; if `messages`, leave out messages."""
    if isinstance(part, list):
        for one in part:
            _write(one, add, messages)
    elif not isinstance(part, ast.AST):
        add(repr(part))
    elif messages and isinstance(part, ast.Constant | ast.JoinedStr) and _is_sentence(part):
        fields = [v for v in getattr(part, "values", ()) if isinstance(v, ast.FormattedValue)]
        add(f"(message {len(fields)}")
        _write(fields, add, messages)
        add(")")
    else:
        messages = messages and not _may_decide(part)
        add(f"({type(part).__name__}")
        for name, value in ast.iter_fields(part):
            if name == "body" and isinstance(value, list):
                value = [one for one in value if not _is_text(one)]
            if not _is_irrelevant(part, name, value):
                add(f" {name}=")
                _write(value, add, messages)
        add(")")


def _is_irrelevant(part: ast.AST, name: str, value: object) -> bool:
    """Whether a field is empty, or only records the notation."""
    if isinstance(part, ast.Constant):
        return name == "kind"  # `u"text"`
    return value is None or value == [] or name in ("ctx", "type_comment")


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is only a string: a docstring, or a string used as a comment."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str)


def _is_sentence(part: ast.Constant | ast.JoinedStr) -> bool:
    values = part.values if isinstance(part, ast.JoinedStr) else [part]
    texts = [one.value if isinstance(one, ast.Constant) else "\0" for one in values]
    return all(isinstance(text, str) for text in texts) and bool(
        _SENTENCE.fullmatch("".join(map(str, texts)))
    )


def _may_decide(part: ast.AST) -> bool:
    """Whether strings inside an expression are compared with something, or looked up."""
    if isinstance(part, ast.Call):
        name = getattr(part.func, "attr", getattr(part.func, "id", ""))
        return name in _LOOKUPS
    return isinstance(part, ast.Compare | ast.Subscript | ast.MatchValue)
