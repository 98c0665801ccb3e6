"""A bundle as a file: all of it is read again, and anything else is refused with a reason."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from autograder.sandbox.resource_limits import Bounds
from autograder.submission.bundle import Bundle, InvalidBundle
from autograder.submission.contract import GradingConfig, PreloadSpec, Timeouts
from autograder.submission.seeds import bundle_key, pool_of, seed_key
from autograder.submission.source_cells import ReleasedCell, SourceCell

CHAPTER = "03_manipulation"
SECRET = "the secret of a class"
TEST = "assert f(1) == 2\n### BEGIN HIDDEN TESTS\nassert f(2) == 3\n### END HIDDEN TESTS"
OWN = (("mine/cases.py", "EXERCISE = 1"), ("mine/redraws.py", "REDRAWS = ()"))


def bundle() -> Bundle:
    """A bundle in which no field has its default value."""
    given = ReleasedCell("own", "code", "assert f(1) == 2", True, True, False, False, 1.5)
    cell = SourceCell("own", "code", TEST, "abc", True, True, False, False, 2.0, (given,))
    preload = PreloadSpec(
        CHAPTER, "a.syllabus", ("torch", "math"), bounds=Bounds(memory=3), own=OWN,
        released_text="{}",
    )  # fmt: skip
    config = GradingConfig(
        CHAPTER, {"own": cell}, preload, Timeouts(cell_cpu=1.0), proof=False, max_lines=7,
        max_traceback=8,
    )  # fmt: skip
    return Bundle(config, bundle_key(SECRET, CHAPTER), {"data/a.bin": b"\0\xff"}, {"torch": "2"})


def test_a_bundle_is_read_as_it_was_written() -> None:
    found = Bundle.from_json(bundle().to_json())
    assert found == bundle()
    assert found.config.preload.released_text == "{}"  # equality leaves it out


def test_the_key_is_of_one_chapter_and_not_the_secret() -> None:
    text, key = bundle().to_json(), bundle().key
    assert SECRET not in text and key in text
    assert key != bundle_key(SECRET, "04_patterns") and key != bundle_key("another", CHAPTER)
    submission = bundle().submission("ann", b"{}")
    assert submission.key == seed_key(key, "ann") != seed_key(SECRET, "ann")
    assert submission.pool == pool_of(key, CHAPTER) != pool_of(SECRET, CHAPTER)
    assert bundle().submission("bo", b"{}").key != submission.key


def test_what_students_may_read_has_no_hidden_tests_and_cases() -> None:
    text = bundle().for_students().to_json()
    assert "f(2)" in bundle().to_json() and "f(2)" not in text
    assert "mine/cases.py" in text and "redraws" not in text


def changed(**fields: object) -> str:
    return json.dumps(json.loads(bundle().to_json()) | fields)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "It is not JSON"),
        (bundle().to_json()[:-20], "or its end is missing"),
        (b"\xff\xfe\x00", "It is not JSON"),
        ("[]", "not made by fxcourse classroom bundle"),
        ("{}", "not made by fxcourse classroom bundle"),
        (changed(version=2), "has version 2 of the format, and only 1 can be read"),
        (changed(cells=[{"name": "x"}]), "A part of it is missing or wrong"),
        (changed(timeouts={"patience": 1}), "A part of it is missing or wrong"),
        (changed(files={"a": "%"}), "A part of it is missing or wrong"),
        (changed(key=None, files=None), "A part of it is missing or wrong"),
    ],
    ids=[
        "nothing", "cut off", "bytes", "list", "object", "version", "cells", "timeouts", "base64",
        "files",
    ],
)  # fmt: skip
def test_anything_else_is_refused(text: str | bytes, said: str) -> None:
    with pytest.raises(InvalidBundle, match=said):
        Bundle.from_json(text)


def test_the_copy_for_students_leaves_the_bundle_as_it_was() -> None:
    found = bundle()
    found.for_students()
    assert found == replace(bundle())
