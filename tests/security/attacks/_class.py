"""Makes and grades a class with attackers in it, and finds the attacks that succeeded."""

from __future__ import annotations

import csv
import json
import os
import resource
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple
from unittest import mock

from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook

from autograder.classroom.setup.create import choose, create
from autograder.exercises import of_chapter
from autograder.submission.sanitize import in_a_line
from autograder.submission.sanitize.harmless_files import may_be_linked
from tests.security.attacks import (
    GRADED,
    HONEST,
    MOST_SECONDS,
    SCRIPT,
    TOKEN,
    Attack,
    _traces,
    _wiring,
)
from tests.support.submissions import room as rooms
from tests.support.submissions.answer_text import text_of
from tests.support.submissions.edits import edited, fill
from tests.support.submissions.reader import submission_of

CHAPTERS = (
    *("01_tracing", "02_nodes", "02b_lint", "03_manipulation", "03b_effects", "05_proxy"),
    *("05b_programs", "06_interpreter", "06b_measuring", "07_features", "07b_cutting", "09b_duels"),
)
RIGHT = {
    "00_start": {"node_names": text_of("node_names", "a comprehension")},
    **{chapter: submission_of("ada", chapter).answers for chapter in CHAPTERS},
}
MOST_MEMORY = 4 * 1024**2
"""KiB of memory that no process may exceed, including the judge."""


Column = Literal["gained", "ran", "read", "harmed", "accused"]
COLUMNS: tuple[Column, ...] = ("gained", "ran", "read", "harmed", "accused")
"""The kinds of success of an attack.

* gained: undeserved points, or a state that hides the attempt;
* ran: something was run, written, called or left outside of the sandbox, or a page would run it;
* read: a secret, a hidden case or another student's work was read;
* harmed: a student lost points or a state, or the class was not graded;
* accused: an honest student is marked as tampered, or loses a point without an attacker.
"""


class Loss(NamedTuple):
    """One success of an attack."""

    column: Column
    says: str


@dataclass
class Found:
    """The successes of attacks.

    Attributes:
        attacks: by the attack's name.
        honest: by the honest student's id.
        room: for the class as a whole.
    """

    attacks: dict[str, list[Loss]] = field(default_factory=dict)
    honest: dict[str, list[Loss]] = field(default_factory=dict)
    room: list[Loss] = field(default_factory=list)

    def counts(self) -> dict[Column, int]:
        """The number of attacks, honest students and class-wide losses in each column."""
        whose = defaultdict(set)
        for who, losses in [*self.attacks.items(), *self.honest.items()]:
            for loss in losses:
                whose[loss.column].add(who)
        for number, loss in enumerate(self.room):
            whose[loss.column].add(number)
        return {column: len(whose[column]) for column in COLUMNS}


LONG_WORK = """

import os as _os, threading as _threading, time as _time
_quick, _worked = {name}, []

def _work():
    stop = _time.process_time() + 5.0
    while _time.process_time() < stop:
        pass
    helper = _threading.Thread(target=_worked.append, args=(True,))
    helper.start()
    helper.join()
    _os.waitpid(_os.fork() or _os._exit(0), 0)

def {name}(*args, **kwargs):
    _worked or _work()
    return _quick(*args, **kwargs)
"""
"""Uses five seconds of processor time, a thread and a process, once."""

LONG_MAKING = (
    LONG_WORK.partition("def {name}(")[0]
    + """class {name}(_quick):
    def __init__(self):
        _worked or _work()
        super().__init__()
"""
)
"""The same for an answer that is a class."""


def of_long_work(answers: dict[str, str]) -> dict[str, str]:
    """These answers, changed so that the first function, or else the first class, takes seconds."""
    for kind, work in (("def", LONG_WORK), ("class", LONG_MAKING)):
        for name, text in answers.items():
            if f"{kind} {name}(" in text:
                return answers | {name: text + work.format(name=name)}
    raise ValueError("none of these answers is a function or class")


class AttackedClass:
    """A classroom in a folder, with attackers and honest students.

    Args:
        folder: gets the classroom and the files next to it.
        attacks: the attackers.
    """

    def __init__(self, folder: Path, attacks: list[Attack]) -> None:
        self.folder, self.room, self.attacks = folder, folder / "class", attacks
        self.chapters = sorted({attack.chapter for attack in attacks})
        self.honest = {chapter: [*HONEST] for chapter in self.chapters}
        for attack in attacks:
            if attack.neighbour:
                self.honest[attack.chapter].append(attack.neighbour_id)
        places = ("source", "student", "gradebook", "environment", "beside", "settings")
        self.tokens = {place: f"{TOKEN}{secrets.token_hex(8)}" for place in places}

    def make(self) -> None:
        """Make the classroom, submit everything, and hide the tokens."""
        create(self.room, choose(",".join(self.chapters)))
        for chapter in self.chapters:
            released = rooms.released(self.room, chapter)
            answers = of_long_work(RIGHT[chapter])
            for student in self.honest[chapter]:
                work = edited(released, *(fill(*row) for row in answers.items()))
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
            for attack in self.attacks:
                if attack.called:
                    first, last = attack.called
                    gradebook.update_or_create_student(attack.id, first_name=first, last_name=last)

    def _hide_in_source(self, chapter: str) -> None:
        path = self.room / "source" / chapter / f"{chapter}.ipynb"
        data = json.loads(path.read_text(encoding="utf-8"))
        data["metadata"]["note"] = self.tokens["source"]
        path.write_text(json.dumps(data), encoding="utf-8")

    def grade(self, jobs: int, say: Callable[[str], None] = lambda text: None) -> Found:
        """Grade the class, make feedback and export, and find the attacks that succeeded."""
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
                _wiring.grade(self.room, jobs, heard, self._most_seconds(jobs), rows)
            except Exception as error:
                found.room.append(Loss("harmed", f"Grading stopped with {error!r}."))
        found.room += self._on_terminal(log)
        for command in ("generate_feedback", "export"):
            for words in [(c,) for c in self.chapters] if command != "export" else [()]:
                run = rooms.nbgrader(self.room, command, *words)
                log.append(run.stdout)
                if run.returncode:
                    text = f"nbgrader {command} failed: {run.stdout[-500:]}"
                    found.room.append(Loss("harmed", text))
        found.room += [Loss("ran", f"Something called at {call}.") for call in listener.calls]
        found.room += self._changes(before)
        found.room += self._in_log(log, rows)
        obtained = {chapter: rooms.points(self.room, chapter) for chapter in self.chapters}
        ended = {(row.student, row.chapter): row for row in rows}
        for attack in self.attacks:
            got = obtained[attack.chapter].get(attack.id, {})
            losses = list(self._of(attack, got, ended.get((in_a_line(attack.id), attack.chapter))))
            if losses:
                found.attacks[attack.name] = losses
        for student in sorted({s for students in self.honest.values() for s in students}):
            losses = list(self._of_honest(student, obtained, ended))
            if losses:
                found.honest[student] = losses
        self._assign_files(found)
        return found

    def _most_seconds(self, jobs: int) -> float:
        """Seconds that the class may take; an attack that stalls the batch exceeds them."""
        usual = 60.0 * (len(self.attacks) + sum(map(len, self.honest.values()))) / jobs
        return usual + sum(a.within for a in self.attacks if a.within != MOST_SECONDS) + 1200.0

    def _of(
        self, attack: Attack, got: dict[str, float | None], row: _wiring.Row | None
    ) -> Iterator[Loss]:
        for exercise, (least, most) in attack.points().items():
            points = got.get(exercise) or 0.0
            if points > most + 1e-6:
                yield Loss("gained", f"{points:g} points for {exercise}, where {most:g} are due")
            if points < least - 1e-6:
                yield Loss("harmed", f"{points:g} points for {exercise}, where {least:g} are due")
        yield from self._of_row(attack, row)
        files = list(_traces.made_for(self.room, attack.id))
        for place in _traces.tokens_in(files, self.tokens):
            yield Loss("read", f"a secret of {place} is in what was made for it")
        for path in files:
            yield from self._in_file(path, attack)

    def _of_row(self, attack: Attack, row: _wiring.Row | None) -> Iterator[Loss]:
        if row is None:
            yield Loss("harmed", "grading says nothing of it")
            return
        if row.status not in attack.states:
            text = f"its state is {row.status!r}, not one of {', '.join(sorted(attack.states))}"
            yield Loss("gained" if row.status in GRADED else "harmed", text)
        if row.seconds > attack.within:
            yield Loss("harmed", f"grading it took {row.seconds:.0f} s of {attack.within:g}")
        if any(_traces.is_control(c) for c in row.notes):
            yield Loss("ran", "there are control characters in what is said of it")

    def _names(self, attack: Attack) -> tuple[str, str]:
        with Gradebook(f"sqlite:///{self.room / 'gradebook.db'}") as gradebook:
            student = gradebook.find_student(attack.id)
            return student.first_name or "", student.last_name or ""

    def _in_file(self, path: Path, attack: Attack) -> Iterator[Loss]:
        if path.is_relative_to(self.room / "autograded") and not may_be_linked(path.name):
            yield Loss("ran", f"a browser may run {path.name!r} beside the graded notebook")
        if path.suffix == ".ipynb":
            for mime, text in _traces.shown(path):
                if _traces.LOOT in text:
                    yield Loss("read", f"it shows {text[text.find(_traces.LOOT) :][:100]!r}")
                if SCRIPT in text and mime == "application/javascript":
                    yield Loss("ran", "a script is kept as an output")
                for part in _traces.active_parts(text) if mime == "image/svg+xml" else ():
                    yield Loss("ran", f"a drawing with an active {part} is kept as an output")
            page = _traces.formgraders_page(path, attack.id, self._names(attack))
            for part in _traces.active_parts(page):
                yield Loss("ran", f"Formgrader's page has an active {part}")
            for field in _traces.doubled_fields(page, path) if page else ():
                yield Loss("ran", f"Formgrader's page has something else named `{field}`")
        if path.suffix == ".html":
            page = path.read_text(encoding="utf-8")
            for part in _traces.active_parts(page):
                yield Loss("ran", f"the feedback page has an active {part}")

    def _of_honest(
        self,
        student: str,
        obtained: dict[str, dict[str, dict[str, float | None]]],
        ended: dict[tuple[str, str], _wiring.Row],
    ) -> Iterator[Loss]:
        for chapter, students in self.honest.items():
            if student not in students:
                continue
            got = obtained[chapter].get(student, {})
            for exercise in of_chapter(chapter):
                if abs((got.get(exercise.name) or 0.0) - exercise.points) > 1e-6:
                    text = f"{got.get(exercise.name)} of {exercise.points} for {exercise.name}"
                    yield Loss("harmed", text)
            row = ended.get((student, chapter))
            if row is None or row.status != "graded":
                text = row and f"{row.status!r}: {row.notes[:300]}"
                yield Loss("harmed", f"{chapter} ended {text}")

    def _changes(self, before: dict[str, str]) -> Iterator[Loss]:
        after = _traces.fingerprint(self.room)
        for path in sorted({*before, *after}):
            if before.get(path) != after.get(path):
                yield Loss("ran", f"{path!r} was changed while the class was graded.")
        for pid in _traces.orphans():
            os.kill(pid, 9)
            yield Loss("ran", "A process was left behind.")
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        if largest > MOST_MEMORY:
            yield Loss("harmed", f"A process had {largest // 1024:,} MiB of memory.")
        table = self.room / "grades.csv"
        if table.exists():
            with table.open(encoding="utf-8", newline="") as file:
                values = [v for row in csv.reader(file) for v in row if v[:1] in tuple("=+-@")]
            yield from (Loss("ran", f"{value!r} is in grades.csv.") for value in values)

    def _on_terminal(self, lines: list[str]) -> Iterator[Loss]:
        """Lines of grading output that contain control characters for the terminal."""
        for line in lines:
            if any(map(_traces.is_control, line)):
                yield Loss("ran", f"Grading has said {line[:100]!r}.")

    def _in_log(self, log: list[str], rows: list[_wiring.Row]) -> Iterator[Loss]:
        text = "\n".join((*log, *(row.notes for row in rows)))
        for place, token in self.tokens.items():
            if token in text:
                yield Loss("read", f"A secret of {place} is in the log.")

    def _assign_files(self, found: Found) -> None:
        """Assign each file that was written outside to the attack that its name contains."""
        for path in _traces.pwned(self.folder):
            os.remove(path)
            ending = Path(path).name.removeprefix(_traces.PWNED)
            names = [attack.name for attack in self.attacks if attack.name.endswith(ending)]
            if names:
                losses = found.attacks.setdefault(names[0], [])
                losses.append(Loss("ran", f"it has written {path}"))
            else:
                found.room.append(Loss("ran", f"{path} was written."))
