"""In a copy of the repository, the printed steps make a new exercise pass all tests about it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.builder.paths import ROOT

NAME = "relu_to_tanh"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository without what is generated elsewhere."""
    place = tmp_path_factory.mktemp("clone") / "fxcourse"
    ignored = shutil.ignore_patterns(".git", ".venv", "build", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, place, ignore=ignored)
    return place


def run(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a module of the copy."""
    places = os.environ | {"PYTHONPATH": str(copy)}
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=copy, env=places, text=True, capture_output=True
    )


def test_a_new_exercise_passes_its_tests(copy: Path) -> None:
    chapter = "03_manipulation"
    made = run(copy, "autograder.cli", "new-exercise", "--course", "03", NAME)
    assert made.returncode == 0, made.stderr
    assert run(copy, "autograder.cli", "references", chapter).returncode == 0
    source = copy / "solutions" / f"{chapter}.py"
    refused = run(copy, "autograder.cli", "build", chapter)
    assert refused.returncode == 1
    for new in re.findall(r"Write '(about \d+ minutes|\d+ of them for)'", refused.stderr):
        old = re.sub(r"\d+", r"\\d+", new)
        text = source.read_text(encoding="utf-8")
        source.write_text(re.sub(old, new, text, count=1), encoding="utf-8")
    built = run(copy, "autograder.cli", "build", chapter)
    assert built.returncode == 0, built.stderr
    tried = run(copy, "pytest", "-q", "-n0", f"--only={NAME}")
    assert tried.returncode == 0, tried.stdout[-3000:]
    assert " passed" in tried.stdout and " failed" not in tried.stdout
