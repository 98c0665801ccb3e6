"""Unusual but honest submissions: grading must take nothing from any of them.

Each is a released notebook with right answers, and with something that students really do and
that a grader may stumble over. `make attacks` grades them all beside those that cheat.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import dedent

import nbformat
from nbformat.notebooknode import NotebookNode

from tests.support.submissions import ALL, Submission
from tests.support.submissions import edits as common
from tests.support.submissions.edits import Edit

KEPT = frozenset({"graded", "graded after repair", "restored"})
"""The states that reproach nobody with anything."""

RETARGET = dedent("""\
    def retarget(model, old, new):
        gm = fx.symbolic_trace(model)
        for node in gm.graph.find_nodes(op="call_function", target=old):
            node.target = new
        gm.recompile()
        return gm""")


@dataclass(frozen=True)
class Honest(Submission):
    """A submission that must lose nothing.

    Attributes:
        write: how the notebook is written to its file.
        states: the states in which grading it may end; `tampered` is never one.
    """

    states: frozenset[str] = KEPT
    write: Callable[[NotebookNode], str] = nbformat.writes

    def text(self, released: NotebookNode) -> str:
        """The text of the file that is handed in."""
        return self.write(self.notebook(released))


def honest(
    name: str,
    does: str,
    *edits: Edit,
    chapter: str = "03_manipulation",
    answers: Mapping[str, str] | None = None,
    elsewhere: tuple[str, ...] = (),
    beside: Mapping[str, str] | None = None,
    write: Callable[[NotebookNode], str] = nbformat.writes,
) -> Honest:
    """One honest submission, by default of chapter 03 with `retarget` answered.

    Args:
        name: who hands it in.
        does: what is unusual, in one line.
        edits: what was done to the notebook besides.
        chapter: the chapter's name.
        answers: the right answers, by exercise.
        elsewhere: exercises that the edits answer; full marks are due for these too.
        beside: files beside the notebook, by name.
        write: how the notebook is written to its file.
    """
    written = {"retarget": RETARGET} if answers is None else answers
    return Honest(
        student=name,
        chapter=chapter,
        does=does,
        answers={exercise: text(source) for exercise, source in written.items()},
        edits=edits,
        earns=dict.fromkeys(elsewhere, ALL),
        beside={file: text(content) for file, content in (beside or {}).items()},
        write=write,
    )


def text(source: str) -> str:
    """Code that is indented here, as it stands in a cell."""
    return dedent(source).strip("\n")


def cell(source: str, *, above: str = "retarget", below: str = "") -> Edit:
    """Write a cell of one's own, by default above the answer: what it does is there by then."""
    return common.add(text(source), above="" if below else above, below=below)


def at_end(source: str) -> Edit:
    """Write a cell of one's own below everything else."""
    return common.add(text(source))


def all_honest() -> list[Honest]:
    """All honest submissions, in the order of their names."""
    modules = [
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
        if module.name != "__main__"
    ]
    return sorted(
        (found for module in modules for found in module.SUBMISSIONS), key=lambda one: one.student
    )
