"""Writes the folder with which a class is taught on a JupyterHub.

It has the settings of the Hub, and for students and instructors the settings of their servers, an
image, the wheel of the course and its requirements. The students' wheel is that of `pack`; the
instructors' wheel is the whole course.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder.classroom.setup import pack
from autograder.classroom.setup.wheel import TORCH_CPU, course_files, make_wheel
from autograder.environment import memory
from autograder.environment.errors import ClassroomError
from autograder.workspace.lab import SETTINGS

EXCHANGE = "/srv/nbgrader/exchange"
"""The folder of the exchange, if no other one is named."""

ROLES = ("student", "instructor")

INSTRUCTOR_GB = 4
"""Memory limit of an instructor's server: a notebook, and two submissions that are graded."""

_MARK = "jupyterhub_config.d"
"""A folder with this in it was written by the command, so it may be written again."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_SIZE = re.compile(r"\d+(\.\d+)?[MG]")
_LABCONFIG = "labconfig"


@dataclass(frozen=True)
class HubOptions:
    """The choices for a class on a Hub.

    Attributes:
        exchange: the folder through which work is handed out and in.
        memory: the memory limit of a student's server, such as ``2.5G``; ``""`` is by the chapters.
        instructors: names on the Hub of the people who teach.
        account: the Hub's user whose server all of them use; ``""`` if each uses an own server.
        registry: the prefix of images' names, such as ``registry.example.edu/fx/``.
    """

    exchange: str = EXCHANGE
    memory: str = ""
    instructors: Sequence[str] = ()
    account: str = ""
    registry: str = ""


def write(room: Path, folder: Path, options: HubOptions) -> str:
    """Write the folder for a class; files of an earlier call are replaced.

    Args:
        room: the classroom.
        folder: the folder to write.
        options: the choices.

    Raises:
        ClassroomError: something else is in the folder, an option cannot be used, or the class
            cannot be packed.

    Returns:
        The memory limit of a student's server.
    """
    if not _NAME.fullmatch(room.name):
        raise ClassroomError(
            f"The class's folder is called {room.name!r}. For a Hub, its name must consist of "
            "letters, digits, '.', '_' and '-'. Rename the folder."
        )
    if options.account and (not options.instructors or options.account in options.instructors):
        raise ClassroomError(
            f"The account '{options.account}' is shared: name each person who uses it with "
            "--instructor, and give it a name of its own."
        )
    if options.memory and not _SIZE.fullmatch(options.memory):
        raise ClassroomError(f"'{options.memory}' is not a size. Write it as 2.5G or 1500M.")
    if not Path(options.exchange).is_absolute():
        raise ClassroomError("The exchange must be an absolute path, because servers share it.")
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARK).is_dir():
        raise ClassroomError(f"{folder} is not empty. Name a new folder.")
    values = _values(room, folder, options)
    files = {
        path: text.encode() if isinstance(text, str) else text
        for path, text in _files(room, values).items()
    }
    for old in folder.glob("*/*.whl"):
        old.unlink()
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    _let_read(folder, files)
    return str(values["memory"])


def _let_read(folder: Path, files: Collection[str]) -> None:
    """Let the servers of all users read the files, and only the owner read the hidden cases."""
    for path in files:
        (folder / path).chmod(0o644)
        for parent in Path(path).parents:
            (folder / parent).chmod(0o755)
    (folder / "instructor").chmod(0o700)


def _values(room: Path, folder: Path, options: HubOptions) -> dict[str, Any]:
    """The values of the templates."""
    chapters = pack.released_chapters(room)
    limit = options.memory or f"{memory.server_limit(chapters):g}G"
    needed = memory.needed(chapters)
    return {
        "course": room.name,
        "room": str(room),
        "folder": str(folder),
        "exchange": options.exchange,
        "instructors": list(options.instructors),
        "account": options.account,
        "images": {role: f"{options.registry}{room.name.lower()}-{role}" for role in ROLES},
        "key": re.sub(r"[^a-z0-9]", "-", room.name.lower()),
        "claim": f"{re.sub(r'[^a-z0-9]', '-', room.name.lower())}-exchange",
        "chapters": ", ".join(name.partition("_")[0] for name in chapters),
        "first": chapters[0],
        "needed": needed,
        "memory": limit,
        "guarantee": f"{min(1.0, _gigabytes(limit)):g}G",
        "instructor_memory": f"{max(INSTRUCTOR_GB, _gigabytes(limit)):g}G",
        "index": TORCH_CPU,
        "python": pack.PYTHON,
    }


def _gigabytes(size: str) -> float:
    return float(size[:-1]) / (1000 if size.endswith("M") else 1)


def _files(room: Path, values: dict[str, Any]) -> dict[str, str | bytes]:
    """The contents of the files, by their paths in the folder."""
    config = f"{_MARK}/{values['course']}.py"
    files: dict[str, str | bytes] = {
        config: _filled_in("jupyterhub_config.py", values),
        "README.md": _filled_in("README.md", values),
    }
    files["values.yaml"] = _filled_in("values.yaml", values | {"hub_config": files[config]})
    wheels = {"student": pack.wheel_of_class(room), "instructor": make_wheel(course_files(), {})}
    requirements = pack.requirements("teach").encode()  # students need nbgrader's lists, too
    for role in ROLES:
        name, wheel = wheels[role]
        own = values | {"role": role, "wheel": name, "image": values["images"][role]}
        files |= {
            f"{role}/{name}": wheel,
            f"{role}/requirements.txt": requirements,
            f"{role}/Dockerfile": _filled_in("Dockerfile", own),
            f"{role}/jupyter/nbgrader_config.py": _filled_in("nbgrader_config.py", own),
        }
        for path, settings in _server_settings(role).items():
            files[f"{role}/jupyter/{path}"] = json.dumps(settings, indent=2) + "\n"
    return files


def _server_settings(role: str) -> dict[str, Any]:
    """The settings of JupyterLab and its server, by file, as below ``etc/jupyter``."""
    ours = json.loads((SETTINGS / "jupyter_server_config.json").read_text("utf-8"))
    news = json.loads((SETTINGS / _LABCONFIG / "default_setting_overrides.json").read_text("utf-8"))
    server: dict[str, Any] = {
        "terminado_settings": {"shell_command": ["bash"]}
    }  # a login shell changes PATH
    off = ["formgrader"]  # a Hub lets no frame show it, so it would stay blank
    if role == "student":
        off = ["create-assignment", "formgrader", "course-list"]
        server["jpserver_extensions"] = {
            "nbgrader.server_extensions.formgrader": False,
            "nbgrader.server_extensions.course_list": False,
        }
    kernels = {name: ours[name] for name in ("KernelManager", "MappingKernelManager")}
    disabled = {f"@jupyter/nbgrader:{name}": True for name in off}
    return {
        "jupyter_server_config.json": {"ServerApp": server} | kernels,
        f"{_LABCONFIG}/default_setting_overrides.json": news,
        f"{_LABCONFIG}/page_config.json": {"disabledExtensions": disabled},
    }


def _filled_in(file: str, values: Mapping[str, Any]) -> str:
    return _ENVIRONMENT.get_template(f"{file}.txt").render(values)


# The files are Python, YAML and Markdown, not HTML: nothing is escaped.
_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
)
