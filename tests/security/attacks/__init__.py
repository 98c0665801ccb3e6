"""Submissions that try to get more than they have earned, or to do harm.

Each attack is one student's submission. It says what it tries, what must come of it, and what
its author has earned all the same. `make attacks` grades them among honest students; see
`tests/security/attacks/__main__.py`.

How a success shows:

* points in the gradebook that are not due;
* the word ``LOOT`` in what a cell printed or displayed, where something was read, reached or
  taken that must not be;
* a token that begins with `TOKEN`, which the harness has hidden in places that are not a
  student's, in anything that is made for an attacker;
* a file whose name begins with `PWNED`, outside of the box;
* a process with `ORPHAN` on its command line, after grading;
* something called at `PORT` or `SOCKET`;
* the word `SCRIPT` in a place of a page where a browser would run it, or ask for it;
* an honest student who loses something: three are graded with each chapter, and one beside each
  attack that wants a `neighbour`. All of them compute for seconds, so that starving them shows.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from autograder.exercises import of_chapter
from tests.support.submissions.edits import Edit, add, edited, fill
from tests.support.submissions.room import hand_in

TOKEN = "CANARY-"
PWNED = "fxcourse-pwned-"
ORPHAN = "fxcourse-orphan"
SCRIPT = "FXPAGE"
PORT = 47831
SOCKET = "/tmp/fxcourse-attacks.sock"

GRADED = frozenset({"graded", "graded after repair", "restored"})
ENDED = GRADED | {"timed out", "out of memory", "crashed"}
SUSPECT = GRADED | {"restored", "tampered"}
REFUSED = frozenset({"refused", "unreadable", "tampered"})
ANY = ENDED | SUSPECT | REFUSED

HONEST = ("0-honest", "n-honest", "zz-honest")
"""The ids of the honest students, who are graded before, between and after the attackers."""

RETARGET = """\
from torch import fx

def retarget(model, old, new):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target is old:
            node.target = new
    gm.recompile()
    return gm
"""
RIGHT = {"retarget": RETARGET}
DUE = {"retarget": 2.0}
"""What the one right answer earns that many attackers hand in besides."""

MOST_SECONDS = 420.0
"""What grading any one submission may take, with the patience of `_wiring.SHORT`."""

_OUTSIDE = os.readlink("/proc/self/ns/pid") if os.path.exists("/proc/self/ns/pid") else ""

GUARD = f"""\
import os

def boxed():
    try:
        return os.readlink("/proc/self/ns/pid") != {_OUTSIDE!r}
    except OSError:
        return True

if not boxed():
    print("LOOT: this is no box")
    raise SystemExit
"""
"""Goes before what would harm the machine if there were no box: then it says so, and stops."""


@dataclass(frozen=True)
class Attack:
    """One submission of an attacker.

    Attributes:
        name: a slug; it is the student's id too.
        tries: what is tried.
        must: what must come of it.
        cell: a cell of its own above the first exercise.
        chapter: the chapter's name.
        answers: what is written into the answer cells, by exercise.
        edits: what else was done to the notebook.
        beside: files beside the notebook, by name.
        raw: makes the file that is handed in, from the edited notebook.
        place: does something to the folder that is handed in, once its files are there.
        student: the student's id, where that is the attack.
        called: the student's first and last name in the gradebook.
        earns: the points that are due all the same, by exercise.
        may: the points that may be had, where a right answer is spoilt by its own author: it
            gets something between `earns` and these.
        states: the states in which grading it may end.
        within: the seconds that grading it may take.
        neighbour: whether an honest student is graded beside it, whose work takes long.
        stock: whether it can be tried against nbgrader alone without harm to a machine.
        doubt: why it may succeed, where no grader of this design can tell.
        accepted: whether `docs/explanation/sandbox.md` names its gain among the risks that are
            left; such an attack is printed, and counted in no column.
    """

    name: str
    tries: str
    must: str
    cell: str = ""
    chapter: str = "03_manipulation"
    answers: Mapping[str, str] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    beside: Mapping[str, str | bytes] = field(default_factory=dict)
    raw: Callable[[NotebookNode], bytes] | None = None
    place: Callable[[Path], None] | None = None
    student: str = ""
    called: tuple[str, str] | None = None
    earns: Mapping[str, float] = field(default_factory=dict)
    may: Mapping[str, float] = field(default_factory=dict)
    states: frozenset[str] = GRADED
    within: float = MOST_SECONDS
    neighbour: bool = False
    stock: bool = False
    doubt: str = ""
    accepted: bool = False

    @property
    def neighbour_id(self) -> str:
        """The id of the honest student beside it, who is graded next."""
        return f"{self.id}-neighbour"

    @property
    def id(self) -> str:
        """The student's id."""
        return self.student or self.name

    def notebook(self, released: NotebookNode) -> NotebookNode:
        """The released notebook after the attacker's work."""
        edits = [fill(name, text) for name, text in self.answers.items()]
        if self.cell:
            edits.append(add(self.cell, above=of_chapter(self.chapter)[0].name))
        return edited(released, *edits, *self.edits)

    def work(self, released: NotebookNode) -> bytes:
        """The bytes of the notebook that is handed in. nbformat would fix some of it."""
        notebook = self.notebook(released)
        return self.raw(notebook) if self.raw else json.dumps(notebook).encode()

    def put(self, room: Path, released: NotebookNode) -> Path:
        """Hand it in; returns the folder."""
        path = hand_in(room, self.id, self.chapter, "")
        path.write_bytes(self.work(released))
        for name, content in self.beside.items():
            other = path.parent / name
            other.parent.mkdir(parents=True, exist_ok=True)
            other.write_bytes(content if isinstance(content, bytes) else content.encode())
        if self.place:
            self.place(path.parent)
        return path.parent

    def points(self) -> dict[str, tuple[float, float]]:
        """The least and the most points that each exercise of the chapter may get."""
        found = {}
        for exercise in of_chapter(self.chapter):
            least = float(self.earns.get(exercise.name, 0))
            found[exercise.name] = least, max(least, float(self.may.get(exercise.name, 0)))
        return found


def kinds() -> dict[str, list[Attack]]:
    """All attacks, by the module in which they stand."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: m.ATTACKS for name, m in modules.items() if hasattr(m, "ATTACKS")}


def all_attacks() -> list[Attack]:
    """All attacks, by their names."""
    return sorted((a for found in kinds().values() for a in found), key=lambda a: a.name)
