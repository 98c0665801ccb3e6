"""`fxcourse doctor` finds no problems in the environment of the tests."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.cli import doctor, main


def test_this_machine_is_well() -> None:
    findings = list(doctor.examine())
    assert [f for f in findings if f.state == "broken"] == []
    assert [f.name for f in findings if f.state == "info"] == ["Chromium"]


@pytest.mark.skipif(os.name == "nt", reason="the path of the interpreter is that of Unix")
def test_this_environment_has_no_difference_to_the_course() -> None:
    place = str(Path(sys.executable).parent.parent)
    done = CliRunner().invoke(main.app, ["doctor", "--against", place, "--part", "private"])
    assert done.exit_code == 0, done.output
    counted = re.search(r"private names: (\d+) of (\d+) as the course says", done.output)
    assert counted is not None and counted[1] == counted[2]
