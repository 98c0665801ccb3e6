"""Sections of the chapters that teach the APIs which production FX code uses.

An API counts as taught if a cell that asserts something uses it. ``census.toml`` has the list;
``python -m tests.unit.lessons.census`` prints the table, made from the chapters' code.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import jupytext

from autograder.builder.paths import SOLUTIONS

HERE = Path(__file__).parent
_HEADING = re.compile(r"^#{2,3} +(.+?)(?: \(\d+ minutes?\))?$", re.M)
_NO_PYTHON = re.compile(r"^\s*[%!].*$", re.M)


@dataclass(frozen=True)
class Api:
    """One way to use FX.

    Attributes:
        name: its name in the table.
        uses: regular expressions; code that one of them matches uses the API.
        files: the share of production files that use it, in percent; 0 if not counted.
        why: the reason why no chapter runs it; empty if one does.
    """

    name: str
    uses: tuple[str, ...]
    files: float = 0.0
    why: str = ""


def apis() -> list[Api]:
    """Read the whole list."""
    rows = tomllib.loads((HERE / "census.toml").read_text(encoding="utf-8"))["api"]
    return [Api(**{**row, "uses": tuple(row["uses"])}) for row in rows]


@lru_cache(maxsize=1)
def asserting_cells() -> list[tuple[str, str]]:
    """Each cell that asserts something: chapter with section, and code without comments."""
    return [found for path in sorted(SOLUTIONS.glob("*.py")) for found in _cells_of(path)]


def places_of(api: Api) -> list[str]:
    """The sections that teach an API, in the order of the course, each once."""
    found = (
        place for place, code in asserting_cells() if any(re.search(use, code) for use in api.uses)
    )
    return list(dict.fromkeys(found))


def coverage() -> float:
    """The percentage of production uses that are taught, weighted by shares of files."""
    counted = [api for api in apis() if api.files]
    taught = sum(api.files for api in counted if places_of(api))
    return 100 * taught / sum(api.files for api in counted)


def table() -> str:
    """API, its share and its first sections, as a table in Markdown."""
    rows = [f"| {api.name} | {_share(api)} | {_where(api)} |" for api in apis()]
    head = ["| API | files, % | sections |", "|---|---|---|"]
    return "\n".join([*head, *rows, "", f"Weighted by files: {coverage():.1f} % are taught."])


def _cells_of(path: Path) -> Iterator[tuple[str, str]]:
    section = ""
    for cell in jupytext.read(path).cells:
        if cell.cell_type != "code":
            section = (_HEADING.findall(cell.source) or [section])[-1]
            continue
        tree = ast.parse(_NO_PYTHON.sub("pass", cell.source))
        if any(map(_asserts, ast.walk(tree))):
            yield f"{path.stem}: {section}", ast.unparse(tree)


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    return isinstance(node, ast.Attribute) and node.attr == "assert_close"


def _share(api: Api) -> str:
    return f"{api.files:.1f}" if api.files else "–"


def _where(api: Api) -> str:
    places = places_of(api)
    more = f" and {len(places) - 2} more" if len(places) > 2 else ""
    return "; ".join(places[:2]) + more if places else f"not taught: {api.why or 'to come'}"
