"""Set-up: the pins stand in one place, and the Makefile does what it says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from autograder.builder import pins
from autograder.builder.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_conda_environment_has_the_pins_of_the_project() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python, pip, by_pip = environment["dependencies"]
    assert python == f"python{PROJECT['requires-python']}"
    assert pip == "pip"
    assert by_pip == {"pip": [*PROJECT["dependencies"], "-e ."]}


def test_the_conda_environment_is_the_generated_one() -> None:
    assert (ROOT / "environment.yml").read_text(encoding="utf-8") == pins.environment_yml()


def test_every_package_is_pinned() -> None:
    extras = PROJECT["optional-dependencies"].values()
    for line in [*PROJECT["dependencies"], *(line for extra in extras for line in extra)]:
        assert re.fullmatch(r"[a-z0-9_-]+==\d+(\.\d+)+", line), line


def test_torch_and_torchvision_are_the_pair_the_course_was_written_for() -> None:
    assert {"torch==2.14.1", "torchvision==0.29.1", "nbgrader==0.9.6"} <= set(
        PROJECT["dependencies"]
    )


# The Makefile, with a Python that only notes what it is asked to do

FAKE_PYTHON = """\
#!/bin/sh
case "$1 $2" in
    "-c "*) exit ${CHECK:-0} ;;
    "--version "*) echo "Python 3.11.0" ;;
    "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && echo "venv $3" >> "$LOG" ;;
    *) echo "$@" >> "$LOG"; case "$*" in *"${FAIL:-nothing fails}"*) exit 1 ;; esac ;;
esac
"""

MAKE = shutil.which("make")
needs_make = pytest.mark.skipif(not MAKE, reason="make is not installed")


class Clone:
    """A fresh clone in a folder with a space in its name, as far as the Makefile sees it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "my clone's copy"
        self.folder.mkdir()
        for name in ("Makefile", "pyproject.toml"):
            shutil.copy(ROOT / name, self.folder)
        self.python = folder / "python3.11"
        self.python.write_text(FAKE_PYTHON)
        self.python.chmod(0o755)
        self.log = folder / "log"

    def make(self, *args: str, **env: str) -> tuple[subprocess.CompletedProcess, list[str]]:
        """Run make; what it printed, and what it asked of Python."""
        self.log.write_text("")
        env = {"PATH": os.environ["PATH"], "LOG": str(self.log), **env}
        done = subprocess.run(
            [MAKE, *args, f"PYTHON={self.python}"],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
        )
        return done, self.log.read_text().splitlines()


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """A fresh clone."""
    return Clone(tmp_path)


INSTALL = "-m pip install --disable-pip-version-check -e"
COMPILE = "-m compileall -q autograder"
COMPILE_TESTS = "-m compileall -q tests benchmarks hunts"


@needs_make
def test_make_lab_sets_up_a_fresh_clone_and_opens_it(clone: Clone) -> None:
    done, asked = clone.make("lab")
    assert done.returncode == 0, done.stderr
    assert asked == ["venv .venv", f"{INSTALL} .", COMPILE, "-m autograder.cli lab"]
    assert "Creating .venv with Python 3.11.0" in done.stdout
    assert "Installing the course" in done.stdout


@needs_make
def test_make_lab_is_quick_the_second_time(clone: Clone) -> None:
    clone.make("lab")
    done, asked = clone.make("lab", "LAB_ARGS=--no-browser --port 9000")
    assert asked == ["-m autograder.cli lab --no-browser --port 9000"]
    assert "==>" not in done.stdout


@needs_make
def test_new_pins_are_installed(clone: Clone) -> None:
    clone.make("test")
    later = (clone.folder / ".venv" / ".installed-test").stat().st_mtime + 10
    os.utime(clone.folder / "pyproject.toml", (later, later))
    _, asked = clone.make("doctor")
    assert asked == [f"{INSTALL} .", COMPILE, "-m autograder.cli doctor"]


@needs_make
def test_an_installation_that_failed_is_tried_again(clone: Clone) -> None:
    done, asked = clone.make("lab", FAIL="pip install")
    assert done.returncode != 0
    assert asked[-1].startswith(INSTALL)
    _, asked = clone.make("lab")
    assert asked == [f"{INSTALL} .", COMPILE, "-m autograder.cli lab"]


def without_left_out(lines: list[str]) -> list[str]:
    """The lines without the name of a temporary file."""
    return [re.sub(r" --left-out=\S+", "", line).replace("  ", " ") for line in lines]


@needs_make
def test_make_test_takes_one_exercise_or_chapter(clone: Clone) -> None:
    clone.make("test")
    done, asked = clone.make("test", "ONLY=add_to_mul")
    assert done.returncode == 0
    assert asked == ["-m pytest -n auto --dist loadgroup --only=add_to_mul"]


@needs_make
def test_make_test_all_repeats_nothing_and_fails_if_anything_does(clone: Clone) -> None:
    clone.make("test")
    done, asked = clone.make("test-all")
    suites = [word for line in asked for word in line.split() if word.startswith("--suite")]
    assert (done.returncode, suites) == (0, ["--suite=quick", "--suite=all"])
    for part in ("--suite=quick", "--suite=all"):
        done, asked = clone.make("test-all", FAIL=part)
        assert done.returncode != 0 and any("--suite=all" in line for line in asked)
    _, asked = clone.make("test-rest", "IN=tests/checks")
    assert asked == ["-m pytest -n auto --dist loadgroup --suite=all tests/checks"]


@needs_make
def test_make_test_runs_everything_and_fails_if_anything_does(clone: Clone) -> None:
    done, asked = clone.make("test")
    assert done.returncode == 0
    installing = ["venv .venv", f"{INSTALL} .", COMPILE, f"{INSTALL} .[test]", COMPILE_TESTS]
    assert asked[:5] == installing
    checks = [
        "-m ruff check .",
        "-m ruff format --check .",
        "-m mypy",
        ".venv/bin/lint-imports --no-logo",
        "-m pytest -n auto --dist loadgroup --suite=quick",
    ]
    assert sorted(without_left_out(asked[5:])) == sorted(checks)  # mypy runs beside the others
    failures = {
        "ruff check": "ruff-check",
        "mypy": "mypy",
        "lint-imports": "import-linter",
        "pytest": "pytest",
    }
    for check, name in failures.items():
        done, asked = clone.make("test", FAIL=check)
        assert done.returncode != 0
        assert sorted(without_left_out(asked)) == sorted(checks)
        assert f"FAILED: {name}\n" in done.stdout


@needs_make
def test_make_says_which_python_it_needs(clone: Clone, tmp_path: Path) -> None:
    # Every Python that is found says of itself that it will not do.
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("python3.11", "python3", "python"):
        shutil.copy(clone.python, commands / name)
    (commands / "sh").symlink_to("/bin/sh")
    done, asked = clone.make("lab", PATH=str(commands), CHECK="1")
    assert done.returncode != 0
    assert asked == []
    assert "needs Python 3.11, 3.12 or 3.13" in done.stderr
    assert "PYTHON=/path/to/python3.11" in done.stderr


@needs_make
def test_make_alone_says_what_there_is(clone: Clone) -> None:
    done, asked = clone.make()
    assert asked == []
    targets = re.findall(r"^make (\S+)", done.stdout, flags=re.MULTILINE)
    assert targets[:3] == ["lab", "doctor", "test"]
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert set(targets) == set(phony.group(1).split()) - {"help"}
    for line in re.findall(r"^(?:make| {4}).*", done.stdout, flags=re.MULTILINE):
        assert re.fullmatch(r"(?:make \S+ {2,}| {19})\S.*", line) and line[18] == " " != line[19]
        assert len(line) <= 100
    for text in re.findall(r"^make \S+ +(.*)", done.stdout, flags=re.MULTILINE):
        assert re.search(r"(minutes?|hours?)[^()]*\)$", text), f"no duration: {text}"


# The command


def run(*args: str) -> subprocess.CompletedProcess:
    """Run ``fxcourse``."""
    command = [sys.executable, "-m", "autograder.cli", *args]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_the_command_lists_its_parts() -> None:
    done = run("--help")
    assert done.returncode == 0
    for part in ("build", "lab", "solutions", "doctor"):
        assert part in done.stdout


def test_the_command_starts_without_torch() -> None:
    """So that it starts at once, and so that `doctor` can speak of a torch that is broken."""
    code = "import sys, autograder.cli; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_whoever_keeps_the_gradebook_needs_no_torch() -> None:
    """So that the first result is there soon: PyTorch is imported beside it meanwhile."""
    code = (
        "from autograder.classroom import grade_class; import sys; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_a_grammar_that_nobody_asks_for_is_left_out() -> None:
    code = (
        "import sys\n"
        "from autograder.core.quick_imports import quick_imports\n"
        "with quick_imports():\n"
        "    import nbformat\n"
        "assert 'rfc3987_syntax' not in sys.modules\n"
        "nbformat.validate(nbformat.v4.new_notebook())\n"
        "import gc, rfc3987_syntax\n"
        "assert gc.isenabled()\n"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_a_chapter_that_does_not_exist_is_named() -> None:
    done = run("solutions", "99_nothing")
    assert done.returncode == 2
    assert "There is no chapter '99_nothing'" in done.stderr


def test_launchers_install_this_project_for_the_cpu_and_make_a_workspace() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    installs = container["postCreateCommand"]
    binder = ROOT / "binder"
    requirements = (binder / "requirements.txt").read_text("utf-8").splitlines()
    post = binder / "postBuild"
    address = container["containerEnv"]["PIP_EXTRA_INDEX_URL"]
    assert address.endswith("/cpu") and f"--extra-index-url {address}" in requirements
    assert "pip install -e ." in installs and "-e ." in requirements
    assert post.stat().st_mode & 0o111 or os.name == "nt"
    for text in (installs, post.read_text("utf-8")):
        assert "fxcourse update" in text
    lowest = PROJECT["requires-python"].partition(",")[0].removeprefix(">=")
    assert container["image"].endswith(f":{lowest}")
    assert (binder / "runtime.txt").read_text("utf-8").strip() == f"python-{lowest}"
