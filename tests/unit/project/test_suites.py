"""The suite of each test: `tests/conftest.py` alone decides it, by folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from autograder.builder.paths import ROOT
from tests import conftest
from tests.conftest import ALL, BROWSER, LONG, QUICK, suite_of

TESTS = ROOT / "tests"
FILES = sorted(TESTS.rglob("test_*.py"))


@pytest.mark.parametrize(
    ("path", "suite"),
    [
        ("unit/core/test_x.py", QUICK),
        ("unit/classroom/test_x.py", ALL),
        ("unit/classroom/long/test_x.py", LONG),
        ("checks/test_x.py", QUICK),
        ("checks/thorough/test_x.py", ALL),
        ("browser/test_x.py", BROWSER),
    ],
)
def test_the_deepest_folder_decides(path: str, suite: str) -> None:
    assert suite_of(TESTS / path) == suite


def test_a_folder_that_nobody_names_is_refused() -> None:
    with pytest.raises(pytest.UsageError, match="does not say which suite"):
        suite_of(TESTS / "nowhere" / "test_x.py")


def test_every_file_belongs_to_a_suite_and_every_folder_has_files() -> None:
    assert {suite_of(path) for path in FILES} == set(conftest.SUITES)
    named = [*conftest.SUITE_OF, *conftest.ABOUT_EXERCISES, *conftest.FIRST]
    assert [name for name in named if not (TESTS / name).is_dir()] == []


def test_the_workflow_runs_every_folder_of_the_rest_once() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))["jobs"]
    shards = " ".join(jobs["rest"]["strategy"]["matrix"]["folders"]).split()
    assert len(set(shards)) == len(shards)
    for path in (path for path in FILES if suite_of(path) == ALL):
        assert sum(path.is_relative_to(ROOT / shard) for shard in shards) == 1, path


def test_no_mark_chooses_tests() -> None:
    marks = re.compile(r"^@pytest\.mark\.(slow|long|browser|quick)\b", re.M)
    assert [path.name for path in FILES if marks.search(path.read_text(encoding="utf-8"))] == []


def test_no_quick_test_runs_a_chapter_or_a_browser() -> None:
    quick = [path for path in FILES if suite_of(path) == QUICK]
    bad = re.compile(r"forked_kernels|sync_playwright|tests\.browser")
    assert {path.name for path in quick if bad.search(path.read_text("utf-8"))} <= {
        "test_build_execute.py",  # it runs a miniature chapter
        Path(__file__).name,
    }


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("retarget", {"retarget"}),
        ("00", {"00_start", "node_names"}),
        ("00_start", {"00_start", "node_names"}),
        ("02b", {"02b_lint", "wellformed"}),
    ],
)
def test_an_exercise_or_a_chapter_is_chosen(name: str, chosen: set[str]) -> None:
    assert conftest._wanted(name) >= chosen
    assert not conftest._wanted(name) & {"add_to_mul", "03_manipulation"}


def test_a_name_that_nearly_exists_is_hinted_at() -> None:
    with pytest.raises(pytest.UsageError, match="no exercise.*'retraget'. Did you mean retarget"):
        conftest._wanted("retraget")
