"""A simulated class: students of random ability, exercises with planted faults.

It defines what an instructor's report must find. `write` writes the journal and the gradebook of
`fxcourse grade` without grading anything. The same seed gives the same class.

Whether a student's answer is right is drawn from the two-parameter logistic model of item response
theory: the chance is `1 / (1 + exp(-slope * (ability - difficulty)))`.
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from uuid import UUID

from nbgrader import api

from autograder.classroom.room.lock import HOME
from autograder.submission.check_result import CheckResult, KeptFinding
from autograder.submission.result import Result, SubmissionStatus

Fault = Literal["", "hard", "easy", "other reading", "lottery", "backwards"]
"""The fault planted in an exercise; empty in most. The last three make it ambiguous: able students
read it in another way, right answers come by chance, able students fail it."""

AMBIGUOUS: tuple[Fault, ...] = ("other reading", "lottery", "backwards")

CHAPTERS = tuple(f"{number:02}_simulated" for number in range(1, 7))
IN_A_CHAPTER = 8
PLANTED: tuple[Fault, ...] = (
    *("hard",) * 5, *("easy",) * 5,
    "other reading", "other reading", "lottery", "lottery", "backwards", "backwards",
)  # fmt: skip
DUE = datetime(2026, 11, 1, 12, 0)

_CODES = (
    "wrong-result", "stale-code", "wrong-shape", "dead-node", "input-changed", "wrong-exception",
    "not-a-graph", "wrong-dtype",
)  # fmt: skip
_NAMES = ("Ada", "Jürgen", "Zoë", "Nguyễn", "O'Brien", "<b>Bo</b>", "=SUM(A1)", "Łukasz", "张")


@dataclass(frozen=True)
class Item:
    """One planned exercise.

    Attributes:
        name: its name, which does not reveal the fault.
        chapter: its chapter.
        points: full marks.
        fault: its planted fault.
        slope: how steeply the chance of a right answer rises with ability.
        difficulty: the ability at which the chance is one half.
        codes: the codes of faults in answers, the most common first.
        shared: the mistake that able students share in an ambiguous exercise.
        share: the share of able students who read an ambiguous exercise in the other way.
    """

    name: str
    chapter: str
    points: float
    fault: Fault
    slope: float
    difficulty: float
    codes: tuple[str, ...]
    shared: str
    share: float


@dataclass(frozen=True)
class Simulated:
    """A class, and the planted faults of its exercises."""

    items: tuple[Item, ...]
    students: dict[str, tuple[str, str]]
    """First and last names by id."""
    results: tuple[Result, ...]
    late: dict[tuple[str, str], timedelta]
    """Time between due date and submission, by student and chapter."""

    def planted(self, *faults: Fault) -> set[str]:
        """The names of the exercises with one of these faults, by default with any."""
        wanted = faults or ("hard", "easy", *AMBIGUOUS)
        return {item.name for item in self.items if item.fault in wanted}


def simulate(seed: int = 0, students: int = 1_000) -> Simulated:
    """Draw a class."""
    draw = random.Random(f"a simulated class {seed}")
    items = _items(draw)
    names = {
        f"s{number:04}": (draw.choice(_NAMES), f"Surname{number}") for number in range(students)
    }
    results, late = [], {}
    for student in names:
        ability = draw.gauss(0, 1)
        for chapter in CHAPTERS:
            if draw.random() < 0.06:
                continue  # not submitted
            own = [item for item in items if item.chapter == chapter]
            results.append(_result(draw, student, chapter, own, ability))
            if draw.random() < 0.05:
                late[student, chapter] = timedelta(minutes=draw.randrange(1, 5_000))
    return Simulated(items, names, tuple(results), late)


def _items(draw: random.Random) -> tuple[Item, ...]:
    faults = [*PLANTED, *[""] * (len(CHAPTERS) * IN_A_CHAPTER - len(PLANTED))]
    draw.shuffle(faults)
    items = []
    for place, fault in enumerate(faults):
        chapter = CHAPTERS[place // IN_A_CHAPTER]
        slope = min(2.2, max(0.7, draw.gauss(1.3, 0.3)))
        difficulty = min(1.2, max(-1.6, draw.gauss(-0.3, 0.7)))
        match fault:
            case "hard":
                difficulty = draw.uniform(2.2, 3.2)
            case "easy":
                difficulty = draw.uniform(-5.5, -4.2)
            case "lottery":
                slope, difficulty = draw.uniform(-0.1, 0.1), draw.uniform(-1, 1)
            case "backwards":
                slope, difficulty = draw.uniform(-0.8, -0.3), draw.uniform(-0.5, 0.5)
        codes = tuple(draw.sample(_CODES, 7))
        items.append(
            Item(
                f"task_{chapter[:2]}_{place % IN_A_CHAPTER + 1}",
                chapter,
                float(draw.choice((1, 2, 4))),
                fault,
                slope,
                difficulty,
                codes[:6],
                codes[6],
                draw.uniform(0.55, 0.75),
            )  # fmt: skip
        )
    return tuple(items)


def _result(
    draw: random.Random, student: str, chapter: str, items: list[Item], ability: float
) -> Result:
    total = sum(item.points for item in items)
    chance = draw.random()
    result = Result(student, chapter, SubmissionStatus.GRADED, max_points=total, seconds=1.0)
    if chance < 0.005:
        why = f"<i>{student}</i>.zip is no notebook & was not read."
        return replace(result, status=SubmissionStatus.REFUSED, notes=(why,))
    checks = tuple(_answer(draw, item, ability) for item in items)
    points = sum(c.score * i.points for c, i in zip(checks, items, strict=True))
    result = replace(result, checks=checks, points=points)
    if chance < 0.02:
        note = f"Cell {draw.randrange(2, 40)} used up its time and was stopped."
        restarts = draw.randrange(3)
        return replace(result, status=SubmissionStatus.TIMED_OUT, notes=(note,), restarts=restarts)
    if chance < 0.06:
        note = f"The cell check-{items[0].name} was missing; it was put back."
        return replace(result, status=SubmissionStatus.REPAIRED, notes=(note,), repairs=1)
    return result


def _answer(draw: random.Random, item: Item, ability: float) -> CheckResult:
    if draw.random() < 0.02 + 0.05 / (1 + math.exp(2 * ability + 2)):
        return CheckResult(item.name, "not attempted", 0.0)
    if draw.random() < 0.002:
        return CheckResult(item.name, "not judged", 0.5)
    able = ability > 0.3
    if item.fault == "other reading" and able and draw.random() < item.share:
        return CheckResult(item.name, "failed", 0.0, (_finding(draw, item, item.shared),))
    if draw.random() < 1 / (1 + math.exp(-item.slope * (ability - item.difficulty))):
        return CheckResult(item.name, "passed", 1.0)
    if draw.random() < 0.02:
        told = KeptFinding("out-of-time", f"`{item.name}` did not come to an end on this case.")
        return CheckResult(item.name, "crashed", 0.0, (told,))
    weights = [1 / (rank + 1) for rank in range(len(item.codes))]
    codes = list(dict.fromkeys(draw.choices(item.codes, weights, k=draw.randrange(1, 4))))
    if item.fault in AMBIGUOUS and able and draw.random() < 0.8:
        codes = [item.shared]
    score = draw.choice((0.0, 0.0, 0.25, 0.5))
    findings = tuple(_finding(draw, item, code) for code in codes)
    return CheckResult(item.name, "failed", score, findings)


def _finding(draw: random.Random, item: Item, code: str) -> KeptFinding:
    node = draw.choice(("add", "relu", "linear_1", "<script>alert(1)</script>"))
    message = f"`{item.name}` left node `{node}` as it was ({code})."
    lines = draw.randrange(1, 9)
    body = "".join(f"        x = torch.relu(x) + {draw.randrange(99)}\n" for _ in range(lines))
    model = f"class Model(nn.Module):\n    def forward(self, x):\n{body}        return x < 1"
    return KeptFinding(code, message, model if draw.random() < 0.8 else "")


def write(folder: Path, simulated: Simulated) -> Path:
    """Write the files of `fxcourse grade` into a new classroom folder; return the folder."""
    (folder / HOME).mkdir(parents=True)
    config = "c = get_config()\nc.CourseDirectory.course_id = 'simulated'\n"
    (folder / "nbgrader_config.py").write_text(config)
    with (folder / HOME / "journal.jsonl").open("w", encoding="utf-8") as file:
        for result in simulated.results:
            file.write(json.dumps(result.to_json() | {"digest": "d"}) + "\n")
    with api.Gradebook(f"sqlite:///{folder / 'gradebook.db'}", "simulated") as book:
        for table, values in _rows(simulated):
            book.db.execute(table.insert(), values)
        book.db.commit()
    return folder


def _rows(simulated: Simulated) -> list[tuple[object, list[dict[str, object]]]]:
    """The rows of the gradebook, by table; nbgrader's own interface takes minutes for a class."""
    ids = iter(range(1, 1_000_000))

    def new() -> str:
        return UUID(int=next(ids)).hex

    assignments = {chapter: new() for chapter in CHAPTERS}
    books = {chapter: new() for chapter in CHAPTERS}
    cells = {item.name: new() for item in simulated.items}
    tables: dict[type, list[dict[str, object]]] = {
        api.Assignment: [
            {"id": key, "name": name, "duedate": DUE, "course_id": "simulated"}
            for name, key in assignments.items()
        ],
        api.Notebook: [
            {"id": books[name], "name": name, "assignment_id": assignments[name]}
            for name in CHAPTERS
        ],
        api.BaseCell: [
            {"id": cells[i.name], "name": f"check-{i.name}", "notebook_id": books[i.chapter],
             "type": "GradeCell"} for i in simulated.items
        ],
        api.GradeCell: [
            {"id": cells[i.name], "max_score": i.points, "cell_type": "code"}
            for i in simulated.items
        ],
        api.Student: [
            {"id": key, "first_name": first, "last_name": last}
            for key, (first, last) in simulated.students.items()
        ],
        api.SubmittedAssignment: [], api.SubmittedNotebook: [], api.Grade: [],
    }  # fmt: skip
    points = {item.name: item.points for item in simulated.items}
    for result in simulated.results:
        handed_in, book = new(), new()
        late = simulated.late.get((result.student, result.chapter), timedelta(hours=-1))
        tables[api.SubmittedAssignment].append(
            {"id": handed_in, "assignment_id": assignments[result.chapter],
             "student_id": result.student, "timestamp": DUE + late}
        )  # fmt: skip
        tables[api.SubmittedNotebook].append(
            {"id": book, "assignment_id": handed_in, "notebook_id": books[result.chapter],
             "flagged": False, "late_submission_penalty": 1.0 if late > timedelta() else None}
        )  # fmt: skip
        checks = {check.exercise: check for check in result.checks}
        for item in simulated.items:
            if item.chapter != result.chapter:
                continue
            check = checks.get(item.name)
            waits = check is not None and check.status == "not judged"
            score = check.score * points[item.name] if check else 0.0
            tables[api.Grade].append(
                {"id": new(), "notebook_id": book, "cell_id": cells[item.name],
                 "auto_score": None if waits else score, "needs_manual_grade": waits}
            )  # fmt: skip
    return [(kind.__table__, values) for kind, values in tables.items() if values]


def moment() -> datetime:
    """A time for reports on a simulated class."""
    return DUE.replace(tzinfo=UTC) + timedelta(days=7)
