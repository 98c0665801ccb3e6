"""Another Python environment: its interpreter, its packages, and the parts of the watch in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from packaging.requirements import Requirement

from autograder.builder.paths import ROOT
from autograder.version_watch.parts import Result

PLACES = "bin/python", "Scripts/python.exe", "python.exe"
"""The interpreter in an environment, on the systems that the course supports."""

LIGHT = "private", "bugs"
"""Parts that need the base only."""

FOR_TESTS = "pytest", "networkx"
"""Packages that questions and answers import, in addition to the extras."""

_EXAMINE = """
import importlib.metadata, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps({"python": ".".join(map(str, sys.version_info[:3])), "packages": found}))
"""


_IMPORT = "import torch, torchvision; torchvision.ops.nms"
"""It fails if the two come from builds that do not match."""


class CannotWatch(Exception):
    """The course cannot be tried in an environment; the message says why, and what to do."""


@dataclass(frozen=True)
class Environment:
    """A Python environment.

    Attributes:
        python: its interpreter.
        version: the version of its Python.
        packages: those packages that the course needs and it has, with their versions.
    """

    python: Path
    version: str
    packages: dict[str, str]


def environment_at(place: Path, parts: Sequence[str]) -> Environment:
    """Examine an environment.

    Args:
        place: its folder, or its interpreter.
        parts: the parts to run in it.

    Raises:
        CannotWatch: there is no environment, or it lacks a package that a part needs, or its
            torchvision does not fit.
    """
    if not (ROOT / "tests" / "exercises").is_dir():
        raise CannotWatch(
            "Bugs, questions, chapters and the answers to exercises are in a clone of the project "
            "only, and not in an installed course. Run this command in a clone."
        )
    python = _interpreter(place)
    needed = _needed(parts)
    old = f"{python} does not run, or is older than Python 3.11"
    found = json.loads(_output(python, _EXAMINE, *needed, problem=old))
    if missing := [name for name in needed if name not in found["packages"]]:
        names = " ".join(missing)
        raise CannotWatch(
            f"The environment lacks {', '.join(missing)}. "
            f"Install what is missing: {python} -m pip install {names}"
        )
    if "torchvision" in needed:
        _output(python, _IMPORT, problem="torch and torchvision cannot be imported together there")
    return Environment(python, found["python"], found["packages"])


def _output(python: Path, code: str, *arguments: str, problem: str) -> str:
    """The output of code in another Python.

    Raises:
        CannotWatch: it fails; the message begins with `problem`.
    """
    done = subprocess.run(
        [python, "-P", "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it printed no reason"])[-1]
        raise CannotWatch(f"{problem}: {said}")
    return done.stdout


def _interpreter(place: Path) -> Path:
    place = Path(os.path.abspath(place))  # the interpreter of an environment is often a link
    if place.is_file():
        return place
    for name in PLACES:
        if (place / name).is_file():
            return place / name
    raise CannotWatch(
        f"{place} is not a Python environment: it has no {PLACES[0]}. To make one: "
        f"{Path(sys.executable).name} -m venv {place}"
    )


def _needed(parts: Sequence[str]) -> list[str]:
    """The packages that the parts import, by the names in ``pyproject.toml``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = list(project["dependencies"])
    if not set(parts) <= set(LIGHT):
        extras = project["optional-dependencies"]
        lines += [*extras["learn"], *extras["teach"], *FOR_TESTS]
    requirements = map(Requirement, lines)
    return [each.name for each in requirements if not each.marker and each.name != project["name"]]


def run_part(environment: Environment, part: str) -> Iterator[Result | int]:
    """Run a part in an environment; yield the number of things in it, then each result.

    If the process ends early, the last result says so.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with open(Path(folder) / "stderr", "w+", encoding="utf-8", errors="replace") as said:
            command = [str(environment.python), "-P", "-m", "autograder.version_watch.child", part]
            child = subprocess.Popen(
                command, cwd=folder, env=_variables(environment, folder),
                stdout=subprocess.PIPE, stderr=said, text=True, encoding="utf-8",
            )  # fmt: skip
            last = ""
            try:
                for line in child.stdout or ():
                    written = json.loads(line)
                    result = written if isinstance(written, int) else Result(**written)
                    last = last if isinstance(result, int) else result.name
                    yield result
                status = child.wait()
            finally:
                child.kill()  # if this run was interrupted
            if status:
                yield Result(f"after {last}" if last else "imports", _early_end(status, said))


def _early_end(status: int, said: IO[str]) -> str:
    said.seek(0)
    lines = said.read().strip().splitlines() or ["it printed no reason"]
    how = signal.Signals(-status).name if status < 0 else f"status {status}"
    return f"The process ended with {how}: {lines[-1][:300]}"


def _variables(environment: Environment, folder: str) -> dict[str, str]:
    """Environment variables: this course's files, and none of the user's own."""
    programs = environment.python.parent
    return os.environ | {
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}",
        "OMP_NUM_THREADS": "1",
        "FXCOURSE_WORKSPACE": "",
        "XDG_STATE_HOME": folder,
        "JUPYTER_DATA_DIR": folder,
        "IPYTHONDIR": folder,
    }
