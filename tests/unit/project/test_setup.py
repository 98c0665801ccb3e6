"""Set-up: the pins are in one place, and the Makefile does what it says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder.builder.outputs import lock
from autograder.builder.paths import ROOT
from autograder.environment import tried_versions

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


EXTRAS = PROJECT["optional-dependencies"]
LOCK = (ROOT / "constraints.txt").read_text(encoding="utf-8")
LOCKED = dict(line.split("==") for line in LOCK.splitlines() if re.match(r"[a-z]", line))
FOLLOW = "--constraint constraints.txt"


def test_the_conda_environment_follows_the_lock() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python, pip, by_pip = environment["dependencies"]
    assert python == f"python{PROJECT['requires-python']}"
    assert pip == "pip"
    assert by_pip == {"pip": [FOLLOW, "--editable .[learn,teach]"]}


def test_every_requirement_has_a_locked_version_that_satisfies_it() -> None:
    lines = [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]
    for requirement in map(Requirement, lines):
        if requirement.name != PROJECT["name"]:
            version = LOCKED[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(version), requirement


def test_an_upper_bound_has_a_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    before = ""
    for line in text[text.index("dependencies = [") : text.index("[project.scripts]")].splitlines():
        if re.search(r'"[a-z_-]+\S*[<=~]\d', line.replace(">=", ">")):
            assert before.lstrip().startswith("#"), line
        before = line


def test_the_lock_is_what_is_installed_here() -> None:
    """The tests ran with the lock; other systems and Pythons need fewer packages."""
    here = {name: package.version for name, package in lock.installed_packages("test").items()}
    assert {name: v for name, v in here.items() if LOCKED.get(name, v) != v} == {}
    if sys.platform == "linux" and sys.version_info[:2] == (3, 11):
        assert set(LOCKED) - {"triton"} <= set(here)
        assert {n for n in set(here) - set(LOCKED) if not n.startswith(lock.OF_CUDA)} == set()


def test_make_lock_writes_the_lock_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    locked = {name: lock.Locked(version) for name, version in LOCKED.items()}
    cuda = {"nvidia-cublas": lock.Locked("13.1"), "cuda-toolkit": lock.Locked("13.0")}
    monkeypatch.setattr(lock, "installed_packages", lambda *extras: locked | cuda)
    assert lock.constraints() == LOCK


def test_extras_of_what_is_needed_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = {
        "course": ("1", ['a[fast]; extra == "learn"', 'b; extra == "other"', "fxcourse"]),
        "a": ("2.0+cpu", ['c; extra == "fast"', 'd; sys_platform != "none"', "gone"]),
        "b": ("3", []),
        "c": ("4", []),
        "d": ("5", ["c; python_version > '3'"]),
        "fxcourse": ("6", []),
    }

    def found(name: str) -> SimpleNamespace:
        if name not in needs:
            raise metadata.PackageNotFoundError(name)
        return SimpleNamespace(version=needs[name][0], requires=needs[name][1], locate_file=str)

    monkeypatch.setattr(lock.metadata, "distribution", found)
    packages = lock.installed_packages("learn", distribution="course")
    assert packages == {
        "a": lock.Locked("2.0", {""}),
        "c": lock.Locked("4", {"", 'python_version > "3"'}),
        "d": lock.Locked("5", {'sys_platform != "none"'}),
        "fxcourse": lock.Locked("6", {""}),
    }


def test_the_locked_torchvision_fits_the_locked_torch_which_was_tried() -> None:
    (needs,) = (
        each
        for each in map(Requirement, metadata.requires("torchvision") or ())
        if each.name == "torch"
    )
    assert needs.specifier.contains(LOCKED["torch"])
    assert tried_versions.tried("torch")[LOCKED["torch"]] == tried_versions.FULLY


def test_a_pin_of_pytorch_is_in_the_lock_alone() -> None:
    """Other files say what was run with a version, which stays true."""
    texts = [ROOT / name for name in ("README.md", "environment.yml", "Makefile", "pyproject.toml")]
    texts += (ROOT / "solutions").glob("*.py")
    texts += (ROOT / ".github").rglob("*.yml")
    texts += (ROOT / ".devcontainer").iterdir()
    pins = re.compile("|".join(re.escape(LOCKED[name]) for name in ("torch", "torchvision")))
    assert [path for path in texts if pins.search(path.read_text(encoding="utf-8"))] == []


def test_the_page_about_installing_names_the_versions() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (PyTorch|Python) (\S+) \| (.+) \|$", page, flags=re.MULTILINE)
    told = {"PyTorch": "torch", "Python": "python"}
    assert [(told[what], version, ran) for what, version, ran in rows] == [
        (what, version, ran)
        for what in ("torch", "python")
        for version, ran in tried_versions.tried(what).items()
    ]
    for line in re.findall(rf"^{lock.FOR_VSCODE}(\S+)$", LOCK, flags=re.MULTILINE):
        assert line in page
    for extra in set(EXTRAS) - {"postgres", "test"}:
        assert f"| `{extra}` |" in page


# The Makefile, with a Python that only records its command lines

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
    """A fresh clone as the Makefile needs it, in a folder with a space in its name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "my clone's copy"
        self.folder.mkdir()
        for name in ("Makefile", "pyproject.toml", "constraints.txt"):
            shutil.copy(ROOT / name, self.folder)
        self.python = folder / "python3.11"
        self.python.write_text(FAKE_PYTHON)
        self.python.chmod(0o755)
        self.log = folder / "log"

    def make(self, *args: str, **env: str) -> tuple[subprocess.CompletedProcess, list[str]]:
        """Run make; return its result and the recorded command lines of Python."""
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


PIP = f"-m pip install --disable-pip-version-check {FOLLOW}"
INSTALL = f"{PIP} --editable"
COMPILE = "-m compileall -q autograder"
COMPILE_TESTS = "-m compileall -q tests benchmarks hunts"


@needs_make
def test_make_lab_sets_up_a_fresh_clone_and_opens_it(clone: Clone) -> None:
    done, asked = clone.make("lab")
    assert done.returncode == 0, done.stderr
    assert asked == ["venv .venv", f"{INSTALL} .[learn,teach]", COMPILE, "-m autograder.cli lab"]
    assert "Creating .venv with Python 3.11.0" in done.stdout
    assert "Installing the course" in done.stdout


@needs_make
def test_make_lab_is_quick_the_second_time(clone: Clone) -> None:
    clone.make("lab")
    done, asked = clone.make("lab", "LAB_ARGS=--no-browser --port 9000")
    assert asked == ["-m autograder.cli lab --no-browser --port 9000"]
    assert "==>" not in done.stdout


@needs_make
@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt"])
def test_new_versions_are_installed(clone: Clone, changed: str) -> None:
    clone.make("test")
    later = (clone.folder / ".venv" / ".installed-test").stat().st_mtime + 10
    os.utime(clone.folder / changed, (later, later))
    _, asked = clone.make("doctor")
    assert asked == [f"{INSTALL} .[learn,teach]", COMPILE, "-m autograder.cli doctor"]


@needs_make
def test_make_lab_takes_pytorch_for_the_cpu(clone: Clone) -> None:
    done, asked = clone.make("lab", "TORCH=cpu", "LAB_ARGS=--no-browser")
    assert done.returncode == 0, done.stderr
    source = "--extra-index-url https://download.pytorch.org/whl/cpu"
    assert asked == [
        "venv .venv",
        f"{PIP} {source} --editable .[learn,teach]",
        COMPILE,
        "-m autograder.cli lab --no-browser",
    ]
    _, asked = clone.make("test", "TORCH=cpu")
    assert asked[0] == f"{PIP} {source} --editable .[test]"


@needs_make
def test_make_names_a_pytorch_that_it_does_not_know(clone: Clone) -> None:
    done, asked = clone.make("lab", "TORCH=gpu")
    assert done.returncode != 0 and asked == []
    assert "There is no TORCH=gpu" in done.stderr
    _, asked = clone.make("lab", TORCH="/home/ada/torch")  # the environment's TORCH is ignored
    assert f"{INSTALL} .[learn,teach]" in asked


@needs_make
def test_make_lock_needs_what_was_tested(clone: Clone) -> None:
    _, asked = clone.make("lock")
    assert asked[-3:] == [f"{INSTALL} .[test]", COMPILE_TESTS, "-m autograder.builder.outputs.lock"]


@needs_make
def test_an_installation_that_failed_is_tried_again(clone: Clone) -> None:
    done, asked = clone.make("lab", FAIL="pip install")
    assert done.returncode != 0
    assert asked[-1].startswith(INSTALL)
    _, asked = clone.make("lab")
    assert asked == [f"{INSTALL} .[learn,teach]", COMPILE, "-m autograder.cli lab"]


def without_left_out(lines: list[str]) -> list[str]:
    """The lines without the name of a temporary file."""
    return [re.sub(r" --left-out=\S+", "", line).replace("  ", " ") for line in lines]


@needs_make
def test_make_test_takes_one_exercise_or_chapter(clone: Clone) -> None:
    clone.make("test")
    done, asked = clone.make("test", "ONLY=add_to_mul")
    assert done.returncode == 0
    asks = "-m pytest -n auto --dist loadgroup --only=add_to_mul"
    assert asked == ["-m ruff check .", "-m ruff format --check .", asks]
    for check in ("ruff check", "ruff format", "pytest"):
        assert clone.make("test", "ONLY=add_to_mul", FAIL=check)[0].returncode != 0


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
    installing = [
        "venv .venv",
        f"{INSTALL} .[learn,teach]",
        COMPILE,
        f"{INSTALL} .[test]",
        COMPILE_TESTS,
    ]
    assert asked[:5] == installing
    checks = [
        "-m ruff check .",
        "-m ruff format --check .",
        "-m mypy",
        ".venv/bin/lint-imports --no-logo",
        "-m pytest -n auto --dist loadgroup --suite=quick",
    ]
    assert sorted(without_left_out(asked[5:])) == sorted(checks)  # mypy runs in parallel
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
    # Every Python on the path reports that it is unsuitable.
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
    """The command starts faster, and `doctor` can report a broken torch."""
    code = "import sys, autograder.cli.main; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_the_gradebook_process_needs_no_torch() -> None:
    """The process with the gradebook runs no answer, and starts faster without PyTorch."""
    code = "import sys, autograder.classroom.grading.grade_class; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_a_grammar_that_nobody_asks_for_is_left_out() -> None:
    code = (
        "import sys\n"
        "from autograder.speed.imports import faster_imports\n"
        "with faster_imports():\n"
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
    assert f"TORCH_CPU = {address}\n" in (ROOT / "Makefile").read_text("utf-8")
    # Paths in a requirements file are relative to its folder.
    assert requirements[-2:] == ["--constraint ../constraints.txt", "--editable .[learn]"]
    assert "--constraint /tmp/constraints.txt --editable '.[learn,teach]'" in installs
    assert post.stat().st_mode & 0o111 or os.name == "nt"
    for text in (installs, post.read_text("utf-8")):
        assert "fxcourse update" in text
    lowest = PROJECT["requires-python"].partition(",")[0].removeprefix(">=")
    assert container["image"].endswith(f":{lowest}")
    assert (binder / "runtime.txt").read_text("utf-8").strip() == f"python-{lowest}"


@pytest.mark.skipif(os.name == "nt", reason="the container runs Linux")
def test_the_container_for_vscode_takes_an_older_ipykernel(tmp_path: Path) -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    edit, _, _ = container["postCreateCommand"].partition(" && ")
    path = tmp_path / "constraints.txt"
    subprocess.run(
        edit.replace("/tmp/constraints.txt", str(path)), shell=True, cwd=ROOT, check=True
    )
    lines = [line for line in path.read_text().splitlines() if line and line[0] != "#"]
    changed = dict(line.split("==") for line in lines)
    assert len(lines) == len(changed) == len(LOCKED) + 1
    older = {name: v for name, v in changed.items() if LOCKED.get(name) != v}
    assert older.keys() == {"ipykernel", "nest-asyncio"}
    assert older["ipykernel"].startswith("6.")
