"""Each format against a file of `golden`; FXCOURSE_GOLDEN=1 writes these files again."""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from autograder.formats import gradescope
from autograder.formats.feedback import WAITS, feedback_on
from autograder.submission.check_result import CheckResult, KeptFinding
from autograder.submission.result import GradedNotebook, Result, Score, SubmissionStatus

GOLDEN = Path(__file__).parent / "golden"
FILES = {
    "coursera": "feedback.json",
    "github": "summary.md",
    "gradescope": "results.json",
    "junit": "junit.xml",
    "plain": "result.json",
}

MODEL = "class Add(nn.Module):\n    def forward(self, x):\n        return x + 1"
HOSTILE = "`add_to_mul` raised `ValueError: </text>```<script>alert(1)</script>![a](b) & ]]>`."
HIDDEN = "redraw: two sums"


def graded() -> GradedNotebook:
    """A notebook with an answer of each status, a hidden case that fails, and an own test."""
    checks = (
        CheckResult("retarget", "passed", 1.0),
        CheckResult(
            "add_to_mul",
            "crashed",
            1 / 3,
            (KeptFinding("raises", HOSTILE, MODEL), KeptFinding("second", "Another problem.")),
            ((HIDDEN, "raises"),),
        ),
        CheckResult("relu_after_add", "not attempted", 0.0),
        CheckResult("relu_to_gelu", "not judged", 0.0),
    )
    notes = ("The notebook was restarted once.",)
    result = Result("ann", "03_manipulation", SubmissionStatus.CRASHED, notes=notes, seconds=2.25)
    scores = {
        "check-retarget": Score(2.0, 2.0),
        "check-add_to_mul": Score(4 / 3, 4.0),
        "check-relu_after_add": Score(0.0, 4.0),
        "check-relu_to_gelu": Score(None, 4.0),
        "own-test": Score(1.0, 1.0),
        "essay": Score(None, 3.0),
    }
    found = Result(**{**vars(result), "checks": checks, "wall": "landlock"})
    return GradedNotebook.of(found, "", scores)


def text_of(name: str, notebook: GradedNotebook) -> str:
    """The notebook in a format."""
    text: str = importlib.import_module(f"autograder.formats.{name}").text(feedback_on(notebook))
    return text


@pytest.mark.parametrize("name", FILES)
def test_a_format_is_as_before(name: str) -> None:
    path, found = GOLDEN / FILES[name], text_of(name, graded())
    if "FXCOURSE_GOLDEN" in os.environ:
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_no_format_names_a_hidden_case(name: str) -> None:
    assert "redraw" not in text_of(name, graded())


def test_only_the_first_problem_is_shown() -> None:
    rows = {row.name: row for row in feedback_on(graded()).rows}
    assert "Another problem" not in rows["add_to_mul"].text and MODEL in rows["add_to_mul"].text
    assert rows["retarget"].text == ""
    assert rows["relu_after_add"].text == "`relu_after_add` was handed in without an answer."
    assert rows["relu_to_gelu"].word == rows["essay"].word == WAITS
    assert rows["own-test"].is_right


def test_xml_and_markdown_contain_a_hostile_message_as_text() -> None:
    suite = ElementTree.fromstring(text_of("junit", graded()).partition("\n")[2])
    assert HOSTILE in (suite.findtext("testcase[@name='add_to_mul']/failure") or "")
    assert f"````text\n{HOSTILE}" in text_of("github", graded())


TEST = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "max_score", "output", "visibility"],
    "dependentRequired": {"status": ["score"], "score": ["status"]},
    "properties": {
        "score": {"type": "number", "minimum": 0},
        "max_score": {"type": "number", "minimum": 0},
        "status": {"enum": ["passed", "failed"]},
        "name": {"type": "string"},
        "output": {"type": "string"},
        "output_format": {"enum": ["text", "html", "simple_format", "md", "ansi"]},
        "visibility": {"enum": ["hidden", "after_due_date", "after_published", "visible"]},
    },
}
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["score", "tests", "stdout_visibility"],
    "properties": {
        "score": {"type": "number", "minimum": 0},
        "execution_time": {"type": "number"},
        "output": {"type": "string"},
        "output_format": TEST["properties"]["output_format"],  # type: ignore[index]
        "visibility": {"const": "visible"},
        "stdout_visibility": {"const": "hidden"},
        "extra_data": {"type": "object"},
        "tests": {"type": "array", "items": TEST},
    },
}
"""Gradescope's fields: https://gradescope-autograders.readthedocs.io/en/latest/specs/"""


def refused() -> GradedNotebook:
    """A file that could not be read."""
    why = "03_manipulation.ipynb is a link; links are not read."
    result = Result("ann", "03_manipulation", SubmissionStatus.REFUSED, notes=(why,))
    return GradedNotebook.of(result, "", {"check-retarget": Score(0.0, 2.0)})


@pytest.mark.parametrize("notebook", [graded(), refused()], ids=["graded", "refused"])
def test_gradescope_knows_every_field(notebook: GradedNotebook) -> None:
    data = json.loads(text_of("gradescope", notebook))
    jsonschema.validate(data, SCHEMA)
    assert data["score"] == notebook.result.points
    assert sum(test.get("score", 0.0) for test in data["tests"]) == pytest.approx(data["score"])


def test_a_refused_file_has_its_reason_and_no_points() -> None:
    for name in FILES:
        assert "links are not read" in text_of(name, refused())
    assert json.loads(text_of("coursera", refused()))["fractionalScore"] == 0.0


# ------------------------------------------------------------------ attempts


def submitted(*attempts: tuple[str, dict[str, Any] | None]) -> dict[str, Any]:
    """Gradescope's data about a submission at noon, with these attempts before it."""
    rows = [
        {"submission_time": f"2026-11-{time}-07:00", "score": 0.0, "results": results}
        for time, results in attempts
    ]
    return {
        "created_at": "2026-11-30T12:00:00.5-07:00",
        "users": [{"id": 7, "email": "b@x.org"}, {"id": 12, "email": "a@x.org"}],
        "previous_submissions": rows,
    }


def test_attempts_of_the_last_24_hours_are_counted() -> None:
    old = ("29T11:00:00", {"score": 9.0})
    first, second = ("29T13:00:00", {"score": 1.0}), ("30T09:00:00", {"score": 2.0})
    failed = ("30T10:00:00", None)  # it has no result, so it costs no attempt
    assert gradescope.last_result(submitted(old, first), 2) is None
    assert gradescope.last_result(submitted(old, first, failed), 2) is None
    again = json.loads(gradescope.last_result(submitted(second, old, first), 2) or "")
    assert again["score"] == 2.0 and "2 attempts in 24 hours" in again["output"]
    repeated = ("30T11:00:00", again)
    assert gradescope.last_result(submitted(old, second, repeated), 2) is None


def test_a_group_has_one_name() -> None:
    assert gradescope.student_of(submitted()) == "12+7"
