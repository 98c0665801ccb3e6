"""`fxcourse doctor` finds no problems in the environment of the tests."""

from __future__ import annotations

from autograder.cli import doctor


def test_this_machine_is_well() -> None:
    findings = list(doctor.examine())
    assert [f for f in findings if f.state == "broken"] == []
    assert [f.name for f in findings if f.state == "info"] == ["Chromium"]
