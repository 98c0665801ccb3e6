"""A class with attackers in it: made, graded, and looked through for what did not hold."""

from __future__ import annotations

import csv
import json
import os
import resource
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook

from autograder.classroom.create import choose, create
from autograder.syllabus import of_chapter
from tests.attacks import HONEST, SCRIPT, TOKEN, Attack, _traces, _wiring
from tests.submissions import chapter_02, chapter_03, chapter_05
from tests.submissions import room as rooms
from tests.submissions.edits import edited, fill
from tests.submissions.exam import text_of

RIGHT = {
    "00_start": {"node_names": text_of("node_names", "a comprehension")},
    "02_nodes": chapter_02.RIGHT,
    "03_manipulation": chapter_03.RIGHT,
    "05_proxy": chapter_05.RIGHT,
}
MOST_MEMORY = 4 * 1024**2
"""KiB that no process may have taken, the judge's neither."""


@dataclass
class Found:
    """What did not hold.

    Attributes:
        attacks: sentences by the attack's name.
        honest: sentences by the honest student's id.
        room: sentences about the class as a whole.
    """

    attacks: dict[str, list[str]] = field(default_factory=dict)
    honest: dict[str, list[str]] = field(default_factory=dict)
    room: list[str] = field(default_factory=list)


class AttackedClass:
    """A classroom in a folder, with attackers and honest students.

    Args:
        folder: takes the classroom and what lies beside it.
        attacks: the attackers.
    """

    def __init__(self, folder: Path, attacks: list[Attack]) -> None:
        self.folder, self.room, self.attacks = folder, folder / "class", attacks
        self.chapters = sorted({attack.chapter for attack in attacks})
        places = ("source", "student", "gradebook", "environment", "beside", "settings")
        self.tokens = {place: f"{TOKEN}{secrets.token_hex(8)}" for place in places}

    def make(self) -> None:
        """Make the classroom, hand everything in, and hide the tokens."""
        create(self.room, choose(",".join(self.chapters)))
        for chapter in self.chapters:
            released = rooms.released(self.room, chapter)
            for student in HONEST:
                work = edited(released, *(fill(*row) for row in RIGHT[chapter].items()))
                work.cells.append(new_markdown_cell(self.tokens["student"]))
                rooms.hand_in(self.room, student, chapter, work)
            for attack in self.attacks:
                if attack.chapter == chapter:
                    attack.put(self.room, released)
            self._hide_in_source(chapter)
        (self.folder / "beside").mkdir()
        (self.folder / "beside" / "diary.txt").write_text(self.tokens["beside"])
        with (self.room / "nbgrader_config.py").open("a") as file:
            file.write(f"\n# {self.tokens['settings']}\n")
        with Gradebook(f"sqlite:///{self.room / 'gradebook.db'}") as gradebook:
            gradebook.update_or_create_student(HONEST[0], first_name=self.tokens["gradebook"])

    def _hide_in_source(self, chapter: str) -> None:
        path = self.room / "source" / chapter / f"{chapter}.ipynb"
        data = json.loads(path.read_text(encoding="utf-8"))
        data["metadata"]["note"] = self.tokens["source"]
        path.write_text(json.dumps(data), encoding="utf-8")

    def grade(self, jobs: int, say: Callable[[str], None] = lambda text: None) -> Found:
        """Grade the class, make feedback and export, and look what did not hold."""
        found, log = Found(), []

        def heard(text: str) -> None:
            log.append(str(text))
            say(text)

        for path in _traces.pwned(self.folder):
            os.remove(path)
        before = _traces.fingerprint(self.room)
        environment = {"FXCOURSE_ATTACKED": self.tokens["environment"]}
        rows: list[_wiring.Row] = []
        with _traces.Listener() as listener, mock.patch.dict(os.environ, environment):
            try:
                rows = _wiring.grade(self.room, jobs, heard)
            except Exception as error:
                found.room.append(f"Grading stopped with {error!r}.")
        for command in ("generate_feedback", "export"):
            for words in [(c,) for c in self.chapters] if command != "export" else [()]:
                run = rooms.nbgrader(self.room, command, *words)
                log.append(run.stdout)
                if run.returncode:
                    found.room.append(f"nbgrader {command} failed: {run.stdout[-500:]}")
        found.room += [f"Something called at {call}." for call in listener.calls]
        found.room += self._changes(before)
        found.room += [f"A secret of {p} is in the log." for p in self._in_log(log, rows)]
        obtained = {chapter: rooms.points(self.room, chapter) for chapter in self.chapters}
        states = {(row.student, row.chapter): row.status for row in rows}
        for attack in self.attacks:
            got = obtained[attack.chapter].get(attack.id, {})
            sentences = list(self._of(attack, got, states.get((attack.id, attack.chapter))))
            if sentences:
                found.attacks[attack.name] = sentences
        for student in HONEST:
            sentences = list(self._of_honest(student, obtained, states))
            if sentences:
                found.honest[student] = sentences
        self._assign_files(found)
        return found

    def _of(self, attack: Attack, got: dict[str, float | None], state: str | None) -> Iterator[str]:
        for exercise, (least, most) in attack.points().items():
            points = got.get(exercise) or 0.0
            if not least - 1e-6 <= points <= most + 1e-6:
                yield f"{points:g} points for {exercise}, where {least:g} are due"
        if state not in attack.states:
            yield f"its state is {state!r}, not one of {', '.join(sorted(attack.states))}"
        files = list(_traces.made_for(self.room, attack.id))
        for place in _traces.tokens_in(files, self.tokens):
            yield f"a secret of {place} is in what was made for it"
        for path in files:
            yield from self._in_file(path)

    def _in_file(self, path: Path) -> Iterator[str]:
        if path.suffix == ".ipynb":
            for mime, text in _traces.shown(path):
                if _traces.LOOT in text:
                    yield f"it shows {text[text.find(_traces.LOOT) :][:100]!r}"
                if SCRIPT in text and mime == "application/javascript":
                    yield "a script is kept as an output"
        if path.suffix == ".html":
            for part in _traces.active_parts(path.read_text(encoding="utf-8")):
                yield f"the feedback page has an active {part}"

    def _of_honest(
        self,
        student: str,
        obtained: dict[str, dict[str, dict[str, float | None]]],
        states: dict[tuple[str, str], str],
    ) -> Iterator[str]:
        for chapter in self.chapters:
            got = obtained[chapter].get(student, {})
            for exercise in of_chapter(chapter):
                if abs((got.get(exercise.name) or 0.0) - exercise.points) > 1e-6:
                    yield f"{got.get(exercise.name)} of {exercise.points} for {exercise.name}"
            if states.get((student, chapter)) != "graded":
                yield f"{chapter} ended {states.get((student, chapter))!r}"

    def _changes(self, before: dict[str, str]) -> Iterator[str]:
        after = _traces.fingerprint(self.room)
        for path in sorted({*before, *after}):
            if before.get(path) != after.get(path):
                yield f"{path!r} was changed while the class was graded."
        for pid in _traces.orphans():
            os.kill(pid, 9)
            yield "A process was left behind."
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        if largest > MOST_MEMORY:
            yield f"A process had {largest // 1024:,} MiB of memory."
        table = self.room / "grades.csv"
        if table.exists():
            with table.open(encoding="utf-8", newline="") as file:
                for row in csv.reader(file):
                    yield from (f"{v!r} is in grades.csv." for v in row if v[:1] in tuple("=+-@"))

    def _in_log(self, log: list[str], rows: list[_wiring.Row]) -> list[str]:
        text = "\n".join((*log, *(row.notes for row in rows)))
        return [place for place, token in self.tokens.items() if token in text]

    def _assign_files(self, found: Found) -> None:
        """Put down each file that was written outside to the attack that its name names."""
        for path in _traces.pwned(self.folder):
            os.remove(path)
            ending = Path(path).name.removeprefix(_traces.PWNED)
            names = [attack.name for attack in self.attacks if attack.name.endswith(ending)]
            if names:
                found.attacks.setdefault(names[0], []).append(f"it has written {path}")
            else:
                found.room.append(f"{path} was written.")
