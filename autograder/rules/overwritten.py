"""A pass puts a new module under a name that is free."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.core.codec import Plain
from autograder.core.verdict import Finding
from autograder.judge.evidence import Evidence
from autograder.judge.rule import Rule, Stage


def modules_by_every_path(data: Plain) -> dict[str, Plain]:
    """The row of each module, by every path it has."""
    rows = {row["path"]: row for row in data["modules"]}
    return {path: rows[row.get("same_as", path)] for path, row in rows.items()}


def called_modules(data: Plain) -> list[str]:
    """The targets of all `call_module` nodes, in graph order."""
    return [row["target"] for row in data["nodes"] if row["op"] == "call_module"]


def none_overwritten(*exchanged: str) -> Rule:
    """A module that the model calls has the class that it had.

    Args:
        exchanged: classes that the task itself exchanges, by their full names.
    """

    def find(evidence: Evidence) -> Iterable[Finding]:
        before = modules_by_every_path(evidence.traced_graph)
        after = modules_by_every_path(evidence.graph)
        for target in dict.fromkeys(called_modules(evidence.traced_graph)):
            old, new = (each.get(target, {}).get("class", "") for each in (before, after))
            if new and new != old and old not in exchanged:
                yield evidence.finding(
                    "overwritten-module",
                    f"`{target}` was a `{old.rpartition('.')[2]}` of the model, and is a "
                    f"`{new.rpartition('.')[2]}` now.",
                    "The names of nodes and those of submodules are counted separately. Which "
                    "names does the module have already?",
                )
                return

    return Rule("no module overwritten", Stage.STRUCTURE, find)
