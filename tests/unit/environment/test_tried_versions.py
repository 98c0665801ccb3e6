"""A warning in one line, shown once, names an untested PyTorch version."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
import torch

import autograder
from autograder.environment.tried_versions import FULLY, name_other_torch, remark_on_torch, tried

KNOWN = next(version for version, ran in tried("torch").items() if ran == FULLY)


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pretend that PyTorch has another version, and that no warning was shown yet."""
    name_other_torch.cache_clear()
    monkeypatch.setattr(torch, "__version__", "2.99.0+cpu")
    yield
    name_other_torch.cache_clear()


def test_a_version_that_was_fully_tried_needs_no_remark() -> None:
    assert remark_on_torch(KNOWN) == remark_on_torch(f"{KNOWN}+cu130") == ""


@pytest.mark.parametrize("version", ["2.13.0", "2.99.0+cpu", "2.99.0a0+gitabc"])
def test_a_remark_names_both_versions_in_one_line(version: str) -> None:
    remark = remark_on_torch(version)
    assert KNOWN in remark and version.partition("+")[0] in remark and "\n" not in remark


def test_the_first_import_names_another_version_once(
    other: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert autograder.check is autograder.check
    said = capsys.readouterr()
    assert said.out == "" and said.err == f"fxcourse: {remark_on_torch('2.99.0')}\n"


def test_nothing_is_said_where_a_class_is_graded(
    other: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = ModuleType("autograder.api")
    vars(stub)["check"] = print
    monkeypatch.setitem(sys.modules, "autograder.api", stub)
    assert autograder.check is print
    assert capsys.readouterr() == ("", "")
