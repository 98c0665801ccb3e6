"""The kinds of sandboxes, and the choice of one on this machine."""

from __future__ import annotations

import subprocess
import sys
from enum import StrEnum
from functools import cache

GIVES_AWAY = (
    "Without a sandbox, a student's cell can read the class's secret and the gradebook, and write "
    "with your permissions."
)
_NOT_LINUX = (
    "Notebooks run in a sandbox, which needs Linux. Use a Linux machine, a virtual one, or "
    f"WSL 2 on Windows. {GIVES_AWAY}"
)
_REFUSED = "This machine cannot run the sandbox for notebooks. {reasons} {advice} " + GIVES_AWAY
_ADVICE = (
    "Use Linux 6.12 or newer with Landlock; then nothing else is needed. Or allow namespaces. On "
    "Ubuntu: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0. On other systems: sudo "
    "sysctl -w user.max_user_namespaces=10000. In a container: start it with --cap-add SYS_ADMIN "
    "--security-opt seccomp=unconfined --security-opt apparmor=unconfined."
)
NOT_SEEN = 3
"""Exit status of a trial in which Python did not find its own packages."""

_UNSEEN = (
    "Python does not find its own packages ({error}). Make a new environment with python -m venv, "
    "and install the course there. Please report how you made the old one"
)


class Wall(StrEnum):
    """A way to keep a student's code from the machine."""

    NAMESPACES = "namespaces"
    LANDLOCK = "landlock"
    NONE = "none"


AUTO = "auto"
"""The setting with which the strongest wall of the machine is used, and never none."""

SETTINGS = (AUTO, *Wall)


class NoBox(RuntimeError):
    """This machine cannot run a sandbox; the message says why, and what to do."""


class ServerLost(NoBox):
    """A process that forks sandboxes has ended and said nothing, perhaps for lack of memory."""


def choose(setting: str) -> Wall:
    """The wall for a setting.

    Args:
        setting: one of `SETTINGS`.

    Raises:
        NoBox: this machine does not have it.
    """
    if setting == Wall.NONE:
        return Wall.NONE
    wanted = (Wall.NAMESPACES, Wall.LANDLOCK) if setting == AUTO else (Wall(setting),)
    reasons = {}
    for wall in wanted:
        reason = why_not(wall)
        if reason is None:
            return wall
        reasons[wall] = reason
    if sys.platform != "linux":
        raise NoBox(_NOT_LINUX)
    said = " ".join(f"{wall}: {reason}." for wall, reason in reasons.items())
    raise NoBox(_REFUSED.format(reasons=said, advice=_ADVICE))


def why_no_box() -> str | None:
    """The reason why this machine has no wall, and what to do; ``None`` if it has one."""
    try:
        choose(AUTO)
    except NoBox as error:
        return str(error)
    return None


@cache
def why_not(wall: Wall) -> str | None:
    """The reason why a wall cannot be had on this machine; ``None`` if it can."""
    if sys.platform != "linux":
        return "it needs Linux"
    start = f"from autograder.sandbox.probe import try_wall; try_wall({wall.value!r})"
    tried = subprocess.run([sys.executable, "-P", "-c", start], capture_output=True, text=True)
    if tried.returncode == 0:
        return None
    lines = tried.stderr.strip().splitlines() or [f"code {tried.returncode}"]
    return _UNSEEN.format(error=lines[-1]) if tried.returncode == NOT_SEEN else lines[-1]
