"""Grade ids identify a notebook, whatever its file name."""

from __future__ import annotations

import json
from pathlib import Path

from autograder.classroom.intake.identify import Known, grade_ids, known_notebooks, recognise

ONE, TWO = Known("01_one", "01_one"), Known("02_two", "02_two")
KNOWN = {ONE: frozenset({"check-a", "a", "check-b"}), TWO: frozenset({"check-c", "a"})}


def file(*ids: str, source: str = "") -> bytes:
    cells = [{"metadata": {"nbgrader": {"grade_id": name}}, "source": [source]} for name in ids]
    return json.dumps({"cells": cells, "nbformat": 4}, indent=1).encode()


def test_ids_say_more_than_the_name() -> None:
    assert recognise(file("check-a", "a"), "02_two.ipynb", KNOWN) == ONE
    assert recognise(file("check-c"), "final (3).ipynb", KNOWN) == TWO
    assert recognise(file("check-c", "check-a", "check-b"), "x", KNOWN) == ONE


def test_where_ids_do_not_decide_the_name_does() -> None:
    for name in ("01_one.ipynb", "01_one (1).ipynb", "01_one-2.ipynb", "my/01_one_final.ipynb"):
        assert recognise(file(), name, KNOWN) == ONE
    assert recognise(file("a"), "02_two-1.ipynb", KNOWN) == TWO
    for name in ("notes.ipynb", "101_one.ipynb", "01_ones.ipynb", "01_one 02_two.ipynb"):
        assert recognise(file(), name, KNOWN) is None
    assert recognise(file("a"), "x.ipynb", KNOWN) is None


def test_a_name_that_begins_another_is_not_taken_for_it() -> None:
    known = {Known("hw", "part"): frozenset[str](), Known("hw", "part_2"): frozenset[str]()}
    assert recognise(b"", "part_2.ipynb", known) == Known("hw", "part_2")


def test_ids_in_a_text_do_not_count_and_a_cut_file_still_says_what_it_is() -> None:
    assert grade_ids(file("b", source='{"grade_id": "check-a"}')) == {"b"}
    whole = file("check-a", "a", "check-b")
    assert recognise(whole[: len(whole) * 2 // 3], "x", KNOWN) == ONE
    assert grade_ids(b'{"grade_id" : "x", "grade_id":\n "y"}') == {"x", "y"}


def test_all_versions_that_were_given_out_are_known(tmp_path: Path) -> None:
    (tmp_path / "source/01_one").mkdir(parents=True)
    (tmp_path / "source/01_one/01_one.ipynb").write_bytes(file("check-new"))
    (tmp_path / ".fxcourse").mkdir()
    old = {"assignment": "01_one", "notebook": "01_one", "cells": [{"name": "check-old"}]}
    gone = old | {"assignment": "gone"}
    lines = [json.dumps(old), json.dumps(gone), '{"assignment": "01_one", "no']
    (tmp_path / ".fxcourse/released.jsonl").write_text("\n".join(lines))
    assert known_notebooks(tmp_path) == {ONE: {"check-new", "check-old"}}
