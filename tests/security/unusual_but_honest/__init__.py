"""Unusual but honest submissions, which must not lose anything in grading.

Each is a released notebook with right answers and something that students really do and that can
confuse a grader. `make attacks` grades all of them together with the attacks.
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
"""The states that do not accuse the student of anything."""

RETARGET = dedent("""\
    def retarget(model, old, new):
        gm = fx.symbolic_trace(model)
        for node in gm.graph.find_nodes(op="call_function", target=old):
            node.target = new
        gm.recompile()
        return gm""")


@dataclass(frozen=True)
class Honest(Submission):
    """A submission that must not lose anything.

    Attributes:
        write: writes the notebook as text.
        states: the states in which grading it may end; never `tampered`.
    """

    states: frozenset[str] = KEPT
    write: Callable[[NotebookNode], str] = nbformat.writes

    def text(self, released: NotebookNode) -> str:
        """The text of the submitted file."""
        return self.write(self.notebook(released))


def honest(
    name: str,
    does: str,
    *edits: Edit,
    chapter: str = "03_manipulation",
    answers: Mapping[str, str] | None = None,
    elsewhere: tuple[str, ...] = (),
    extra_files: Mapping[str, str] | None = None,
    write: Callable[[NotebookNode], str] = nbformat.writes,
) -> Honest:
    """An honest submission, by default of chapter 03 with an answer to `retarget`.

    Args:
        name: the student's id.
        does: the unusual thing, in one line.
        edits: changes to the notebook in addition to the answers.
        chapter: the chapter's name.
        answers: the right answers, by exercise.
        elsewhere: exercises that the edits answer; they earn full marks too.
        extra_files: files next to the notebook, by name.
        write: writes the notebook as text.
    """
    written = {"retarget": RETARGET} if answers is None else answers
    return Honest(
        student=name,
        chapter=chapter,
        does=does,
        answers={exercise: text(source) for exercise, source in written.items()},
        edits=edits,
        earns=dict.fromkeys(elsewhere, ALL),
        extra_files={file: text(content) for file, content in (extra_files or {}).items()},
        write=write,
    )


def text(source: str) -> str:
    """Code that is indented in this file, dedented for a cell."""
    return dedent(source).strip("\n")


def cell(source: str, *, above: str = "retarget", below: str = "") -> Edit:
    """Add a cell, by default above the answer, so that the answer sees its effects."""
    return common.add(text(source), above="" if below else above, below=below)


def at_end(source: str) -> Edit:
    """Add a cell at the end of the notebook."""
    return common.add(text(source))


def all_honest() -> list[Honest]:
    """All honest submissions, sorted by name."""
    modules = [
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
        if module.name != "__main__"
    ]
    return sorted(
        (found for module in modules for found in module.SUBMISSIONS), key=lambda one: one.student
    )
