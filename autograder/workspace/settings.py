"""A learner's settings: ``.fxcourse/settings.json`` in their workspace."""

from __future__ import annotations

import json

from autograder.workspace import location

FILE = "settings.json"
"""The file in the state folder of a workspace. The learner writes it."""

CHECK_ON_RUN = "check_on_run"

SETTINGS = {
    CHECK_ON_RUN: (True, "Show the card of an exercise when its answer cell is run."),
}
"""The default of each setting, and its meaning."""


def check_on_run() -> bool:
    """Whether an answer is checked when its cell is run."""
    return _value_of(CHECK_ON_RUN)


def _value_of(name: str) -> bool:
    """A setting; its default if the file cannot be read or has another kind of value."""
    default, _ = SETTINGS[name]
    workspace = location.entered() or location.default()
    if workspace is None:
        return default
    try:
        data = json.loads((workspace / location.STATE / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return default
    found = data.get(name, default) if isinstance(data, dict) else default
    return found if isinstance(found, bool) else default
