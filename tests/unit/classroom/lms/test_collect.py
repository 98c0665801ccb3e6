"""Collecting submissions from Moodle, Canvas or folders into ``submitted``."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from autograder.classroom.intake.kept_versions import OLDER
from autograder.classroom.lms.collect import Collected, collect
from autograder.classroom.lms.export import Grade
from autograder.classroom.lms.people import Participant, People, participants
from autograder.classroom.lms.submitted_folder import What, records
from autograder.classroom.lms.unusable import FILE, note, noted, notes_for_export
from autograder.classroom.records.journal import JOURNAL, Journal
from autograder.classroom.records.roster import Person
from autograder.classroom.records.tables import read_table
from autograder.environment.errors import ClassroomError
from autograder.submission.result import Result, SubmissionStatus

MONDAY, TUESDAY = (2026, 11, 2, 10, 0, 0), (2026, 11, 3, 18, 30, 0)
BERLIN = ZoneInfo("Europe/Berlin")


def notebook(chapter: str, text: str = "") -> bytes:
    cells = [{"metadata": {"nbgrader": {"grade_id": f"check-{chapter}"}}, "source": [text]}]
    return json.dumps({"cells": cells, "nbformat": 4}).encode()


ONE, TWO = notebook("01_one"), notebook("02_two")


@pytest.fixture
def room(tmp_path: Path) -> Path:
    for chapter in ("01_one", "02_two"):
        path = tmp_path / "class/source" / chapter / f"{chapter}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(notebook(chapter))
    return tmp_path / "class"


Entries = Mapping[str, bytes | tuple[bytes, tuple[int, ...]]]


def packed(entries: Entries) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, said in entries.items():
            content, date = said if isinstance(said, tuple) else (said, MONDAY)
            entry = zipfile.ZipInfo(name, date)  # type: ignore[arg-type]
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return data.getvalue()


def take(room: Path, entries: Entries | Path, people: People | None = None) -> Collected:
    source = entries
    if not isinstance(source, Path):
        source = room.parent / "handed in.zip"
        source.write_bytes(packed(entries))  # type: ignore[arg-type]
    return collect(room, source, people or People(before=records(room)), BERLIN)


def submitted(room: Path) -> dict[str, bytes]:
    home = room / "submitted"
    return {p.relative_to(home).as_posix(): p.read_bytes() for p in home.rglob("*") if p.is_file()}


def older(room: Path) -> list[bytes]:
    return sorted(p.read_bytes() for p in (room / OLDER).rglob("*.ipynb"))


def why(done: Collected) -> dict[str, str]:
    return {one.path: one.why for one in done.left_out}


def test_moodle_with_folders_and_without_and_packed_by_the_student(room: Path) -> None:
    mine = packed({"work/final version.ipynb": ONE, "work/data.csv": b"1"})
    done = take(
        room,
        {
            "Anna Example_12345_assignsubmission_file_/whatever (2).ipynb": (ONE, MONDAY),
            "Anna Example_12345_assignsubmission_onlinetext_/onlinetext.html": b"<p>hello",
            "José de la Cruz_12346_assignsubmission_file/01_one.ipynb": (ONE, TUESDAY),
            "Ben O'Neill_77_assignsubmission_file_01_one.ipynb": (ONE, TUESDAY),
            "Cem Öz_9_assignsubmission_file_/w.zip": (mine, TUESDAY),
        },
    )
    anna = "Anna Example/01_one"
    assert set(submitted(room)) == {
        f"{anna}/01_one.ipynb",
        f"{anna}/timestamp.txt",
        f"{anna}/onlinetext.html",
        "José de la Cruz/01_one/01_one.ipynb",
        "José de la Cruz/01_one/timestamp.txt",
        "Ben O'Neill/01_one/01_one.ipynb",
        "Ben O'Neill/01_one/timestamp.txt",
        "Cem Öz/01_one/01_one.ipynb",
        "Cem Öz/01_one/data.csv",
        "Cem Öz/01_one/timestamp.txt",
    }
    assert submitted(room)[f"{anna}/timestamp.txt"] == b"2026-11-02 09:00:00 UTC"
    assert submitted(room)["Cem Öz/01_one/timestamp.txt"] == b"2026-11-03 17:30:00 UTC"
    assert done.left_out == [] and done.dated == ""
    assert {one["number"] for one in records(room)} == {"12345", "12346", "77", "9"}


def test_canvas_takes_the_later_file_and_says_who_was_late(room: Path) -> None:
    done = take(
        room,
        {
            "exampleanna_LATE_123_456_01_one-2.ipynb": notebook("01_one", "second"),
            "exampleanna_LATE_123_450_01_one.ipynb": notebook("01_one", "first"),
            "müllerjürgen_7_460_thing.ipynb": TWO,
            "müllerjürgen_7_461_data.csv": b"1",
            "anon_aB3xY_470_x.ipynb": ONE,
        },
    )
    files = submitted(room)
    assert b"second" in files["exampleanna/01_one/01_one.ipynb"]
    assert set(files) == {
        "exampleanna/01_one/01_one.ipynb",
        "müllerjürgen/02_two/02_two.ipynb",
        "müllerjürgen/02_two/data.csv",
        "anon/01_one/01_one.ipynb",
    }
    assert older(room) == [notebook("01_one", "first")]
    assert [one.student for one in done.placed if one.late] == ["exampleanna"]
    assert "Canvas dates files when it packs them" in done.dated


def test_a_file_that_was_cut_off_is_taken_in_by_its_name(room: Path) -> None:
    for name in ("exampleanna_123_456_01_one-2.ipynb", "A B_7_assignsubmission_file_01_one.ipynb"):
        done = take(room, {name: b'{"cells": [{"cell_ty'})
        assert why(done) == {} and [one.assignment for one in done.placed] == ["01_one"]


def test_a_time_that_is_known_already_stays_known(room: Path) -> None:
    anna = "Anna Example_12345_assignsubmission_file_/01_one.ipynb"
    ben = "Ben Other_12346_assignsubmission_file_/01_one.ipynb"
    take(room, {anna: (ONE, MONDAY), ben: (ONE, TUESDAY)})
    done = take(room, {anna: ONE, ben: ONE})  # all dated when the archive was packed
    assert [one.what for one in done.placed] == [What.SAME, What.SAME]
    assert done.dated and all(one.when for one in done.placed)


def test_canvas_numbers_tell_two_of_one_name_apart_also_later(room: Path) -> None:
    take(room, {"exampleanna_1_10_a.ipynb": ONE})
    take(room, {"exampleanna_2_11_a.ipynb": TWO, "exampleanna_1_12_a.ipynb": TWO})
    assert set(submitted(room)) == {
        "exampleanna/01_one/01_one.ipynb",
        "exampleanna/02_two/02_two.ipynb",
        "exampleanna-2/02_two/02_two.ipynb",
    }


@pytest.mark.parametrize("top", ["", "submitted/", "handed in/", "submissions/01_one/"])
def test_plain_folders(room: Path, top: str) -> None:
    entries = {
        f"{top}anna/01_one/01_one.ipynb": (ONE, MONDAY),
        f"{top}anna/02_two/renamed.ipynb": (TWO, TUESDAY),
        f"{top}ben/01_one.ipynb": (ONE, TUESDAY),
        f"{top}ben/sub/data.csv": b"1",
    }
    assert why(take(room, entries)) == {}
    assert {path for path in submitted(room) if "timestamp" not in path} == {
        "anna/01_one/01_one.ipynb",
        "anna/02_two/02_two.ipynb",
        "ben/01_one/01_one.ipynb",
        "ben/01_one/sub/data.csv",
    }


def test_a_folder_on_disk_with_nbgraders_timestamps_and_links(room: Path, tmp_path: Path) -> None:
    home = tmp_path / "in" / "anna" / "01_one"
    home.mkdir(parents=True)
    (home / "x.ipynb").write_bytes(ONE)
    (home / "timestamp.txt").write_text("2026-11-01 12:00:00 Europe/Berlin")
    (home / "secret").symlink_to("/etc/passwd")
    (tmp_path / "in" / "ben").symlink_to(home)
    done = take(room, tmp_path / "in")
    assert submitted(room) == {
        "anna/01_one/01_one.ipynb": ONE,
        "anna/01_one/timestamp.txt": b"2026-11-01 11:00:00 UTC",
    }
    assert why(done) == dict.fromkeys(
        ("anna/01_one/secret", "ben"), "It is a link; links are not read."
    )


def test_what_a_student_packs_does_not_say_when(room: Path) -> None:
    early = (2020, 1, 1, 0, 0, 0)
    mine = packed({"x.ipynb": (ONE, early), "timestamp.txt": (b"2020-01-01 00:00:00 UTC", early)})
    take(
        room,
        {
            "A B_1_assignsubmission_file_/w.zip": (mine, TUESDAY),
            "A B_1_assignsubmission_file_/timestamp.txt": b"2020-01-01 00:00:00 UTC",
            "C D_2_assignsubmission_file_/x.ipynb": (ONE, MONDAY),
        },
    )
    take(room, {"eve/w.zip": (mine, TUESDAY), "ann/x.ipynb": (ONE, MONDAY)})
    stamps = {path: text for path, text in submitted(room).items() if "timestamp" in path}
    assert stamps["A B/01_one/timestamp.txt"] == b"2026-11-03 17:30:00 UTC"
    assert stamps["eve/01_one/timestamp.txt"] == b"2026-11-03 17:30:00 UTC"


def test_dates_of_the_packing_make_nobody_late(room: Path) -> None:
    names = [f"S {n}_{n}_assignsubmission_file_/x.ipynb" for n in range(1, 7)]
    done = take(room, {name: (ONE, MONDAY) for name in names[:2]})
    assert "those of the packing" in done.dated
    rising = {name: (ONE, (2026, 11, 2, 10, n, 0)) for n, name in enumerate(names)}
    assert "those of the packing" in take(room, rising).dated
    assert not any("timestamp" in path for path in submitted(room))


def test_later_takes_the_place_of_earlier_and_nothing_is_lost(room: Path) -> None:
    def of(text: str, when: tuple[int, ...]) -> Entries:
        return {
            "anna/x.ipynb": (notebook("01_one", text), when),
            "ben/x.ipynb": (ONE, (2026, 10, 1, 0, 0, 0)),
        }

    def became(done: Collected) -> What:
        return next(one.what for one in done.placed if one.student == "anna")

    assert became(take(room, of("first", MONDAY))) is What.NEW
    assert became(take(room, of("first", MONDAY))) is What.SAME
    assert became(take(room, of("second", TUESDAY))) is What.REPLACED
    assert older(room) == [notebook("01_one", "first")]
    assert became(take(room, of("first", MONDAY))) is What.EARLIER
    assert became(take(room, of("zeroth", (2026, 11, 1, 0, 0, 0)))) is What.EARLIER
    assert older(room) == [notebook("01_one", "first"), notebook("01_one", "zeroth")]
    assert submitted(room)["anna/01_one/01_one.ipynb"] == notebook("01_one", "second")


def test_without_times_the_zip_that_was_packed_later_is_the_later_one(room: Path) -> None:
    def of(text: str, when: tuple[int, ...]) -> Entries:
        return {"A B_1_assignsubmission_file_/x.ipynb": (notebook("01_one", text), when)}

    take(room, of("second", TUESDAY))
    assert take(room, of("first", MONDAY)).placed[0].what is What.EARLIER
    assert take(room, of("third", (2026, 11, 9, 0, 0, 0))).placed[0].what is What.REPLACED


def test_what_was_put_there_by_hand_is_kept_too(room: Path) -> None:
    path = room / "submitted/anna/01_one/01_one.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(notebook("01_one", "by hand"))
    at = datetime(2026, 11, 2, 20, tzinfo=UTC).timestamp()
    os.utime(path, (at, at))
    both = {"ben/x.ipynb": (ONE, (2026, 10, 1, 0, 0, 0))}
    take(room, both | {"anna/x.ipynb": (notebook("01_one", "late"), TUESDAY)})
    assert older(room) == [notebook("01_one", "by hand")]
    assert b"late" in path.read_bytes()


def test_the_latest_of_several_in_one_hand_in(room: Path) -> None:
    folder = "A B_1_assignsubmission_file_/"
    take(
        room,
        {
            f"{folder}01_one.ipynb": (notebook("01_one", "a"), MONDAY),
            f"{folder}01_one (1).ipynb": (notebook("01_one", "b"), MONDAY),
            f"{folder}02_two.ipynb": (TWO, TUESDAY),
        },
    )
    files = submitted(room)
    assert files["A B/01_one/01_one.ipynb"] == notebook("01_one", "b")
    assert files["A B/02_two/02_two.ipynb"] == TWO
    assert older(room) == [notebook("01_one", "a")]


def test_what_cannot_be_placed_is_listed_with_the_reason(room: Path) -> None:
    link = zipfile.ZipInfo("eve/x.ipynb")
    link.external_attr = 0o120777 << 16
    path = room.parent / "bad.zip"
    path.write_bytes(
        packed(
            {
                "ann/01_one.ipynb": ONE,
                "ann/other.ipynb": notebook("99_other"),
                "loose.ipynb": ONE,
                "ben/notes.txt": b"hello",
                "../evil/x.ipynb": ONE,
                "/abs/x.ipynb": ONE,
                "C:\\evil\\x.ipynb": ONE,
                "cem/bad\x07name.ipynb": ONE,
                "dan/work.rar": b"Rar!",
                "dan/work.zip": b"no zip",
                "__MACOSX/ann/._01_one.ipynb": b"",
                "ann/.ipynb_checkpoints/01_one-checkpoint.ipynb": ONE,
            }
        )
    )
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    none = "It is none of this class's notebooks, by its grade ids and by its name."
    assert why(take(room, path)) == {
        "ann/other.ipynb": none,
        "loose.ipynb": "Its path does not say whose it is.",
        "ben/notes.txt": "It is not a notebook, and no notebook of this class is next to it.",
        "../evil/x.ipynb": "Its name leads out of the zip.",
        "abs/x.ipynb": "Its name leads out of the zip.",
        "C:/evil/x.ipynb": "Its name leads out of the zip.",
        "cem/bad?name.ipynb": "Its name has signs that no name has.",
        "dan/work.rar": "It is packed in a way that is not read here; ask for the notebook itself.",
        "dan/work.zip": "It is not a zip file, or it is cut off.",
        "eve/x.ipynb": "It is a link; links are not read.",
    }
    assert set(submitted(room)) == {"ann/01_one/01_one.ipynb"}
    assert {p.name for p in room.parent.iterdir()} == {"class", "bad.zip"}
    assert not list((room / ".fxcourse").glob("collecting-*"))


def test_a_bomb_costs_only_its_sender(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.classroom.intake.untrusted_files.MAX_NESTED_BYTES", 100_000)
    monkeypatch.setattr("autograder.classroom.intake.untrusted_files.MAX_NOTEBOOK", 60_000)
    bomb = packed({f"{n}.bin": b"\0" * 50_000 for n in range(9)})
    deep = packed({"a.zip": packed({"b.zip": packed({"x.ipynb": ONE})})})
    done = take(
        room,
        {
            "eve/bomb.zip": bomb,
            "eve/large.ipynb": b"\0" * 70_000,
            "deb/deep.zip": deep,
            "ann/x.ipynb": ONE,
        },
    )
    assert set(submitted(room)) == {"ann/01_one/01_one.ipynb"}
    reasons = why(done)
    assert reasons["eve/bomb"].startswith("It holds more than one student's work can be")
    assert reasons["eve/large.ipynb"] == "It has more than 50 MiB."
    assert reasons["deb/deep/a.zip"] == "It is a zip in a zip in a zip."
    monkeypatch.setattr("autograder.classroom.intake.untrusted_files.MAX_FILES", 2)
    with pytest.raises(ClassroomError, match="more than can be a class's work"):
        take(room, {f"s{n}/x.ipynb": ONE for n in range(4)})


def test_absurd_names(room: Path) -> None:
    long = "x" * 300
    done = take(
        room,
        {
            f"ann/{'y' * 400}.ipynb": ONE,
            f"ann/{long}.csv": b"1",
            f"{long}/a.ipynb": ONE,
            "a*b?/a.ipynb": ONE,
            ".hidden/a.ipynb": TWO,
        },
    )
    files = set(submitted(room))
    assert {"ann/01_one/01_one.ipynb", "a-b-/01_one/01_one.ipynb"} <= files
    assert "hidden/02_two/02_two.ipynb" in files and len(files) == 4
    assert [one.why for one in done.left_out] == ["Its path has more than 200 bytes or 8 parts."]


WORKSHEET = (
    "Identifier,Full name,Email address,Grade,Last modified (submission)\r\n"
    'Participant 1,Anna Example,anna@x.org,,"Monday, 2 November 2026, 9:05 AM"\r\n'
    'Participant 2,Anna Example,anne@x.org,,"Tuesday, 3 November 2026, 9:05 PM"\r\n'
)


def test_the_grading_worksheet_says_who_is_who_and_when(room: Path, tmp_path: Path) -> None:
    entries = {
        "Anna Example_1_assignsubmission_file_/a.ipynb": ONE,
        "Anna Example_2_assignsubmission_file_/a.ipynb": ONE,
    }
    done = take(room, entries)
    assert done.placed == [] and "2 participants are called Anna Example" in str(why(done))
    (tmp_path / "w.csv").write_text(WORKSHEET)
    rows = participants(read_table(tmp_path / "w.csv"), BERLIN)
    take(room, entries, People([Person("ae1", email="Anna@x.org")], (), rows))
    files = submitted(room)
    assert files["ae1/01_one/timestamp.txt"] == b"2026-11-02 08:05:00 UTC"
    assert files["anne@x.org/01_one/timestamp.txt"] == b"2026-11-03 20:05:00 UTC"


def test_a_worksheet_in_another_language_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("ID,E-Mail-Adresse,Bewertung\nTeilnehmer/in1,a@x.org,\n")
    with pytest.raises(ValueError, match=r"called Last modified.*has: ID, E-Mail-.* to English"):
        participants(read_table(tmp_path / "w.csv"), BERLIN)


def test_a_worksheet_without_addresses_is_not_asked_for_again(room: Path) -> None:
    entries = {f"Anna Example_{n}_assignsubmission_file_/a.ipynb": ONE for n in (1, 2)}
    rows = [Participant(str(n), "Anna Example", "", "", None) for n in (1, 2)]
    said = str(why(take(room, entries, People([], (), rows))))
    assert "do not say who it is" in said and "--worksheet" not in said


def test_hand_ins_without_a_notebook_are_remembered(room: Path) -> None:
    entries: Entries = {
        "Anna Example_1_assignsubmission_file_/a.ipynb": ONE,
        "Ben O'Neill_2_assignsubmission_file_/essay.pdf": b"%PDF",
    }
    take(room, entries)
    take(room, entries)
    told = "Handed in, without a notebook of this class: essay.pdf."
    assert noted(room) == {("Ben O'Neill", "01_one"): told}
    assert len((room / FILE).read_text().splitlines()) == 1


def test_export_explains_empty_fields_and_zeros(room: Path) -> None:
    (room / ".fxcourse").mkdir()
    note(room, "01_one", {"ben": "A PDF.", "ann": "A PDF, and a notebook later."})
    journal = Journal(room / JOURNAL)
    for student in ("ann", "cem", "dan"):
        status = SubmissionStatus.GRADED if student == "ann" else SubmissionStatus.UNREADABLE
        journal.add(Result(student, "01_one", status, 0, 4), "digest")
    found = {"ann": Grade(0, 4, False), "cem": Grade(0, 4, False), "dan": Grade(3, 4, False)}
    assert notes_for_export(room, "01_one", found, found) == [
        "01_one: handed in something without a notebook, no grade: ben.",
        "01_one: the notebook could not be read, graded as 0: cem.",
    ]
    assert notes_for_export(room, "02_two", found, found) == []


def test_a_roster_says_who_is_who(room: Path) -> None:
    known = [
        Person("s1", "Anna", "Example", number="123"),
        Person("s2", "Ben", "O'Neill"),
        Person("s3", "Cem", "Öz"),
        Person("s4", "Cem", "Öz"),
    ]
    take(room, {"exampleanna_123_9_a.ipynb": ONE, "oneillben_5_9_a.ipynb": ONE}, People(known))
    take(room, {"Ben O'Neill_8_assignsubmission_file_/a.ipynb": TWO}, People(known))
    done = take(room, {"Cem Öz_8_assignsubmission_file_/a.ipynb": TWO}, People(known))
    assert set(submitted(room)) == {
        "s1/01_one/01_one.ipynb",
        "s2/01_one/01_one.ipynb",
        "s2/02_two/02_two.ipynb",
    }
    assert "2 students of the class are called Cem Öz" in str(why(done))


def test_blind_marking(room: Path) -> None:
    names = [f"Participant_{n}_assignsubmission_file_/a.ipynb" for n in (11, 12)]
    take(room, dict.fromkeys(names, ONE))
    assert set(submitted(room)) == {
        "Participant 11/01_one/01_one.ipynb",
        "Participant 12/01_one/01_one.ipynb",
    }


def test_what_is_no_zip(room: Path, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"no")
    for path in ("x.zip", "missing.zip"):
        with pytest.raises(ClassroomError, match=r"cannot be read: (it is not a zip|No such file)"):
            take(room, tmp_path / path)
