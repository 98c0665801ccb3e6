"""The sandbox's folder among the temporary files, and its cleanup."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

_ROOTS = "fxcourse-box-"
"""Begins the names of root's scratch folders in /tmp."""


def home() -> Path:
    """This user's folder for the sandbox.

    A process that is killed cannot remove its files; the next process that starts removes them.
    """
    path = Path(tempfile.gettempdir()) / f"fxcourse-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        return Path(tempfile.mkdtemp(prefix="fxcourse-"))  # because another user has that name
    return path


def root() -> str:
    """An empty folder to mount on; each process sees only its own mounts there."""
    path = home() / "root"
    path.mkdir(exist_ok=True)
    return str(path)


def own() -> Path:
    """A new folder for one fork server and its imports."""
    _sweep(home())
    return Path(tempfile.mkdtemp(prefix=f"warm-{os.getpid()}-", dir=home()))


def scratch() -> Path:
    """A new folder for one sandbox. Root's can be given to another user, who must reach it."""
    if os.getuid():
        return Path(tempfile.mkdtemp(prefix=f"box-{os.getpid()}-"))
    _sweep(Path("/tmp"), _ROOTS)
    return Path(tempfile.mkdtemp(prefix=f"{_ROOTS}{os.getpid()}-", dir="/tmp"))


def remove(folder: Path) -> None:
    """Remove a folder, whatever untrusted code has made of it."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():  # folders that are unreadable, or deeper than Python can remove
        for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            subprocess.run([*command, "--", str(folder)], stderr=subprocess.DEVNULL)


def _sweep(folder: Path, prefix: str = "warm-") -> None:
    for left in folder.glob(f"{prefix}*"):
        if not Path(f"/proc/{left.name.removeprefix(prefix).split('-')[0]}").exists():
            remove(left)
