"""Lateness and its cost: the file of deadlines, times, and the way days are counted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from autograder.classroom.lateness.deadlines import (
    ALL,
    TEMPLATE,
    HandIn,
    NoTime,
    OneStudent,
    Policy,
    in_utc,
    read_policy,
    work_out,
)
from autograder.environment.errors import ClassroomError

CHAPTERS = ["01_one", "02_two", "09b_more"]
DUE = datetime(2026, 12, 1, 23, 0)
BERLIN = ZoneInfo("Europe/Berlin")


def policy(folder: Path, text: str) -> Policy:
    (folder / "deadlines.toml").write_text(text, encoding="utf-8")
    return read_policy(folder, CHAPTERS)


def percent(rules: Policy, *hours: float, student: str = "ann") -> list[float]:
    """The percentages deducted from chapters submitted this many hours after their due dates."""
    hand_ins = [
        HandIn(chapter, DUE + timedelta(days=7 * number), DUE + timedelta(days=7 * number, hours=h))
        for number, (chapter, h) in enumerate(zip(CHAPTERS, hours, strict=False))
    ]
    found = work_out(rules, student, reversed(hand_ins))
    return [found[one.chapter].percent for one in hand_ins]


def test_without_a_file_and_with_the_one_that_is_made_nothing_is_taken_off(tmp_path: Path) -> None:
    assert percent(read_policy(tmp_path, CHAPTERS), 100) == [0.0]
    assert policy(tmp_path, TEMPLATE) == Policy()


def test_file_is_read(tmp_path: Path) -> None:
    text = """
    timezone = "Europe/Berlin"
    grace_minutes = 10
    percent_a_day = 12.5
    late_days = 3
    [students.ann]
    late_days = 5
    extensions = { "1" = 2, 9b = 0.5 }
    [students."Jürgen Müller"]
    extensions = { all = 1 }
    """.replace("9b =", '"9b" =')
    found = policy(tmp_path, text)
    assert (found.zone, found.grace) == (BERLIN, timedelta(minutes=10))
    assert (found.percent_a_day, found.free_days("ann"), found.free_days("bo")) == (12.5, 5, 3)
    assert found.extension("ann", "01_one") == timedelta(days=2)
    assert found.extension("ann", "09b_more") == timedelta(hours=12)
    assert found.extension("ann", "02_two") == timedelta()
    assert found.extension("Jürgen Müller", "02_two") == timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("grace = 3", "grace: no key. Write one of these: timezone, grace_minutes,"),
        (
            "grace_minutes = '3'",
            "grace_minutes: '3' is not a number from 0 to 525600. Write grace_m",
        ),
        (
            "percent_a_day = 101",
            "percent_a_day: 101 is not a number from 0 to 100. Write percent_a",
        ),
        ("percent_a_day = true", "percent_a_day: True is not a number"),
        ("percent_a_day = nan", "percent_a_day: nan is not a number"),
        (
            "late_days = 1.5",
            "late_days: 1.5 is not a whole number from 0 to 3650. Write late_days = 3",
        ),
        (
            "timezone = 'Berlin'",
            "timezone: 'Berlin' is not a time zone that this machine knows. Write",
        ),
        ("timezone = 2", "timezone: 2 is not a time zone"),
        ("students = 2", "students: not what it must be. Write [students.ann], and below"),
        ("[students]\nann = 2", "students.ann: not what it must be. Write [students.ann], and"),
        ("[students.ann]\ndays = 2", "students.ann.days: no key. Write one of these: late_days,"),
        ("[students.ann]\nlate_days = -1", "students.ann.late_days: -1 is not a whole number"),
        (
            "[students.ann]\nextensions = 2",
            "students.ann.extensions: not what it must be. Write ex",
        ),
        ("[students.ann.extensions]\n05 = 2", "students.ann.extensions.05: no chapter. Write one"),
        (
            "[students.ann.extensions]\n01 = -2",
            "students.ann.extensions.01: -2 is not a number from",
        ),
        ("grace_minutes: 3", "is not TOML: "),
    ],
)
def test_what_is_wrong_is_said_with_file_key_and_what_to_write(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(ClassroomError) as found:
        policy(tmp_path, text)
    assert str(found.value).startswith(str(tmp_path / "deadlines.toml"))
    assert says in str(found.value) and "\n" not in str(found.value)


def test_days_that_have_begun_are_counted_after_grace() -> None:
    rules = Policy(grace=timedelta(minutes=10), percent_a_day=10)
    for minutes, off in (
        (-5, 0),
        (0, 0),
        (10, 0),
        (11, 10),
        (24 * 60 + 10, 10),
        (24 * 60 + 11, 20),
    ):
        assert percent(rules, minutes / 60) == [off], minutes
    assert percent(rules, 24 * 50) == [100.0]


def test_late_days_go_to_what_was_due_first() -> None:
    rules = Policy(percent_a_day=10, late_days=3)
    assert percent(rules, 30, 30, 1) == [0.0, 10.0, 10.0]
    own = {"ann": OneStudent(late_days=0), "bo": OneStudent(extensions={ALL: timedelta(days=2)})}
    rules = Policy(percent_a_day=10, late_days=3, students=own)
    assert percent(rules, 30, 30, 1) == [20.0, 20.0, 10.0]
    assert percent(rules, 30, 30, 49, student="bo") == [0.0, 0.0, 0.0]


def test_what_has_no_due_date_or_no_time_is_not_late() -> None:
    hand_ins = [HandIn("01_one", None, DUE), HandIn("02_two", DUE, None)]
    found = work_out(Policy(percent_a_day=10), "ann", hand_ins)
    assert [one.days for one in found.values()] == [0, 0]


def test_what_is_said_of_it() -> None:
    rules = Policy(percent_a_day=10, late_days=1)
    (found,) = work_out(rules, "ann", [HandIn("01_one", DUE, DUE + timedelta(hours=30))]).values()
    assert found.sentence(BERLIN) == (
        "late by 2 days (due 2026-12-02 00:00 CET), 1 late day used, 10 % off"
    )
    assert found.charged == 6 * 3600


@pytest.mark.parametrize(
    ("text", "zone", "hour"),
    [
        ("2026-12-01 12:00:00", UTC, 12),
        ("2026-12-01 12:00:00", BERLIN, 11),
        ("2026-07-01T12:00", BERLIN, 10),
        ("2026-12-01 12:00:00.5 UTC", BERLIN, 12),
        ("2026-12-01T12:00:00Z", BERLIN, 12),
        ("2026-12-01 12:00:00 +0500", BERLIN, 7),
        ("2026-12-01T12:00:00-05:00", BERLIN, 17),
        ("2026-12-01 12:00:00 America/New_York", BERLIN, 17),
        ("2026-07-01 12:00:00 CEST", BERLIN, 10),
        ("1 December 2026 3:00:00 PM", UTC, 15),
        ("2026-12-01 11:30 PM", UTC, 23),
        ("2026-12-01 12:30 AM", UTC, 0),
        ("12/21/2026 11:30 pm", UTC, 23),
        ("12/21/2026 12:30 p.m.", UTC, 12),
        ("2026-12-01 11:30 PM America/New_York", BERLIN, 4),
        ("21.12.2026 23:30", BERLIN, 22),
        ("1.1.2026 9 AM", UTC, 9),
    ],
)
def test_times_and_their_zones(text: str, zone: ZoneInfo, hour: int) -> None:
    found = in_utc(text, zone)
    assert (found.tzinfo, found.hour) == (None, hour)


@pytest.mark.parametrize("text", ["soon", "", "2026-13-45 12:00:00", "2026-12-01 12:00:00 NOWHERE"])
def test_what_says_no_time(text: str) -> None:
    with pytest.raises(NoTime, match="does not hold a time|'NOWHERE', which is not known"):
        in_utc(text, UTC)


@pytest.mark.parametrize("text", ["05.11.2026 23:30", "11/5/26 11:30 PM"])
def test_a_date_that_can_be_read_in_two_ways_is_asked_about(text: str) -> None:
    with pytest.raises(NoTime, match=r"can be 2026-\d\d-\d\d or 2026-\d\d-\d\d: write one"):
        in_utc(text, UTC)
