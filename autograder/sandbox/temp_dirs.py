"""The sandbox's folder among the temporary files, and its cleanup."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path


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


def _sweep(folder: Path) -> None:
    for left in folder.glob("warm-*"):
        if not Path(f"/proc/{left.name.split('-')[1]}").exists():
            shutil.rmtree(left, ignore_errors=True)
