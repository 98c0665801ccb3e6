"""Generates the tables of docs/reference/settings.md from the code that reads the settings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from traitlets import HasTraits

from autograder.builder.paths import ROOT
from autograder.classroom.grading.settings import ExecuteChecks
from autograder.classroom.lateness.deadlines import TEMPLATE
from autograder.classroom.nbgrader_plugins.class_solutions import SolutionsOfClass
from autograder.classroom.room.honoured_settings import PLACES
from autograder.workspace.settings import SETTINGS

PAGE = ROOT / "docs" / "reference" / "settings.md"
_REGION = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def pages() -> dict[Path, str]:
    """The page with its generated parts, by its path. This writes nothing."""
    parts = {
        "checks": _traits(ExecuteChecks),
        "deadlines": _deadlines(),
        "learner": _learner(),
        "refused": _refused(),
        "release": _traits(SolutionsOfClass),
    }
    text = PAGE.read_text(encoding="utf-8")
    return {PAGE: _REGION.sub(lambda found: f"{found[1]}{parts[found[2]]}\n{found[3]}", text)}


def _traits(kind: type[HasTraits]) -> str:
    """The table of the settings that a class of traits defines."""
    traits = kind.class_own_traits(config=True)
    return _table(
        ("setting", "default", "meaning"),
        (
            (f"`c.{kind.__name__}.{name}`", _default(name, trait.default_value), trait.help)
            for name, trait in traits.items()
            if trait.help  # nbgrader's own settings have none here
        ),
    )


def _default(name: str, value: object) -> str:
    if name == "secret":
        return "drawn by `fxcourse classroom create`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value!r}`"


def _learner() -> str:
    rows = (
        (f"`{name}`", f"`{json.dumps(default)}`", meaning)
        for name, (default, meaning) in SETTINGS.items()
    )
    return _table(("setting", "default", "meaning"), rows)


def _deadlines() -> str:
    return f"```toml\n{TEMPLATE}```"


def _refused() -> str:
    rows = ((f"`c.CourseDirectory.{name}`", f"`{usual}`") for name, usual in PLACES.items())
    return _table(("setting", "the only value"), rows)


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in markdown."""
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
