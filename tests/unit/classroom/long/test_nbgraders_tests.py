"""nbgrader's own tests of ``nbgrader autograde``, run with the settings of a classroom.

Each failing test must be in the table of docs/reference/nbgrader-differences.md, with the
difference. Each test in the table must fail.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from autograder.builder.paths import ROOT
from autograder.sandbox.walls import why_no_box

pytestmark = [
    pytest.mark.skipif(why_no_box() is not None, reason=f"no box on this machine: {why_no_box()}"),
]

SETTINGS = """
from autograder.classroom.config import configure

c = get_config()
configure(c)
c.ExecuteChecks.secret = "nbgrader's own tests"
"""

MIN_TESTS = 40
"""Minimum number of tests in the pinned version of nbgrader, without skipped ones."""


def listed() -> set[str]:
    """The tests in the table of differences."""
    text = (ROOT / "docs" / "reference" / "nbgrader-differences.md").read_text(encoding="utf-8")
    table = text.partition("| nbgrader's test | what differs here |")[2].partition("\n\n")[0]
    return {name for row in table.splitlines() for name in re.findall(r"`(test_\w+)`", row)}


@pytest.mark.timeout(1800)
def test_what_differs_from_nbgraders_own_tests_is_on_the_page(tmp_path: Path) -> None:
    settings = tmp_path / "settings"
    settings.mkdir()
    (settings / "nbgrader_config.py").write_text(SETTINGS, encoding="utf-8")
    report = tmp_path / "report.xml"
    scripts = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--pyargs", "nbgrader.tests.apps.test_nbgrader_autograde",
         "-p", "no:cacheprovider", "-p", "no:xdist", "-q", f"--junitxml={report}"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"JUPYTER_CONFIG_DIR": str(settings), "PYTHONPATH": str(ROOT),
                          "PATH": scripts},
    )  # fmt: skip
    assert report.is_file(), run.stdout[-2000:] + run.stderr[-2000:]
    cases = [case for case in ElementTree.parse(report).iter("testcase")]
    tried = [case for case in cases if case.find("skipped") is None]
    assert len(tried) >= MIN_TESTS, run.stdout[-2000:]
    failed = {
        str(case.get("name")).partition("[")[0]
        for case in tried
        if case.find("failure") is not None or case.find("error") is not None
    }
    assert failed == listed(), run.stdout[-20_000:]
