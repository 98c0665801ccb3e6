"""Checks of a machine, each with an explanation of the fix."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from autograder.environment import extras
from autograder.environment.child import python_command
from autograder.environment.tried_versions import remark_on_torch, tried
from autograder.workspace import given, location

DISTRIBUTION = "fxcourse"
REINSTALL = (
    "In the project's folder, in the course's environment, run: python -m pip install "
    '--constraint constraints.txt --editable ".[learn,teach]". '
    "With make: remove the folder .venv, then run 'make lab'."
)


@dataclass(frozen=True)
class Diagnosis:
    """The result of a check, and the fix if one is needed.

    Attributes:
        name: the thing that was checked.
        state: whether the course works with it.
        says: one sentence about it.
    """

    name: str
    state: Literal["ok", "broken", "info"]
    says: str
    advice: str = ""


def wanted() -> list[Requirement]:
    """Return the base's requirements, and those of extras for packages that are installed.

    Raises:
        importlib.metadata.PackageNotFoundError: the course is not installed.
    """
    required = [Requirement(line) for line in metadata.requires(DISTRIBUTION) or ()]
    return [
        each
        for each in required
        if canonicalize_name(each.name) != DISTRIBUTION
        and (each.marker is None or (_is_here(each.name) and _may_apply(each.marker)))
    ]


def _is_here(package: str) -> bool:
    """Whether a package is installed."""
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def _may_apply(marker: Marker) -> bool:
    """Whether a condition is true for this Python, with any of the course's extras."""
    return any(marker.evaluate({"extra": extra}) for extra in extras.EXTRAS)


def python(version: tuple[int, int] = sys.version_info[:2]) -> Diagnosis:
    """Whether the course supports this Python."""
    said = ".".join(map(str, version))
    if (3, 11) <= version < (3, 14):
        return Diagnosis("Python", "ok", f"Python {said} at {sys.executable}.")
    advice = "Install Python 3.11, make a new environment with it, and install the course there."
    return Diagnosis("Python", "broken", f"Python {said} is not 3.11, 3.12 or 3.13.", advice)


def packages() -> Diagnosis:
    """Whether every installed package has a version that works."""
    name = "Packages"
    try:
        required = wanted()
    except metadata.PackageNotFoundError:
        says = "The course is not installed in this Python."
        return Diagnosis(name, "broken", says, REINSTALL)
    wrong = [text for each in required if (text := _differs(each))]
    if wrong:
        return Diagnosis(name, "broken", "; ".join(wrong) + ".", REINSTALL)
    return Diagnosis(name, "ok", f"{len(required)} are installed, in versions that work.")


def _differs(requirement: Requirement) -> str:
    """The difference between the installed version and the required one; "" if there is none."""
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return f"{requirement.name} is not installed"
    if requirement.specifier.contains(version, prereleases=True):
        return ""
    return f"{requirement.name} is {version} and must be {requirement.specifier}"


def tried_pytorch() -> Diagnosis:
    """Whether the course was tried with this version of PyTorch."""
    name = "PyTorch"
    try:
        version = metadata.version("torch")
    except metadata.PackageNotFoundError:
        return Diagnosis(name, "broken", "It is not installed.", REINSTALL)
    if remark := remark_on_torch(version):
        return Diagnosis(name, "info", remark)
    ran = tried("torch").get(version.partition("+")[0])
    says = f"The course was tried with this version, {version}: {ran}." if ran else ""
    return Diagnosis(name, "ok", says or f"The course was tried with versions around {version}.")


def files_here() -> Diagnosis:
    """Whether a file in the current folder hides a package from notebooks in this folder."""
    installed = metadata.packages_distributions()
    others = {name for name, whose in installed.items() if DISTRIBUTION not in whose}
    known = {*sys.stdlib_module_names, *others}
    found = sorted({path.stem for path in Path.cwd().glob("*.py")} & known)
    found += sorted({path.parent.name for path in Path.cwd().glob("*/__init__.py")} & known)
    if not found:
        return Diagnosis("Files here", "ok", "No file in this folder hides a package.")
    names = ", ".join(f"{name}.py" for name in found[:5])
    says = f"{names} in this folder has the name of a package, and hides it from notebooks here."
    return Diagnosis("Files here", "broken", says, "Rename it.")


def torch_and_torchvision() -> Diagnosis:
    """Whether the two import together, which is when builds that do not match fail."""
    # In a new process, because a broken build can end the process that imports it.
    code = "import torch, torchvision; torchvision.ops.nms; print(torch.__version__)"
    name = "torch and torchvision"
    if not extras.is_installed("torchvision"):
        return Diagnosis(name, "info", f"Some exercises use it: {_how_to('torchvision')}")
    failed = _fails(code)
    if failed:
        advice = f"Install both again, in one command. {REINSTALL}"
        return Diagnosis(name, "broken", f"They cannot be imported together: {failed}", advice)
    return Diagnosis(name, "ok", "They can be imported together.")


def matplotlib() -> Diagnosis:
    """Whether pictures can be drawn."""
    code = "import matplotlib; matplotlib.use('agg'); import matplotlib.pyplot as p; p.figure()"
    if not extras.is_installed("matplotlib"):
        return Diagnosis("matplotlib", "info", f"Pictures use it: {_how_to('matplotlib')}")
    failed = _fails(code)
    if failed:
        return Diagnosis("matplotlib", "broken", f"It cannot draw pictures: {failed}", REINSTALL)
    return Diagnosis("matplotlib", "ok", "It can draw pictures.")


def kernel() -> Diagnosis:
    """Whether a notebook's kernel starts, answers, and is this Python."""
    code = (
        "from jupyter_client.manager import start_new_kernel as start\n"
        "manager, client = start(kernel_name='python3', startup_timeout=60)\n"
        "shown = []\n"
        "client.execute_interactive('import sys; print(sys.prefix)', timeout=60,\n"
        "    output_hook=lambda m: shown.append(m['content'].get('text', '')))\n"
        "manager.shutdown_kernel(now=True)\n"
        "import sys\n"
        "sys.exit(''.join(shown).strip() != sys.prefix and 'The kernel runs another Python: '"
        " + ''.join(shown).strip())"
    )
    if not (extras.is_installed("jupyterlab") and extras.is_installed("ipykernel")):
        return Diagnosis("Jupyter kernel", "info", f"Notebooks use it: {_how_to('jupyterlab')}")
    failed = _fails(code)
    if failed:
        return Diagnosis("Jupyter kernel", "broken", f"It does not run: {failed}", REINSTALL)
    return Diagnosis("Jupyter kernel", "ok", "It starts, and runs this Python.")


def nbgrader() -> Diagnosis:
    """Whether the commands nbgrader and alembic are on the PATH; nbgrader calls alembic."""
    if not extras.is_installed("nbgrader"):
        return Diagnosis("nbgrader", "info", f"Only instructors use it: {_how_to('nbgrader')}")
    for command in ("nbgrader", "alembic"):
        found = shutil.which(command)
        if not found:
            says = f"The command '{command}' is not on your PATH. Instructors need it."
            return Diagnosis("nbgrader", "broken", says, _activate())
        done = subprocess.run([found, "--version"], capture_output=True)
        if done.returncode:
            says = f"The command '{command}' does not run: {found}"
            return Diagnosis("nbgrader", "broken", says, REINSTALL)
    return Diagnosis("nbgrader", "ok", "The commands nbgrader and alembic are on your PATH.")


def namespaces() -> Diagnosis:
    """Whether students' notebooks can run in a sandbox of namespaces; only instructors need one."""
    return _sandbox("namespaces", "Students' notebooks can be graded in the strongest sandbox.")


def landlock() -> Diagnosis:
    """Whether they can run in a sandbox that needs no namespaces."""
    return _sandbox("landlock", "Students' notebooks can be graded where namespaces are forbidden.")


def _sandbox(name: str, says: str) -> Diagnosis:
    from autograder.sandbox.walls import Wall, why_not

    title, reason = f"Sandbox, {name}", why_not(Wall(name))
    if reason is None:
        return Diagnosis(title, "ok", says)
    return Diagnosis(
        title, "info", f"Needed only to grade a class, if there is no other: {reason}."
    )


def _activate() -> str:
    scripts = Path(sys.executable).parent
    if os.name == "nt":
        return f"Activate the environment first: {scripts / 'activate'}"
    return f"Activate the environment first: source '{scripts / 'activate'}'"


def write_access(folder: Path | None = None) -> Diagnosis:
    """Whether notebooks can be saved in the workspace, or in the folder of a new one."""
    folder = folder or location.current() or location.usual()
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        advice = "Allow yourself to write there, or use another folder: fxcourse lab FOLDER."
        says = f"Nothing can be saved in {folder}: {error.strerror}."
        return Diagnosis("Write access", "broken", says, advice)
    says = f"Notebooks can be saved in {folder}."
    if given.IN_CLONE.is_dir() and not location.is_own_clone():
        says += f" You cannot write into the folder of the course itself, {location.CLONE}."
        return Diagnosis("Write access", "info", says)
    return Diagnosis("Write access", "ok", says)


def chromium() -> Diagnosis:
    """Whether the browser tests can run; learners and instructors do not need them."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found:
        return Diagnosis("Chromium", "info", f"The tests of 'make test-browser' use {found}.")
    return Diagnosis(
        "Chromium", "info", "Not installed. Only the tests of 'make test-browser' use it."
    )


def _how_to(module: str) -> str:
    """The command that installs the extra with a module."""
    _, _, command = extras.how_to_install(module).partition(": ")
    return command


def _fails(code: str, seconds: float = 180) -> str:
    """The last line of this code's error in a new Python; ``""`` if it succeeds."""
    try:
        done = subprocess.run(
            python_command("-c", code),
            capture_output=True, text=True, errors="replace", timeout=seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"it did not end within {seconds:g} seconds."
    if not done.returncode:
        return ""
    said = " ".join((done.stderr.strip().splitlines() or [""])[-1].split())
    return said or f"it ended with code {done.returncode}."


CHECKS: tuple[Callable[[], Diagnosis], ...] = (
    python,
    packages,
    tried_pytorch,
    files_here,
    torch_and_torchvision,
    matplotlib,
    kernel,
    nbgrader,
    namespaces,
    landlock,
    write_access,
    chromium,
)


def examine() -> Iterator[Diagnosis]:
    """Run all checks, one after the other."""
    for check in CHECKS:
        yield check()
