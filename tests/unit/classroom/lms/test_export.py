"""Files for Moodle and Canvas to import: their own files with grades filled in, else unchanged."""

from __future__ import annotations

import csv
import io
import os
import zipfile
from pathlib import Path

import pytest

from autograder.classroom.lms.export import (
    Filled,
    Grade,
    Names,
    canvas_columns,
    fill_canvas,
    fill_moodle,
)
from autograder.classroom.lms.packed_feedback import feedback_zip
from autograder.classroom.records.roster import Person
from autograder.classroom.records.tables import Table, read_table
from autograder.environment.errors import ClassroomError

WORKSHEET = (
    '\ufeffIdentifier,"Full name","Email address",Status,Grade,"Maximum Grade",'
    '"Grade can be changed","Last modified (submission)","Last modified (grade)",'
    '"Feedback comments"\r\n'
    '"Participant 101","Anna Example",anna@x.org,"Submitted for grading - ",,100.00,Yes,'
    '"Monday, 2 November 2026, 9:05 AM",-,"<p>said ""well""</p>"\r\n'
    '"Participant 102","=HYPERLINK(1)",ben@x.org,"Submitted for grading - ",12.00,'
    "100.00,Yes,-,-,\r\n"
    '"Participant 103","Cem Öz",cem@x.org,"No submission - ",,100.00,Yes,-,-,- good\r\n'
    '"Participant 104","Dan Locked",dan@x.org,"Graded - ",7.00,100.00,No,-,-,\r\n'
    '"Participant 105","Eve Extra",eve@x.org,"Submitted for grading - ",,100.00,Yes,-,-,\r\n'
    '"Participant 106","Fay Waits",fay@x.org,"Submitted for grading - ",,100.00,Yes,-,-,\r\n'
    '"Participant 107","Who Knows",who@x.org,"Submitted for grading - ",,100.00,Yes,-,-,\r\n'
)
PEOPLE = [
    Person("ae1", "Anna", "Example", "Anna@x.org", "11"),
    Person("ben", "", "", "", ""),
    Person("cem@x.org", "Cem", "Öz"),
    Person("dan", "Dan", "Locked"),
    Person("eve", "Eve", "Extra"),
    Person("fay", "Fay", "Waits"),
    Person("gus", "Gus", "Gone"),
]
RECORDS = [
    {"platform": "moodle", "number": "102", "assignment": "01_one", "student": "ben"},
    {"platform": "moodle", "number": "107", "assignment": "02_two", "student": "ben"},
    {"platform": "canvas", "number": "12", "assignment": "02_two", "student": "ben"},
]
NAMES = Names(PEOPLE, RECORDS)
GRADES = {
    "ae1": Grade(7.5, 20, False),
    "ben": Grade(1 / 3, 20, False),
    "dan": Grade(20, 20, False),
    "eve": Grade(21, 20, False),
    "fay": Grade(3, 20, True),
    "gus": Grade(4, 20, False),
}


def table(tmp_path: Path, text: str) -> Table:
    (tmp_path / "t.csv").write_bytes(text.encode())
    return read_table(tmp_path / "t.csv")


def parsed(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_moodles_worksheet(tmp_path: Path) -> None:
    sheet = table(tmp_path, WORKSHEET)
    done = fill_moodle(sheet, "01_one", NAMES, GRADES, waiting=False)
    written = sheet.as_bytes()
    expected = WORKSHEET.replace('- ",,100.00,Yes,"Monday', '- ",37.5,100.00,Yes,"Monday')
    expected = expected.replace('"=HYPERLINK(1)"', "'=HYPERLINK(1)").replace(",12.00,", ",1.67,")
    before, eve, after = expected.partition('"Participant 105"')
    expected = before + eve + after.replace('- ",,100', '- ",100,100', 1)
    assert written.decode() == expected
    assert set(done.done) == {"ae1", "ben", "eve"}
    said = "\n".join(done.notes)
    assert "Points were brought from 20 to the platform's 100." in done.notes
    assert "Dan Locked (Participant 104): Moodle does not let this grade be changed." in said
    assert "Left out, because points of yours are missing: fay." in said
    assert "Not known in the gradebook, left as they are: Who Knows (Participant 107)." in said
    assert "Graded, but in no row: gus." in said
    assert "Eve Extra (Participant 105): more than full marks" in said


def test_what_waits_can_be_filled_in_too(tmp_path: Path) -> None:
    done = fill_moodle(table(tmp_path, WORKSHEET), "01_one", NAMES, GRADES, waiting=True)
    assert "fay" in done.done


def test_blind_marking_and_a_comma_for_the_point(tmp_path: Path) -> None:
    text = (
        "Identifier;Status;Grade;Maximum Grade\n"
        "Participant 102;Submitted;;20,00\nParticipant 9;Submitted;;20,00\n"
    )
    sheet = table(tmp_path, text)
    fill_moodle(sheet, "01_one", NAMES, {"ben": Grade(7.5, 20, False)}, waiting=False)
    assert sheet.as_bytes().decode() == text.replace("Submitted;;", "Submitted;7,5;", 1)


def test_two_rows_of_one_student_are_left(tmp_path: Path) -> None:
    text = "Identifier,Full name,Grade\nParticipant 1,Anna Example,\nParticipant 2,Anna Example,\n"
    sheet = table(tmp_path, text)
    done = fill_moodle(sheet, "01_one", NAMES, GRADES, waiting=False)
    assert done.done == {} and sheet.as_bytes().decode() == text
    assert any(note.startswith("Several rows are of one student") for note in done.notes)


@pytest.mark.parametrize(
    "text",
    [
        "id,Grade\nann,1\n",
        "Identifier,Points\nParticipant 1,\n",
        WORKSHEET.replace("100.00", "Good"),
    ],
)
def test_what_is_no_worksheet_of_points(tmp_path: Path, text: str) -> None:
    with pytest.raises(ClassroomError, match=r"not Moodle's grading worksheet|are not numbers"):
        fill_moodle(table(tmp_path, text), "01_one", NAMES, GRADES, waiting=False)


CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,"
    "01_one: first (501),02 two (502),Final Score\n"
    ",,,,,Manual Posting,,(read only)\n"
    "    Points Possible,,,,,20.00,10.00,(read only)\n"
    '"Example, Anna",11,U1,anna,S1,,5.00,12\n'
    '"+cmd, Ben",12,U2,nobody,S1,3.00,,\n'
    '"Öz, Cem",13,U3,cem@x.org,"S1 and S2",,,\n'
    '"Student, Test",14,,abc,S1,,,\n'
)


def test_canvas_gradebook(tmp_path: Path) -> None:
    book = table(tmp_path, CANVAS)
    assert canvas_columns(book, ["01_one", "02_two"], {}) == {
        "01_one": "01_one: first (501)",
        "02_two": "02 two (502)",
    }
    found = {"01_one": GRADES, "02_two": {"cem@x.org": Grade(2, 4, False)}}
    columns = canvas_columns(book, ["01_one", "02_two"], {})
    done = fill_canvas(book, columns, NAMES, found, waiting=False)
    expected = CANVAS.replace("S1,,5.00", "S1,7.5,5.00").replace("S1,3.00", "S1,0.33")
    expected = expected.replace('"+cmd, Ben"', '"\'+cmd, Ben"').replace('S2",,,', 'S2",,5,')
    assert book.as_bytes().decode() == expected
    assert set(done.done) == {"ae1", "ben", "cem@x.org"}
    assert "Points were brought from 4 to the platform's 10." in done.notes
    rows = parsed(book.as_bytes())
    assert rows[0][0] == "Student" and rows[3][5] == "7.5"


def test_canvas_columns_can_be_said(tmp_path: Path) -> None:
    book = table(tmp_path, CANVAS.replace("01_one: first", "Homework A"))
    assert canvas_columns(book, ["01_one"], {"01_one": "Homework A"}) == {
        "01_one": "Homework A (501)"
    }
    with pytest.raises(ClassroomError, match="no column 'Homework B'"):
        canvas_columns(book, ["01_one"], {"01_one": "Homework B"})
    with pytest.raises(ClassroomError, match=r"--column '01_one=TITLE'.*Homework A \(501\)"):
        canvas_columns(book, ["01_one"], {})
    with pytest.raises(ClassroomError, match="not Canvas's gradebook"):
        fill_canvas(table(tmp_path, WORKSHEET), {}, NAMES, {}, waiting=False)


def test_feedback_goes_to_the_participants_folder(tmp_path: Path) -> None:
    home = tmp_path / "feedback" / "ae1" / "01_one"
    home.mkdir(parents=True)
    (home / "01_one.html").write_text("<p>page")
    done = Filled({"ae1": "Anna Example_101", "ben": "Ben_102"})
    said = feedback_zip(tmp_path / "f.zip", tmp_path, "01_one", done, GRADES)
    assert said == [
        f"{tmp_path / 'f.zip'}: feedback for 1 student.",
        "No feedback page yet: ben. To make them: nbgrader generate_feedback 01_one",
    ]
    with zipfile.ZipFile(tmp_path / "f.zip") as archive:
        (name,) = archive.namelist()
        assert archive.read(name) == b"<p>page"
    folder = name.split("/")[0].split("_", 4)  # the way Moodle parses a folder's name
    assert folder == ["Anna Example", "101", "assignsubmission", "file", ""]
    feedback_zip(tmp_path / "g.zip", tmp_path, "02_two", done, GRADES)
    assert not (tmp_path / "g.zip").exists()


def test_no_feedback_page_is_packed_that_is_older_than_the_grade(tmp_path: Path) -> None:
    done = Filled({who: who for who in ("ae1", "ben", "dan")})
    for who, title in (("ae1", "7.5 of 20"), ("ben", "0.33 of 20"), ("dan", "18 of 18")):
        for step, ending in (("feedback", "html"), ("autograded", "ipynb")):
            path = tmp_path / step / who / "01_one" / f"01_one.{ending}"
            path.parent.mkdir(parents=True)
            path.write_text(f"<title>01_one: {title}, Somebody</title>")
            changed = 2e9 if (step, who) == ("autograded", "ben") else 1e9
            os.utime(path, (changed, changed))
    said = feedback_zip(tmp_path / "f.zip", tmp_path, "01_one", done, GRADES)
    assert said == [
        f"{tmp_path / 'f.zip'}: feedback for 1 student.",
        "Older than the grade, not packed: ben, dan. Make the pages again, then export again: "
        "nbgrader generate_feedback 01_one --force",
    ]
