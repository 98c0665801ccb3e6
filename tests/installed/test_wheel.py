"""The contents of a wheel for learners: notebooks and working checks, but no instructor files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from autograder.builder.paths import ROOT

ENV = {name: value for name, value in os.environ.items() if name[:4] not in ("PYTH", "PIP_")}
ENV["PIP_CONFIG_FILE"] = os.devnull
"""No path of a clone, in which pip would find the course, and no pip configuration."""

pytestmark = [pytest.mark.xdist_group("wheel")]

TRY = """
import sys
import autograder
from autograder import grade, predict
from torch import fx

assert not autograder.__file__.startswith(sys.argv[1]), autograder.__file__

def node_names(model):
    return [node.name for node in fx.symbolic_trace(model).graph.nodes]

def wrong(model):
    return [str(node.target) for node in fx.symbolic_trace(model).graph.nodes]

right, other = grade("node_names", node_names), grade("node_names", wrong)
print(right.status, right.score, other.status, other.findings[0].code)
predict("00.1", "a")
until = grade("replace_until_done", lambda model, pattern, replacement: (model, 0))
print(until.status)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the files that git lists."""
    home = tmp_path_factory.mktemp("wheel")
    source = home / "source"
    listed = subprocess.check_output(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, text=True
    )
    for name in filter(None, listed.split("\0")):
        if name.startswith("tests/") or not (ROOT / name).is_file():
            continue
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "-q", "-w", str(home), str(source)], check=True)
    (found,) = home.glob("*.whl")
    return found


def test_the_wheel_holds_what_a_learner_needs_and_no_more(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    notebooks = {Path(name).name for name in names if name.endswith(".ipynb")}
    assert notebooks == {path.name for path in (ROOT / "course").glob("*.ipynb")}
    assert any(name.endswith("/key.py") for name in names)
    assert any(name.endswith("/references.jsonl") for name in names)
    assert any(name.endswith("core/operations.json") for name in names)
    assert any(name.endswith("workspace/jupyter/labconfig/page_config.json") for name in names)
    lessons = {Path(name).stem for name in names if re.match(r"autograder/lessons/.*\.json", name)}
    assert lessons == {"map", *(path.stem for path in (ROOT / "course").glob("*.ipynb"))}
    assert "autograder/environment/tried_versions.json" in names
    assert not [name for name in names if "hidden" in name or "solutions/" in name]
    sources = [name for name in names if name.endswith(".py")]
    assert all(name.startswith("autograder/") for name in sources)


def _environment_with(home: Path, versions: dict[str, str]) -> Path:
    """A Python that claims to have these packages, but contains only their metadata."""
    venv.create(home, with_pip=False)
    packages = min(home.glob("[Ll]ib*/**/site-packages"))
    for name, version in versions.items():
        info = packages / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "INSTALLER").write_text("pip\n")
        (info / "RECORD").write_text("")
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@pytest.mark.parametrize("torch", ["2.13.0+cpu", "2.99.0"])
@pytest.mark.parametrize("extra", ["", "[teach]"])
def test_the_wheel_changes_no_pytorch(wheel: Path, tmp_path: Path, torch: str, extra: str) -> None:
    """Pip resolves the packages that it would install, without an index."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = map(Requirement, [*project["dependencies"], *extras["learn"], *extras["teach"]])
    versions = {need.name: "2026.1" for need in needed if need.name != "fxcourse"}
    versions |= {"torch": torch, "torchvision": "0.28.0", "soupsieve": "2.10"}
    python = _environment_with(tmp_path / "env", versions)
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--dry-run"]
    done = subprocess.run(
        [*command, "--no-index", f"{wheel}{extra}"], capture_output=True, text=True, env=ENV
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "Would install fxcourse-0.1.0"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the wheel; its dependencies come from this environment."""
    home = tmp_path_factory.mktemp("installed") / "env"
    venv.create(home, with_pip=False)
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps"]
    subprocess.run([*command, str(wheel)], check=True, env=ENV)
    packages = min(home.glob("[Ll]ib*/**/site-packages"))
    others = Path(next(path for path in sys.path if path.endswith("site-packages")))
    (packages / "others.pth").write_text(f"{others}\n", encoding="utf-8")
    return python


def test_an_installed_course_checks_answers(installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [installed, "-I", "-c", TRY, str(ROOT)], cwd=tmp_path, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said = done.stdout.splitlines()
    assert [said[0], said[-1]] == ["passed 1.0 failed wrong-value", "failed"]
    assert said[1].startswith("Prediction 00.1: you picked a")


def test_an_installed_course_makes_a_workspace(installed: Path, tmp_path: Path) -> None:
    own = tmp_path / "my own"
    script = (
        "import sys; from pathlib import Path; from autograder.workspace import lab, update; "
        "rows = update.open_workspace(Path(sys.argv[1])); print(len(rows), lab.SETTINGS.is_dir())"
    )
    command = [installed, "-I", "-c", script, str(own)]
    names = {path.name for path in (ROOT / "course").glob("*.ipynb")}
    assert subprocess.check_output(command, cwd=tmp_path, text=True).split() == [
        str(len(names)), "True",
    ]  # fmt: skip
    assert {path.name for path in own.glob("*.ipynb")} == names
    (own / min(names)).write_text("my work", encoding="utf-8")
    assert subprocess.check_output(command, cwd=tmp_path, text=True).split()[0] == "0"
    assert (own / min(names)).read_text(encoding="utf-8") == "my work"
