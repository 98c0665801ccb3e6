"""Checks of a server of a JupyterHub: ``fxcourse doctor --hub``.

Students run it, too. Their wheel has no package `classroom`, so these checks do without it.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from autograder.cli.doctor import Diagnosis
from autograder.environment import extras, memory

API, USER = "JUPYTERHUB_API_URL", "JUPYTERHUB_USER"
_PAGE = "See 'Teach on a JupyterHub' in the course's documentation."
_SECONDS = 10

NOT_HERE = f"This is not a server of a JupyterHub: {API} is not set."


def is_on_a_hub() -> bool:
    """Whether a JupyterHub has started this server."""
    return bool(os.environ.get(API))


def examine() -> Iterator[Diagnosis]:
    """Run all checks of this server, one after the other."""
    yield version()
    root = None
    if not extras.is_installed("nbgrader"):
        advice = f"Install it in this server's environment. {_PAGE}"
        yield Diagnosis("nbgrader", "broken", "Work is fetched and submitted with it.", advice)
    else:
        settings = nbgrader_settings()
        root = Path(settings["root"])
        yield course_id(settings)
        yield exchange(Path(settings["exchange"]))
        yield classroom(root)
    yield server_memory(chapters_here(root))
    if is_instructor():
        yield sandbox()


def is_instructor() -> bool:
    """Whether the environment can grade a class; a student's one lacks the package for it."""
    return extras.is_installed("autograder.classroom")


def version() -> Diagnosis:
    """Whether the package jupyterhub here has the Hub's version."""
    name = "JupyterHub"
    try:
        here = metadata.version("jupyterhub")
    except metadata.PackageNotFoundError:
        says = "The package jupyterhub is not installed in this environment."
        return Diagnosis(name, "broken", says, f"Install it in the version of the Hub. {_PAGE}")
    try:
        there = hub_version(os.environ[API])
    except (OSError, ValueError, KeyError) as error:
        says = f"The Hub does not answer at {os.environ[API]}: {error}."
        return Diagnosis(name, "broken", says, "Restart the server from the Hub's control panel.")
    user = os.environ.get(USER, "somebody")
    if here == there:
        return Diagnosis(name, "ok", f"The Hub and this server of {user} have version {here}.")
    says = f"The Hub has version {there}, and this server has {here}."
    advice = f"In this environment: python -m pip install jupyterhub=={there}"
    return Diagnosis(name, "broken", says, advice)


def hub_version(address: str) -> str:
    """The version that a Hub states.

    Raises:
        OSError: it does not answer.
        ValueError: its answer is not JSON.
        KeyError: its answer has no version.
    """
    with urllib.request.urlopen(address.rstrip("/") + "/", timeout=_SECONDS) as answer:
        return str(json.loads(answer.read())["version"])


def nbgrader_settings() -> dict[str, str]:
    """The settings of nbgrader here: the course's id, the class's folder, the exchange."""
    from nbgrader.apps.baseapp import NbGrader
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange.default import Exchange

    app: Any = NbGrader()
    app.initialize([])
    course = CourseDirectory(parent=app)
    root = Exchange(coursedir=course, parent=app).root
    return {"course": course.course_id, "root": course.root, "exchange": root}


def course_id(settings: dict[str, str]) -> Diagnosis:
    """Whether nbgrader knows the course; without it, lists show every course of the exchange."""
    if settings["course"]:
        return Diagnosis("Course", "ok", f"Its id is {settings['course']}.")
    advice = f"Set c.CourseDirectory.course_id in nbgrader_config.py. {_PAGE}"
    return Diagnosis("Course", "broken", "nbgrader does not know the course's id.", advice)


def exchange(root: Path) -> Diagnosis:
    """Whether the folder of the exchange can be used."""
    if not root.is_dir():
        advice = (
            f"On the Hub's machine: mkdir -p {root}; chmod 777 {root}. In a container: mount it."
        )
        return Diagnosis("Exchange", "broken", f"There is no folder {root}.", advice)
    if not os.access(root, os.W_OK | os.X_OK):
        return Diagnosis(
            "Exchange", "broken", f"{root} cannot be written to.", f"Run: chmod 777 {root}"
        )
    return Diagnosis("Exchange", "ok", f"Work goes through {root}.")


def classroom(root: Path) -> Diagnosis:
    """Whether the class is where nbgrader looks for it; a student's server needs none."""
    if not is_instructor():
        return Diagnosis("Class", "ok", "This is a student's server, so it needs no class.")
    if (root / "nbgrader_config.py").is_file() and (root / "source").is_dir():
        server = Path(os.environ.get("JUPYTERHUB_ROOT_DIR") or "~").expanduser()
        if root.resolve().is_relative_to(server.resolve()):
            return Diagnosis("Class", "ok", f"It is in {root}.")
        says = f"It is in {root}, so Formgrader does not open it: it must be below {server}."
        return Diagnosis("Class", "info", says)
    advice = (
        "Put the class there, or set c.CourseDirectory.root. If this is a student's server, give "
        f"it the students' environment. {_PAGE}"
    )
    return Diagnosis("Class", "broken", f"There is no class in {root}.", advice)


def server_memory(chapters: list[str]) -> Diagnosis:
    """Whether this server may use the memory that the chapters need."""
    name, given, needed = "Memory", memory.limit(), memory.needed(chapters)
    if given is None:
        says = f"Nothing limits it here. Chapters need up to {needed:g} GB."
        return Diagnosis(name, "info", says)
    says = f"This server may use {given:g} GB, and chapters need up to {needed:g} GB."
    if times := memory.times_used_up():
        says += f" It was used up {times} times, and a kernel or another process was ended."
    if given < needed:
        limit = memory.server_limit(chapters)
        advice = (
            f"Set c.Spawner.mem_limit to {limit:g}G, or pass --memory to fxcourse classroom hub."
        )
        return Diagnosis(name, "broken", says, advice)
    if times:
        advice = "End kernels that you do not use: menu Kernel, Shut Down All Kernels."
        return Diagnosis(name, "info", says, advice)
    return Diagnosis(name, "ok", says)


def chapters_here(root: Path | None) -> list[str]:
    """The chapters of the class: released in its folder, or installed in a student's server."""
    from autograder.workspace import given

    if root is not None and (found := sorted(path.name for path in root.glob("release/*"))):
        return found
    try:
        return sorted(path.stem for path in given.source().glob("*.ipynb"))
    except given.NoNotebooks:
        return ["99"]  # all chapters


def sandbox() -> Diagnosis:
    """The kind of sandbox that `fxcourse grade` uses in this server."""
    from autograder.sandbox.walls import AUTO, NoBox, choose

    try:
        wall = choose(AUTO)
    except NoBox as error:
        return Diagnosis("Sandbox", "broken", "There is none, so nothing is graded.", str(error))
    return Diagnosis("Sandbox", "ok", f"Submissions are graded in a sandbox of the kind {wall}.")
