"""Submissions that try to gain undeserved points or to do harm.

Each attack is one student's submission. It states what it tries, the required result, and the
points that its author has earned anyway. `make attacks` grades them among honest students; see
`tests/security/attacks/__main__.py`.

An attack has succeeded if the harness finds one of these:

* undeserved points in the gradebook;
* the word ``LOOT`` in printed or displayed output, which reports forbidden access;
* a token that begins with `TOKEN`, hidden by the harness in places that students cannot read, in
  any file made for an attacker;
* a file whose name begins with `PWNED`, outside of the sandbox;
* a process with `ORPHAN` on its command line, after grading;
* a connection to `PORT` or `SOCKET`;
* the word `SCRIPT` in a part of a page that a browser would run or load;
* a loss of an honest student: three are graded with each chapter, and one next to each attack
  with `neighbour`. Their answers compute for seconds, so that starving them shows.
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
"""The ids of the honest students, graded before, between and after the attackers."""

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
"""Points for the one right answer that many attackers submit in addition."""

MOST_SECONDS = 420.0
"""Seconds that grading one submission may take, with the timeouts of `_wiring.SHORT`."""

_OUTSIDE = os.readlink("/proc/self/ns/pid") if os.path.exists("/proc/self/ns/pid") else ""

GUARD = f"""\
import os

def boxed():
    try:
        os.listdir("/proc/1")
        return os.readlink("/proc/self/ns/pid") != {_OUTSIDE!r}
    except OSError:
        return True

if not boxed():
    print("LOOT: this is no box")
    raise SystemExit
"""
"""Stops code that would harm the machine if it runs outside a sandbox, and reports that."""


@dataclass(frozen=True)
class Attack:
    """One submission of an attacker.

    Attributes:
        name: a slug, also the student's id.
        tries: description of the attempt.
        must: the required result.
        cell: the attacker's cell above the first exercise.
        chapter: the chapter's name.
        answers: code for the answer cells, by exercise.
        edits: other changes to the notebook.
        extra_files: files next to the notebook, by name.
        raw: makes the submitted file from the edited notebook.
        place: changes the submitted folder after its files are written.
        student: the student's id, if the id is the attack.
        called: the student's first and last name in the gradebook.
        earns: the points that are due anyway, by exercise.
        may: the upper limit, by exercise, if the author spoils a right answer: the points must
            then be between `earns` and these.
        states: the states in which grading it may end.
        within: the seconds that grading it may take.
        neighbour: whether an honest student, whose work takes long, is graded next to it.
        stock: whether it can be tried with plain nbgrader without harm to a machine.
        doubt: the reason why it may succeed, if no grader of this design can detect it.
        accepted: whether `docs/explanation/sandbox.md` lists it as a remaining risk. Such an
            attack is printed, and not counted in any column.
    """

    name: str
    tries: str
    must: str
    cell: str = ""
    chapter: str = "03_manipulation"
    answers: Mapping[str, str] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    extra_files: Mapping[str, str | bytes] = field(default_factory=dict)
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
        """The id of the honest student who is graded next to it."""
        return f"{self.id}-neighbour"

    @property
    def id(self) -> str:
        """The student's id."""
        return self.student or self.name

    def notebook(self, released: NotebookNode) -> NotebookNode:
        """The released notebook with the attacker's changes."""
        edits = [fill(name, text) for name, text in self.answers.items()]
        if self.cell:
            edits.append(add(self.cell, above=of_chapter(self.chapter)[0].name))
        return edited(released, *edits, *self.edits)

    def work(self, released: NotebookNode) -> bytes:
        """The bytes of the submitted notebook; nbformat would fix some of it, so it is not used."""
        notebook = self.notebook(released)
        return self.raw(notebook) if self.raw else json.dumps(notebook).encode()

    def put(self, room: Path, released: NotebookNode) -> Path:
        """Submit it; return the folder."""
        path = hand_in(room, self.id, self.chapter, "")
        path.write_bytes(self.work(released))
        for name, content in self.extra_files.items():
            other = path.parent / name
            other.parent.mkdir(parents=True, exist_ok=True)
            other.write_bytes(content if isinstance(content, bytes) else content.encode())
        if self.place:
            self.place(path.parent)
        return path.parent

    def points(self) -> dict[str, tuple[float, float]]:
        """The minimum and the maximum points of each exercise of the chapter."""
        found = {}
        for exercise in of_chapter(self.chapter):
            least = float(self.earns.get(exercise.name, 0))
            found[exercise.name] = least, max(least, float(self.may.get(exercise.name, 0)))
        return found


def kinds() -> dict[str, list[Attack]]:
    """All attacks, by the module that defines them."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: m.ATTACKS for name, m in modules.items() if hasattr(m, "ATTACKS")}


def all_attacks() -> list[Attack]:
    """All attacks, sorted by name."""
    return sorted((a for found in kinds().values() for a in found), key=lambda a: a.name)
