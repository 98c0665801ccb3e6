"""Reference pages for instructors match the code: settings, statuses, limits and thresholds."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from nbgrader.converters.autograde import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import AssignLatePenalties, Execute, LimitOutput

from autograder.boxed import graph_service, judge_service
from autograder.boxed.remote_graphs import MAX_GRAPH_PROCESSES
from autograder.builder.paths import ROOT
from autograder.classroom.grading.grade_submission import GRAPHS, JUDGE
from autograder.classroom.grading.settings import ExecuteChecks
from autograder.classroom.intake.discover import MAX_NOTEBOOK
from autograder.classroom.reports.class_report import item_analysis
from autograder.classroom.room.honoured_settings import NbgraderOptions
from autograder.cli import settings_page
from autograder.core.process_exit import ExitReason
from autograder.grading import JUDGING
from autograder.sandbox.resource_limits import MIB, Bounds
from autograder.submission.check_result import STATUSES
from autograder.submission.repair_steps import Repair, RepairKind
from autograder.submission.result import SubmissionStatus

DOCS = ROOT / "docs"
NBGRADER = {
    each.__name__: each
    for each in (AssignLatePenalties, Autograde, CourseDirectory, Execute, LimitOutput)
}


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def test_the_settings_are_those_of_the_code() -> None:
    for path, text in settings_page.pages().items():
        assert path.read_text(encoding="utf-8") == text, "run 'make build'"
    page = text_of("reference/settings.md")
    for name, trait in ExecuteChecks.class_own_traits(config=True).items():
        assert (f"`c.ExecuteChecks.{name}`" in page) == bool(trait.help)


def test_a_stale_settings_page_is_noticed(tmp_path: Path, monkeypatch) -> None:
    stale = tmp_path / "settings.md"
    stale.write_text("before\n<!-- generated: checks -->\nold\n<!-- end -->\nafter\n")
    monkeypatch.setattr(settings_page, "PAGE", stale)
    (text,) = settings_page.pages().values()
    assert text.startswith("before\n") and text.endswith("after\n")
    assert "old" not in text and "`c.ExecuteChecks.memory` | `2048`" in text


def test_nbgraders_settings_are_those_that_are_read() -> None:
    table = text_of("reference/settings.md").partition("## Settings of nbgrader")[2]
    named = set(re.findall(r"`c\.(\w+)\.(\w+)`", table))
    for section, name in named:
        assert name in NBGRADER[section].class_trait_names(), f"nbgrader has no {section}.{name}"
    source = inspect.getsource(NbgraderOptions.of)
    read = re.findall(r"\b(course|autograde)\.(\w+)(?!\w*\()", source)
    sections = {"course": "CourseDirectory", "autograde": "Autograde"}
    assert len(read) >= 5
    assert {(sections[section], name) for section, name in read} <= named


def test_each_status_has_a_heading() -> None:
    heads = re.findall(r"^## (.+)$", text_of("reference/statuses.md"), re.M)
    statuses = [each.value.capitalize() for each in SubmissionStatus]
    assert heads[: len(statuses)] == statuses
    rows = re.findall(r"^\| ([a-z ]+) \| [^|]+ \|$", text_of("reference/statuses.md"), re.M)
    assert tuple(row for row in rows if row != "status") == STATUSES


def test_the_order_of_statuses_is_the_judges() -> None:
    said = re.search(r"this order decides: ([^.]+)\.", text_of("reference/statuses.md"))
    assert said is not None
    order = " ".join(said[1].split()).split(", ")
    kinds = {
        "tampered": RepairKind.FORGED,
        "restored": RepairKind.RESTORED,
        "graded after repair": RepairKind.REPAIRED,
    }
    ends = {
        "out of memory": ExitReason.OUT_OF_MEMORY,
        "timed out": ExitReason.OUT_OF_TIME,
        "crashed": ExitReason.EXITED,
    }
    for place in range(len(order)):
        later = order[place:]
        repairs = [Repair(kinds[each], "") for each in later if each in kinds]
        found = judge_service._status([ends[each] for each in later if each in ends], repairs)
        assert found == order[place]


def test_the_limits_of_the_sandbox_are_those_of_the_code() -> None:
    page = text_of("explanation/sandbox.md")
    rows = {
        cells[1].strip(): [cell.strip() for cell in cells[2:5]]
        for line in page.splitlines()
        if len(cells := line.split("|")) == 6
    }
    all_bounds = (Bounds(), GRAPHS, JUDGE)
    memory = rows["memory, in addition to the process that it is forked from"]
    assert memory == [f"{each.memory // MIB // 1024} GiB" for each in all_bounds]
    assert rows["files"] == [f"{each.disk // MIB} MiB" for each in all_bounds]
    assert rows["processes and threads"] == [str(each.processes) for each in all_bounds]
    checks, minutes = ExecuteChecks(), [f"{each.cpu / 60:g} minute" for each in all_bounds]
    more = [
        f"{checks.cell_cpu:g} s a cell, {checks.case_cpu:g} s a case",
        f"{graph_service.LIMITS.cpu:g} s a run",
        f"{JUDGING.cpu:g} s an answer",
    ]
    assert [cell.replace("minutes", "minute") for cell in rows["processor time"]] == [
        f"{one}; {other}" for one, other in zip(minutes, more, strict=True)
    ]
    waits = [f"{each.wall / 60:g} minutes" for each in all_bounds[:2]]
    assert rows["waiting"][:2] == waits and JUDGE.wall == 2 * 3600
    assert checks.restarts == 10 and "A notebook may use up ten processes" in page
    assert MAX_GRAPH_PROCESSES + 1 == 3 and "The graphs of one answer may use up three" in page


def test_the_thresholds_of_the_report_are_those_of_the_code() -> None:
    page = text_of("instructors/report.md")
    assert f"If at least {item_analysis.MIN_TRIED} students" in page
    assert f"fewer than {item_analysis.HARD_BELOW:.0%}".replace("%", " %") in page
    assert f"{item_analysis.EASY_ABOVE:.0%} or more".replace("%", " %") in page
    assert f"{item_analysis.MIN_LIMITS_SHARE:.0%} or more".replace("%", " %") in page


def test_the_size_that_is_refused_is_the_codes() -> None:
    said = re.search(r"a file larger than (\d+) MiB", text_of("reference/statuses.md"))
    assert said is not None and int(said[1]) * MIB == MAX_NOTEBOOK
