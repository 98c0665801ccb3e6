"""Work that is handed in again with the same answers keeps its time, and gains nothing."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from autograder.classroom.intake.kept_versions import kept_versions
from autograder.classroom.lateness import same_work
from autograder.classroom.lms.collect import Placed, collect
from autograder.classroom.lms.path_layouts import Layout
from autograder.classroom.lms.people import People
from autograder.classroom.lms.submitted_folder import What, records

CHAPTER = "01_one"
FIRST = datetime(2026, 11, 20, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def notebook(answer: str, output: int = 0) -> bytes:
    """A notebook with an answer, which was run and shows an output."""
    cell = {"metadata": {"nbgrader": {"grade_id": "check-a"}}, "source": answer, "outputs": output}
    return json.dumps({"cells": [cell], "nbformat": 4}).encode()


def work_of(assignment: str, data: bytes) -> str:
    return str(json.loads(data)["cells"][0]["source"])


@pytest.fixture
def room(tmp_path: Path) -> Path:
    path = tmp_path / "class/source" / CHAPTER / f"{CHAPTER}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(notebook(""))
    return tmp_path / "class"


Version = tuple[datetime, bytes]


def take(room: Path, *versions: Version, file: str = "") -> Placed:
    """Collect a folder with versions of one student's work."""
    source = room.parent / f"handed in {len(list(room.parent.iterdir()))}"
    for number, (when, data) in enumerate(versions):
        folder = source / "ann" / f"version {number}"
        folder.mkdir(parents=True)
        (folder / f"{CHAPTER}.ipynb").write_bytes(data)
        (folder / "timestamp.txt").write_text(f"{when:%Y-%m-%d %H:%M:%S} UTC")
    if file:
        (source / "ann" / "data.csv").write_text(file)
    people, layout = People(before=records(room)), Layout.FOLDERS
    done = collect(room, source, people, dates=False, layout=layout, work_of=work_of)
    return done.placed[0]


def submitted(room: Path) -> Version:
    """The time and the file that count."""
    home = room / "submitted" / "ann" / CHAPTER
    when = datetime.strptime((home / "timestamp.txt").read_text(), "%Y-%m-%d %H:%M:%S UTC")
    return when.replace(tzinfo=UTC), (home / f"{CHAPTER}.ipynb").read_bytes()


def kept(room: Path) -> list[bytes]:
    return sorted(path.read_bytes() for _, path in kept_versions(room, "ann", CHAPTER))


def test_the_earlier_hand_in_and_its_time_stay(room: Path) -> None:
    first, again = (FIRST, notebook("a")), (FIRST + 3 * DAY, notebook("a", output=1))
    assert take(room, first).what is What.NEW
    for _ in range(2):  # the same zip may be collected again
        placed = take(room, again)
        assert (placed.what, placed.when) == (What.SAME_WORK, FIRST)
        assert submitted(room) == first and kept(room) == [again[1]]
    found = same_work.find(room, "ann", CHAPTER)
    assert found is not None and found.sentence(UTC) == (
        "Handed in again on 23 Nov with the same answers: your hand-in of 20 Nov counts."
    )
    assert len((room / same_work.FILE).read_text().splitlines()) == 1
    take(room, (FIRST + 4 * DAY, notebook("b")))
    assert same_work.find(room, "ann", CHAPTER) is None, "the note is about another file"


def test_an_old_version_after_another_one_is_the_newest(room: Path) -> None:
    take(room, (FIRST, notebook("a")))
    assert take(room, (FIRST + DAY, notebook("b"))).what is What.REPLACED
    old = (FIRST + 9 * DAY, notebook("a", output=1))
    assert take(room, old).what is What.REPLACED
    assert submitted(room) == old and same_work.find(room, "ann", CHAPTER) is None


def test_a_version_in_between_may_come_with_the_newest(room: Path) -> None:
    take(room, (FIRST, notebook("a")))
    newest = (FIRST + 9 * DAY, notebook("a", output=1))
    assert take(room, (FIRST + DAY, notebook("b")), newest).what is What.REPLACED
    assert submitted(room) == newest


def test_several_versions_with_the_same_answers_in_one_zip(room: Path) -> None:
    versions = [(FIRST + number * DAY, notebook("a", output=number)) for number in range(3)]
    assert take(room, *versions).what is What.NEW
    assert submitted(room) == versions[0]
    assert take(room, *versions).what is What.SAME_WORK
    assert submitted(room) == versions[0]
    found = same_work.find(room, "ann", CHAPTER)
    assert found is not None and found.again == "2026-11-22 09:00:00 UTC"


def test_the_earlier_one_may_be_collected_later(room: Path) -> None:
    first, again = (FIRST, notebook("a")), (FIRST + 3 * DAY, notebook("a", output=1))
    take(room, again)
    assert take(room, first).what is What.SAME_WORK
    assert submitted(room) == first and kept(room) == [again[1]]


def test_the_earlier_one_counts_only_if_nothing_was_between(room: Path) -> None:
    take(room, (FIRST + DAY, notebook("b")))
    again = (FIRST + 3 * DAY, notebook("a", output=1))
    take(room, again)
    assert take(room, (FIRST, notebook("a"))).what is What.EARLIER
    assert submitted(room) == again


def test_another_file_next_to_the_notebook_is_other_work(room: Path) -> None:
    take(room, (FIRST, notebook("a")), file="1")
    again = (FIRST + DAY, notebook("a", output=1))
    assert take(room, again, file="2").what is What.REPLACED
    assert take(room, (FIRST + 2 * DAY, notebook("a", output=2)), file="2").what is What.SAME_WORK
    assert submitted(room) == again


def test_days_are_told_apart_by_the_hour() -> None:
    times = "2026-11-20 09:00:00 UTC", "2026-11-20 08:30:00 UTC"
    said = same_work.SameWork("ann", CHAPTER, "", *times).sentence(ZoneInfo("Europe/Berlin"))
    assert said == (
        "Handed in again on 20 Nov, 10:00 CET with the same answers: "
        "your hand-in of 20 Nov, 09:30 CET counts."
    )


def first_of_the_last_run(answers: Sequence[str]) -> int:
    """The number of the version that counts: the first of those that end with equal answers."""
    runs = [len(list(group)) for _, group in groupby(answers)]
    return len(answers) - runs[-1]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_handed_in_the_first_of_the_last_equal_ones_counts(
    room: Path, seed: int
) -> None:
    chance = random.Random(seed)
    answers = chance.choices("ab", k=chance.randint(1, 6))
    versions = [(FIRST + n * DAY, notebook(a, output=n)) for n, a in enumerate(answers)]
    left = list(versions)
    while left:  # each zip has one version, or several
        count = chance.randint(1, 2)
        take(room, *left[:count])
        left = left[count:]
    assert submitted(room) == versions[first_of_the_last_run(answers)]
    assert {data for _, data in versions} == {submitted(room)[1], *kept(room)}, "nothing is lost"
