"""Opens a file in the learner's editor, at a line."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.environment.errors import ClassroomError

VS_CODE = "code -g {file}:{line}"
"""The command in a terminal of VS Code, where it opens the file in the same window."""

_CHOOSE = "Use another command with --edit-cmd."
_PLACEHOLDER = re.compile(r"\{(file|line)\}")


class BadEditCommand(ClassroomError):
    """A command cannot open files; the message says why."""


@dataclass
class Editor:
    """An editor that a command opens. It has no terminal, and it outlives the session.

    Attributes:
        command: the program and its arguments, with the placeholders.
    """

    command: Sequence[str]
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def open(self, file: Path, line: int) -> str:
        """Start the command.

        Returns:
            A sentence if that is not possible, or ``""``.
        """
        values = {"file": str(file), "line": str(line)}
        name, *rest = (
            _PLACEHOLDER.sub(lambda found: values[found[1]], part) for part in self.command
        )
        program = shutil.which(name)  # on Windows, `code` is a file with another name
        if program is None:
            return f"The editor was not opened, because `{name}` was not found. {_CHOOSE}"
        try:
            self._running.append(_start([program, *rest]))
        except OSError as error:
            return f"The editor was not opened: `{name}` ({error.strerror or error}). {_CHOOSE}"
        return ""

    def failures(self) -> list[str]:
        """A sentence for each command that has failed since the last call."""
        over = [each for each in self._running if each.poll() is not None]
        self._running = [each for each in self._running if each not in over]
        return [
            f"The editor was not opened: `{self.command[0]}` ended with exit status "
            f"{each.returncode}. {_CHOOSE}"
            for each in over
            if each.returncode != 0
        ]


def editor_for(command: str | None, environ: Mapping[str, str]) -> Editor | None:
    """The editor of a command. If there is no command, VS Code in a terminal of VS Code.

    Args:
        command: such as `VS_CODE`; if it is ``""``, nothing is opened.
        environ: the environment variables.

    Raises:
        BadEditCommand: the command is not of this form.
    """
    if command is None:
        is_vs_code = environ.get("TERM_PROGRAM") == "vscode" and shutil.which("code")
        command = VS_CODE if is_vs_code else ""
    parts = _parts(command, windows=sys.platform == "win32")
    return Editor(parts) if parts else None


def _parts(command: str, *, windows: bool) -> list[str]:
    """The program and its arguments. On Windows a backslash is a part of a path."""
    try:
        parts = shlex.split(command.replace("\\", "\\\\") if windows else command)
    except ValueError as error:
        raise BadEditCommand(f"The edit command {command!r} has an error: {error}.") from None
    if parts and not any("{file}" in part for part in parts[1:]):
        raise BadEditCommand(
            f"The edit command {command!r} has no {{file}} after the program. Write the file's "
            f"place, such as: {VS_CODE}"
        )
    return parts


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    """Start a program that does not write into this terminal, and does not end with it."""
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=sys.platform != "win32", creationflags=flags,
    )  # fmt: skip
