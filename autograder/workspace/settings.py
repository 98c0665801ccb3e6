"""A learner's settings: ``.fxcourse/settings.json`` in their workspace."""

from __future__ import annotations

import json
from typing import Any

from autograder.workspace import location

FILE = "settings.json"
"""The file in the state folder of a workspace. The learner writes it."""

CHECK_ON_RUN = "check_on_run"
EDIT_CMD = "edit_cmd"

SETTINGS: dict[str, tuple[object, str]] = {
    CHECK_ON_RUN: (True, "Show the card of an exercise when its answer cell is run."),
    EDIT_CMD: (
        None,
        "The command with which `fxcourse watch` opens a file, such as "
        '`"code -g {file}:{line}"`. With `""` it opens none.',
    ),
}
"""The default of each setting, and its meaning."""


def check_on_run() -> bool:
    """Whether an answer is checked when its cell is run."""
    found = _value_of(CHECK_ON_RUN)
    return found if isinstance(found, bool) else True


def edit_cmd() -> str | None:
    """The command that opens a file in an editor; `None` if the learner has not set one."""
    found = _value_of(EDIT_CMD)
    return found if isinstance(found, str) else None


def _value_of(name: str) -> Any:
    """A setting; its default if the file cannot be read."""
    default, _ = SETTINGS[name]
    workspace = location.entered() or location.default()
    if workspace is None:
        return default
    try:
        data = json.loads((workspace / location.STATE / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return default
    return data.get(name, default) if isinstance(data, dict) else default
