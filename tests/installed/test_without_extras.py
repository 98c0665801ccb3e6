"""Features that work without the optional packages, and messages that name a missing extra.

Each script runs in a Python that cannot import these packages.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.builder.paths import ROOT
from autograder.cli.main import UNUSABLE
from autograder.environment.extras import EXTRAS

OF_ALL_EXTRAS = {name for names in EXTRAS.values() for name in names}
BROUGHT = {"pygments", "networkx", "traitlets"}  # installed by Rich, PyTorch and nbformat
BASE = sorted(OF_ALL_EXTRAS - BROUGHT)

HIDE = "import sys; sys.modules.update(dict.fromkeys({hidden!r}))\n"


def python(code: str, folder: Path, hidden: list[str] = BASE) -> subprocess.CompletedProcess[str]:
    """Run code in a Python that cannot import some packages."""
    command = [sys.executable, "-c", HIDE.format(hidden=hidden) + code]
    env = {
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "FXCOURSE_WORKSPACE": "",
        "HOME": str(folder),
    }
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


def fxcourse(
    words: str, folder: Path, hidden: list[str] = BASE
) -> subprocess.CompletedProcess[str]:
    """Run the command in such a Python."""
    code = (
        f"sys.argv = ['fxcourse', *{words.split()!r}]\nfrom autograder.cli.main import main; main()"
    )
    return python(code, folder, hidden)


CHECKS = """
from autograder import CheckFailed, check, draw, hint, progress
from torch import fx

def node_names(model):
    return [node.name for node in fx.symbolic_trace(model).graph.nodes]

check(node_names)

def node_names(model):
    return [node.op for node in fx.symbolic_trace(model).graph.nodes]

def first_nonfinite(gm, *args):
    return None

for answer in (node_names, first_nonfinite):
    try:
        check(answer)
    except CheckFailed as error:
        print("raised:", error)
picture = draw(lambda x: x + 1)
assert 'This needs matplotlib' in picture.html() and "add = x + 1" in picture.html()
try:
    picture.save("graph.svg")
except ImportError as error:
    print("saved:", error)
hint("node_names")
progress()
"""


def test_a_check_needs_the_base_alone(tmp_path: Path) -> None:
    done = python(CHECKS, tmp_path)
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert "✓ Passed: node_names" in said and "✗ Not right yet: node_names" in said
    assert "The traced model:\n    A graph of 4 nodes" in said
    needs = 'This needs torchvision. Install it with: pip install "fxcourse[learn]"'
    card = " ".join(said[said.index("? Not judged: first_nonfinite") :].split())
    assert f"{needs} Then restart the kernel, and run this check again." in card
    assert f"raised: `first_nonfinite` was not checked. {needs}\n" in said
    assert 'saved: This needs matplotlib. Install it with: pip install "fxcourse[learn]"\n' in said
    noted = json.loads((tmp_path / ".local/state/fxcourse/progress.json").read_text())["fxcourse"]
    assert noted["node_names"] == "passed" and "first_nonfinite" not in noted


PASSES = """\
import torch


def add_to_sub(gm):
    for node in gm.graph.find_nodes(op="call_function", target=torch.add):
        node.target = torch.sub
    gm.recompile()
    return gm
"""


def test_a_hunt_needs_the_base_alone(tmp_path: Path) -> None:
    (tmp_path / "passes.py").write_text(PASSES)
    done = fxcourse("hunt passes.py:add_to_sub -n 60 --html card.html", tmp_path)
    assert done.returncode == 1, done.stderr
    assert "✗ passes.py:add_to_sub: wrong on" in done.stdout and "torch.add(" in done.stdout
    assert "This needs matplotlib" in (tmp_path / "card.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "package", "extra"),
    [
        ("lab", "jupyterlab", "learn"),
        ("grade class", "nbgrader", "teach"),
        ("classroom create class", "nbgrader", "teach"),
        ("classroom pack class", "nbgrader", "teach"),
        ("new-exercise class mine", "nbgrader", "teach"),
        ("build", "nbgrader", "teach"),
        ("book", "sphinx", "book"),
    ],
)
def test_a_command_says_in_one_line_which_extra_is_missing(
    words: str, package: str, extra: str, tmp_path: Path
) -> None:
    done = fxcourse(words, tmp_path)
    line = f'This needs {package}. Install it with: pip install "fxcourse[{extra}]"\n'
    assert (done.returncode, done.stderr) == (UNUSABLE, line)
    assert list(tmp_path.iterdir()) == []


def test_commands_that_need_no_extra_say_nothing_of_one(tmp_path: Path) -> None:
    for words in ("--help", "classroom --help", "doctor", "progress"):
        done = fxcourse(words, tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), words


FILES = """
from pathlib import Path
from autograder.watch import files
from autograder.workspace import update
chapter = update.as_released(Path("work"), "03_manipulation")
print(len(files.exercises_of(Path("work"), "03_manipulation", chapter)))
"""


def test_a_workspace_and_files_for_an_editor_need_the_base_alone(tmp_path: Path) -> None:
    """Even in a clone, where the chapter could be built from its source."""
    done = fxcourse("update work", tmp_path)
    assert done.returncode == 0, done.stderr
    done = python(FILES, tmp_path)
    assert (done.stdout, done.stderr) == ("5\n", "")
    made = {path.name for path in (tmp_path / "work").glob("*.ipynb")}
    assert made == {"index.ipynb", *(path.name for path in (ROOT / "course").glob("*.ipynb"))}


NEEDING = """
from autograder.exercises import EXERCISES

def needs_torchvision(exercise):
    for case in exercise.cases:
        try:
            case.make(0)
        except ModuleNotFoundError as error:
            assert error.name.partition(".")[0] == "torchvision", error
            return True
    return False

print(*(name for name, exercise in EXERCISES.items() if needs_torchvision(exercise)))
"""


def test_the_page_about_installing_names_the_exercises_that_need_torchvision(
    tmp_path: Path,
) -> None:
    done = python(NEEDING, tmp_path)
    assert done.returncode == 0, done.stderr
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^.*exercises use torchvision: (.*)$", page, flags=re.MULTILINE)
    names = re.findall(r"`(\w+)`", row)
    assert names == done.stdout.split()
    assert f"* {len(names)} exercises use torchvision" in page
