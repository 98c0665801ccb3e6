"""The tests of the sandbox once more, with Landlock."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox.walls import Wall, why_not

HERE = Path(__file__).parents[1]

DIFFERENT = {
    "test_limits_are_errors_like_others": "a full disk ends the process",
    "test_what_is_refused_is_an_error_and_ends_nothing": "/dev/zero cannot be read",
    "test_what_notebooks_use_is_there": "processes cannot share memory",
    "test_each_box_has_its_own_users": "the sandbox has no namespace of users",
    "test_the_command_line_says_nothing": "/proc cannot be read",
    "test_packages_that_cannot_be_seen_are_noticed": "it is about namespaces",
}
"""Tests that do not hold there, each with its reason, which docs/explanation/sandbox.md gives."""


@pytest.mark.skipif(why_not(Wall.LANDLOCK) is not None, reason=str(why_not(Wall.LANDLOCK)))
@pytest.mark.parametrize("name", ["test_sandbox.py", "test_sandbox_bounds.py", "test_waiting.py"])
def test_what_holds_with_namespaces_holds_with_landlock(name: str) -> None:
    without = " and ".join(f"not {test}" for test in DIFFERENT)
    words = ["-n0", "-q", "--suite=all", f"-k{without}", str(HERE / name)]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        env=os.environ | {"TEST_WALL": Wall.LANDLOCK},
        capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-4000:]
