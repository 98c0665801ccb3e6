"""A learner's settings, in a file that may contain anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.workspace import location, settings


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ('{"edit_cmd": "subl {file}"}', "subl {file}"), ('{"edit_cmd": ""}', ""),
        ('{"edit_cmd": 3}', None), ("{}", None), ("[", None), ("[]", None), (None, None),
    ],
)  # fmt: skip
def test_the_command_that_opens_a_file(
    text: str | None, command: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / location.STATE
    state.mkdir()
    (state / location.MARK).write_text("{}")
    if text is not None:
        (state / settings.FILE).write_text(text)
    monkeypatch.setenv(location.ENV, str(tmp_path))
    assert settings.edit_cmd() == command
    assert settings.check_on_run(), "one setting has nothing to do with another"
