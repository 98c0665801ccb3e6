"""An error about a missing package names the extra that installs it."""

from __future__ import annotations

import pytest

from autograder.environment import extras


def test_a_module_of_an_extra_that_is_missing_is_named_with_it() -> None:
    with pytest.raises(ModuleNotFoundError) as raised:
        raise ModuleNotFoundError("No module named 'torchvision.ops'", name="torchvision.ops")
    line = 'This needs torchvision. Install it with: pip install "fxcourse[learn]"'
    assert extras.advice(raised.value) == line
    assert extras.advice(ModuleNotFoundError("No module named 'torch'", name="torch")) == ""
    assert extras.advice(ImportError("cannot import name 'x'")) == ""


def test_a_command_can_ask_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    extras.require("torchvision")
    monkeypatch.setitem(__import__("sys").modules, "torchvision", None)
    with pytest.raises(extras.MissingPackage, match=r"fxcourse\[learn\]") as raised:
        extras.require("torchvision")
    assert extras.advice(raised.value) == str(raised.value)
