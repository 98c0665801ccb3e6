"""CSV files of learning platforms, in which only grades change; and lists of students."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.classroom.records.roster import Person, as_id, read_roster, split_name, why_no_id
from autograder.classroom.records.tables import guarded, read_table, unguarded
from autograder.environment.errors import ClassroomError

ODD = '\ufeffa,"b ""q""",c\r\n1,"two, ""2""",\r\n\r\n"x\r\ny",,"3"\r\n4,5,'


@pytest.mark.parametrize("text", [ODD, "a;b\n1;2", "a\tb\n1\t2\n", 'a,b\n"open,2\n', "a,b\n,\n"])
def test_a_table_is_written_as_it_was_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    assert read_table(path).as_bytes() == text.encode()


def test_only_a_changed_field_changes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(ODD.encode())
    table = read_table(path)
    assert table.heads == ["a", 'b "q"', "c"]
    assert [[c.text for c in row] for row in table.rows] == [
        ["1", 'two, "2"', ""],
        ["x\r\ny", "", "3"],
        ["4", "5", ""],
    ]
    table.rows[0][2].text = "1,5"
    table.rows[2][2].text = "7"
    assert table.as_bytes().decode() == ODD.replace('""",\r', '""","1,5"\r') + "7"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("Name,Grade\r\nMüller,\r\n".encode(encoding))
    table = read_table(path)
    table.rows[0][1].text = "3"
    assert table.as_bytes() == "Name,Grade\r\nMüller,3\r\n".encode(encoding)


def test_formulas_stay_text() -> None:
    for text in ("=1+1", "+1", "-x", "@SUM(A1)", " =1", "\t=1"):
        assert guarded(text) == f"'{text}" and unguarded(guarded(text)) == text
    assert guarded("O'Neill") == "O'Neill" == unguarded("O'Neill")
    assert unguarded("'t Hooft") == "'t Hooft"


def test_what_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("\n")
    (tmp_path / "bytes.csv").write_bytes(b"\x81\x8d\xff")
    for name, why in (("empty", "no row of headings"), ("bytes", "not a CSV"), ("none", "No such")):
        with pytest.raises(ValueError, match=why):
            read_table(tmp_path / f"{name}.csv")


ROSTERS = {
    "id,first_name,last_name,email,lms_user_id\nae1,Anna,Example,a@x.org,7\n": Person(
        "ae1", "Anna", "Example", "a@x.org", "7"
    ),
    "First name,Surname,ID number,Email address\nAnna,Example,ae1,a@x.org\n": Person(
        "ae1", "Anna", "Example", "a@x.org"
    ),
    "First name,Last name,Email address\nAnna,Example,a@x.org\n": Person(
        "a@x.org", "Anna", "Example", "a@x.org"
    ),
    "Identifier,Full name,Email address,Grade\nParticipant 5,Anna Example,a@x.org,\n": Person(
        "a@x.org", "Anna", "Example", "a@x.org"
    ),
    "Student,ID,SIS User ID,SIS Login ID,Section,HW (1)\n    Points Possible,,,,,10\n"
    '"Example, Anna",7,55,ae1,S1,\n"Student, Test",,,x,S1,\n': Person(
        "ae1", "Anna", "Example", "", "7"
    ),
    'Student,ID,Section\n"\'=1+1, Anna",7,S1\n': Person("7", "Anna", "=1+1", "", "7"),
}


@pytest.mark.parametrize("text", ROSTERS)
def test_lists_of_students(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.csv").write_text(text)
    assert read_roster(tmp_path / "r.csv") == [ROSTERS[text]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("points,week\n1,2\n", "no column that identifies students"),
        ("id\nann\nann\n", "two students with the id 'ann'"),
        ("id\na/b\n", "'a/b' cannot be a student's id"),
    ],
)
def test_lists_that_are_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(ClassroomError, match=why):
        read_roster(tmp_path / "r.csv")


def test_names() -> None:
    assert split_name("Anna Maria Example") == ("Anna Maria", "Example")
    assert split_name("de la Cruz, José") == ("José", "de la Cruz")
    assert split_name("Plato") == ("", "Plato")
    for name in ("../..", "a/b", ".x", " a ", "x" * 400, "a\nb", "[a]*", ""):
        assert why_no_id(as_id(name)) == ""


HIDDEN = [
    "x;=1+1",
    "x\t=2+2",
    "\u00a0=1",
    "\u200b=1",
    "\ufeff=1",
    "\u2003@x",
    "＝1",
    "＠x",
    "a; ＋1",
]


@pytest.mark.parametrize("text", HIDDEN)
def test_a_formula_that_a_spreadsheet_may_find_stays_text(text: str) -> None:
    assert guarded(text) == f"'{text}" and unguarded(guarded(text)) == text


@pytest.mark.parametrize("text", ["Anna-Lena; Öz", "a=b", "x\ty", "", " ", "5 − 3"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert guarded(text) == text
