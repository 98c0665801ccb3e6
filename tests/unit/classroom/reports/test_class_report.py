"""The class report finds the faults planted in a simulated class, and reveals no secrets."""

from __future__ import annotations

import csv
import re
import stat
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.classroom.grading.grade_class import Summary
from autograder.classroom.lms import unusable
from autograder.classroom.reports.class_report import make
from autograder.classroom.reports.class_report.anonymity import without_names
from autograder.classroom.reports.class_report.charts import overview
from autograder.classroom.reports.class_report.item_analysis import analyse, at_most, discrimination
from autograder.classroom.reports.class_report.page import lateness
from autograder.classroom.reports.class_report.page import page as report_page
from autograder.classroom.reports.class_report.records import (
    ELSEWHERE,
    NOT_GRADED,
    NOT_HANDED_IN,
    UNUSABLE,
    ClassRecord,
    GradedAnswer,
    SubmissionEntry,
    read_class,
)
from autograder.classroom.reports.forget import Forgetting
from autograder.classroom.room.lock import HOME
from autograder.cli import main
from autograder.cli.classroom import app
from autograder.environment.errors import ClassroomError
from autograder.submission.check_result import CheckResult, KeptFinding
from autograder.submission.result import Result, SubmissionStatus
from tests.support import simulated_class
from tests.support.simulated_class import CHAPTERS, Simulated

pytestmark = pytest.mark.filterwarnings("ignore:Object of type.*:sqlalchemy.exc.SAWarning")

SMALL = 60
ONE = CHAPTERS[0]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Simulated]:
    """A class of a thousand students."""
    simulated = simulated_class.simulate(seed=11)
    return simulated_class.write(tmp_path_factory.mktemp("large") / "class", simulated), simulated


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Simulated]:
    """A class of a few students."""
    simulated = simulated_class.simulate(seed=5, students=SMALL)
    return simulated_class.write(tmp_path_factory.mktemp("small") / "class", simulated), simulated


def read(room: Path) -> ClassRecord:
    address = f"sqlite:///{room / 'gradebook.db'}"
    return read_class(room, address, "simulated", room / HOME / "journal.jsonl")


def test_page_names_what_was_planted(
    large: tuple[Path, Simulated], total: Callable[[str, int], None]
) -> None:
    room, simulated = large
    page = make.report(room).read_text(encoding="utf-8")
    standouts = page[page.index('id="out"') : page.index('id="waits"')]
    named = set(re.findall(r'<a href="#e\d+">(task_\w+)</a>', standouts))
    planted, others = simulated.planted(), {item.name for item in simulated.items}
    found, wrong = named & planted, named - planted
    print(f"named {len(found)} of {len(planted)} planted, {len(wrong)} of {len(others - planted)}")
    total("planted exercises that the report names", len(found))
    total("exercises named in which nothing was planted", len(wrong))
    assert len(found) >= 0.95 * len(planted)
    assert len(wrong) <= 0.1 * len(others - planted)
    told = dict(re.findall(r'">(task_\w+)</a></strong>.*?\n?<br>(.*?)</li>', standouts, re.S))
    for fault, word in (("hard", "Hard:"), ("easy", "Too easy:"), ("lottery", "ambiguous")):
        assert all(word in told[name] for name in simulated.planted(fault)), fault
    assert len(page) < 1_000_000
    rows = list(csv.DictReader((room / "report" / "report.csv").open(encoding="utf-8")))
    assert len(rows) == 1_000 * len(CHAPTERS)


class Outline(HTMLParser):
    """Collects a page's tags and attributes, and checks that its elements are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "br", "line", "rect", "circle"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                self.open.append("unclosed")
                return


@pytest.mark.parametrize("anonymous", [False, True])
def test_page_is_static_and_escapes_what_students_wrote(
    small: tuple[Path, Simulated], anonymous: bool
) -> None:
    path = make.report(small[0], anonymous=anonymous)
    text = path.read_text(encoding="utf-8")
    outline = Outline()
    outline.feed(text)
    assert outline.open == []
    assert not {"script", "img", "link", "iframe", "form", "object"} & set(outline.tags)
    assert not [name for name, _ in outline.attributes if name.startswith("on") or name == "src"]
    assert {value for name, value in outline.attributes if name == "href"} <= {
        f"#{value}" for name, value in outline.attributes if name == "id"
    }
    assert "http:" not in text and "https:" not in text and "url(" not in text
    assert "<script" not in text and "<i>" not in text and "<b>Bo" not in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.with_name("report.csv").stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert "lang" in dict(outline.attributes) and "prefers-color-scheme:dark" in text


def test_names_and_formulas_are_quoted_as_text(small: tuple[Path, Simulated]) -> None:
    room, simulated = small
    page = make.report(room).read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    rows = list(csv.DictReader((room / "report" / "report.csv").open(encoding="utf-8")))
    assert {row["student"] for row in rows} == set(simulated.students)
    formulas = [row["name"] for row in rows if "SUM" in row["name"]]
    assert formulas and all(name.startswith("'=") for name in formulas)
    refused = [row for row in rows if row["ended"] == "refused"]
    assert all("is no notebook" in row["why"] for row in refused)
    assert sum(row["ended"] == NOT_HANDED_IN for row in rows) == len(rows) - len(simulated.results)


def test_notes_that_many_share_are_shown_once() -> None:
    why = ("The points of `x` are those of an earlier release; the new ones count.",)
    graded, repaired = str(SubmissionStatus.GRADED), str(SubmissionStatus.REPAIRED)
    ended = {"ann": graded, "bo": graded, "cy": graded, "dan": repaired}
    entries = tuple(SubmissionEntry(student, ONE, word, why) for student, word in ended.items())
    names = {"ann": "Ann Lee", "bo": "", "cy": "", "dan": "Dan Day"}
    record = ClassRecord("class", names, (ONE,), entries)
    html = report_page(record, [], made=datetime(2026, 1, 1), anonymous=False)
    look = html[html.index('id="look"') : html.index('id="students"')]
    assert f"3 submissions of {ONE} have the same notes" in look and "1 of 4:" in look
    assert "Dan Day" in look and "Ann Lee" not in look


def test_nothing_tells_who_is_who_without_names(small: tuple[Path, Simulated]) -> None:
    room, simulated = small
    make.report(room, anonymous=True)
    folder = room / make.PLACE_WITHOUT_NAMES
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\bs0\d\d\d\b|Surname|no notebook|put back", text), path.name
        assert str(room) not in text
        assert not [first for first, _ in simulated.students.values() if f"{first} " in text]
    rows = list(csv.DictReader((folder / "report.csv").open(encoding="utf-8")))
    assert set(rows[0]).isdisjoint({"name", "why", "late_seconds"})
    assert sorted({row["student"] for row in rows})[0] == "student 01"


def test_order_without_names_is_another_each_time(small: tuple[Path, Simulated]) -> None:
    record = read(small[0])
    points = [
        [entry.points for entry in without_names(record).entries if entry.chapter == CHAPTERS[0]]
        for _ in range(3)
    ]
    own = [entry.points for entry in record.entries if entry.chapter == CHAPTERS[0]]
    assert all(sorted(each) == sorted(own) for each in points)
    assert len({tuple(each) for each in [*points, own]}) == 4


def test_without_names_is_quoted_only_what_several_got() -> None:
    def entry(student: str, model: str) -> SubmissionEntry:
        check = CheckResult("e", "failed", 0.0, (KeptFinding("code", "says", model),))
        return SubmissionEntry(
            student, "c", "graded", answers=(GradedAnswer("e", 0.0, 1.0, check=check),)
        )

    models = {"ann": "own words of ann", "bo": "the same", "cy": "the same", "di": "the same"}
    entries = tuple(entry(student, model) for student, model in models.items())
    record = ClassRecord("class", dict.fromkeys(models, ""), ("c",), entries)
    (alone,) = analyse(record, shown_to=3)
    assert [finding.model for finding in alone.findings] == ["the same"]
    (named,) = analyse(replace(record, entries=entries[:1]), shown_to=3)
    assert [(f.code, f.count, f.message, f.model) for f in named.findings] == [("code", 1, "", "")]


def test_points_of_people_count_and_what_others_graded_is_not_explained(
    tmp_path: Path,
) -> None:
    simulated = simulated_class.simulate(seed=2, students=3)
    result = next(r for r in simulated.results if r.points < r.max_points and len(r.checks) > 1)
    first, second = result.checks[0], result.checks[1]
    room = simulated_class.write(tmp_path / "class", simulated)
    with Gradebook(f"sqlite:///{room / 'gradebook.db'}") as book:
        submission = book.find_submission(result.chapter, result.student)
        for grade in submission.notebooks[0].grades:
            if grade.name == f"check-{first.exercise}":
                grade.manual_score, grade.extra_credit = 0.5, 0.25
            if grade.name == f"check-{second.exercise}":
                grade.auto_score = 0.125
        submission.extension = timedelta(days=10)
        book.db.commit()
    (room / "submitted" / "newcomer" / CHAPTERS[0]).mkdir(parents=True)
    unusable.note(room, CHAPTERS[1], {"newcomer": "A PDF."})
    record = read(room)
    (entry,) = (
        e for e in record.entries if (e.student, e.chapter) == (result.student, result.chapter)
    )
    answers = {answer.exercise: answer for answer in entry.answers}
    assert answers[first.exercise].points == 0.75 and answers[first.exercise].check == first
    assert answers[second.exercise].check is None
    assert not entry.is_late
    ended = [(e.ended, e.why) for e in record.entries if e.student == "newcomer"]
    assert ended[:2] == [(NOT_GRADED, ()), (UNUSABLE, ("A PDF.",))]
    assert {each for each, _ in ended[2:]} <= {NOT_HANDED_IN}


def test_lateness_is_that_of_the_class_and_forgetting_takes_reports_away(tmp_path: Path) -> None:
    simulated = simulated_class.simulate(seed=2, students=3)
    student, chapter = (result := simulated.results[0]).student, result.chapter
    late = {(student, chapter): timedelta(minutes=30)}
    room = simulated_class.write(tmp_path / "class", replace(simulated, late=late))

    def are_late() -> set[tuple[str, str]]:
        return {(e.student, e.chapter) for e in read(room).entries if e.is_late}

    assert are_late() == {(student, chapter)}
    (room / "deadlines.toml").write_text("grace_minutes = 29\n")
    assert are_late() == {(student, chapter)}
    (room / "deadlines.toml").write_text("grace_minutes = 31\n")
    assert are_late() == set()
    assert make.report(room).is_file() and make.report(room, anonymous=True).is_file()
    forgetting = Forgetting(room, student)
    assert len(forgetting.held().reports) == 2 and forgetting.held().others == ()
    forgetting.erase()
    assert forgetting.held().reports == () and not list(room.glob("report*"))
    assert student not in make.report(room).with_name("report.csv").read_text(encoding="utf-8")
    (room / "deadlines.toml").write_text("grace_minutes = 'none'\n")
    with pytest.raises(ClassroomError, match="grace_minutes"):
        make.report(room)


def test_what_the_journal_does_not_know_was_graded_elsewhere(tmp_path: Path) -> None:
    simulated = simulated_class.simulate(seed=2, students=2)
    room = simulated_class.write(tmp_path / "class", simulated)
    journal = room / HOME / "journal.jsonl"
    journal.write_text("")
    ended = {entry.ended for entry in read(room).entries if entry.is_handed_in}
    assert ended == {ELSEWHERE}
    result = Result("s0000", CHAPTERS[0], SubmissionStatus.CRASHED, notes=("Its grader was lost.",))
    address = f"sqlite:///{room / 'gradebook.db'}"
    record = read_class(room, address, "simulated", journal, [result])
    entry = next(entry for entry in record.entries if entry.ended == "crashed")
    assert entry.student == "s0000"
    assert all(answer.tried for answer in entry.answers)  # earlier versions recorded no checks
    refused = replace(result, status=SubmissionStatus.REFUSED)
    record = read_class(room, address, "simulated", journal, [refused])
    entry = next(entry for entry in record.entries if entry.ended == "refused")
    assert not any(answer.tried for answer in entry.answers if not answer.points)


def test_discrimination_is_a_correlation() -> None:
    assert discrimination([0, 0.5, 1], [-1, 0, 1]) == pytest.approx(1)
    assert discrimination([1, 0, 1, 0], [-1, 1, -1, 1]) == pytest.approx(-1)
    assert discrimination([1, 0, 0, 1], [-1, -1, 1, 1]) == pytest.approx(0)
    assert discrimination([1, 1, 1], [1, 2, 3]) is None
    assert discrimination([1, 0], [1, 2]) is None
    assert at_most(0.1, 30) > 0.2 > at_most(0.1, 1_000)  # a small class is weaker evidence


def test_few_students_say_nothing_against_an_exercise() -> None:
    simulated = simulated_class.simulate(seed=3, students=15)
    entries = [
        SubmissionEntry(r.student, r.chapter, r.status, answers=tuple(
            GradedAnswer(check.exercise, check.score, 1.0, check=check) for check in r.checks
        ))
        for r in simulated.results
    ]  # fmt: skip
    record = ClassRecord("few", dict.fromkeys(simulated.students, ""), CHAPTERS, tuple(entries))
    statistics = analyse(record)
    assert len(statistics) == len(simulated.items) and not any(s.faults for s in statistics)
    assert {each.discrimination for each in statistics} == {None} and overview(statistics) == ""


def test_chart_has_a_dot_for_each_exercise(small: tuple[Path, Simulated]) -> None:
    statistics = analyse(read(small[0]))
    known = [each for each in statistics if each.discrimination is not None]
    assert len(known) > 40 and overview(statistics).count("<circle") == len(known)


def test_command_writes_the_report_or_says_why_not(
    small: tuple[Path, Simulated], tmp_path: Path
) -> None:
    ran = CliRunner().invoke(app, ["report", str(small[0]), "--anonymous"])
    assert ran.exit_code == 0 and "report-without-names" in ran.output
    ran = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert ran.exit_code == 1 and "is not a classroom" in ran.output
    assert not list(small[0].glob("report*/.*"))  # no temporary file is left


def test_each_run_of_grade_writes_the_report(
    small: tuple[Path, Simulated], monkeypatch: pytest.MonkeyPatch
) -> None:
    room, simulated = small
    summary = Summary(simulated.results, 1.0)
    monkeypatch.setattr(
        "autograder.classroom.grading.grade_class.grade_class", lambda *_, **__: summary
    )
    (room / "report" / "index.html").unlink(missing_ok=True)
    ran = CliRunner().invoke(main.app, ["grade", str(room)])
    assert ran.exit_code == 0 and re.search(r"The report, made in \d+\.\d s: ", ran.output)
    assert (room / "report" / "index.html").is_file()


def test_lateness_is_said_as_people_say_it() -> None:
    assert lateness(timedelta(days=2, hours=5)) == "2 days"
    assert lateness(timedelta(minutes=61)) == "1 hour"
    assert lateness(timedelta(seconds=3)) == "1 minute"
    assert lateness(timedelta()) == ""
