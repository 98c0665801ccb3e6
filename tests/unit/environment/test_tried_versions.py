"""A warning in one line, shown once, names an untested PyTorch, or packages that do not fit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata
from types import ModuleType

import pytest
import torch
from packaging.version import Version

import autograder
from autograder.environment import tried_versions
from autograder.environment.tried_versions import (
    remark_on_reload,
    remark_on_torch,
    remark_on_torchvision,
    remark_on_versions,
    tried,
)

LOADED = torch.__version__


@pytest.fixture(autouse=True)
def nothing_said_yet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    remark_on_versions.cache_clear()
    yield
    remark_on_versions.cache_clear()


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that PyTorch has another version."""
    monkeypatch.setattr(torch, "__version__", "2.99.0+cpu")
    monkeypatch.setattr(tried_versions, "_installed", lambda loaded: "2.99.0")


def has(monkeypatch: pytest.MonkeyPatch, needs: list[str]) -> None:
    """Pretend that torchvision 0.28.0 is installed, with these requirements."""
    monkeypatch.setattr(metadata, "requires", lambda name: needs)
    monkeypatch.setattr(metadata, "version", lambda name: "0.28.0")


def test_versions_between_those_that_were_tried_need_no_remark() -> None:
    for version in tried("torch"):
        release = ".".join(map(str, Version(version).release[:2]))
        for same in (version, f"{version}+cu130", f"{release}.7", f"{release}.0.dev20260101"):
            assert remark_on_torch(same) == ""


@pytest.mark.parametrize("version", ["2.12.1", "2.99.0+cpu", "2.99.0a0+gitabc"])
def test_a_remark_names_the_range_and_the_version_in_one_line(version: str) -> None:
    remark = remark_on_torch(version)
    first, last = min(tried("torch"), key=Version), max(tried("torch"), key=Version)
    assert f"PyTorch {first} to {last}, and not with {version.partition('+')[0]}," in remark
    assert "\n" not in remark


def test_a_kernel_that_was_not_restarted() -> None:
    assert remark_on_reload("2.14.1+cu130", "2.14.1") == ""
    assert remark_on_reload("2.15.0.dev20261101+cpu", "2.15.0.dev20261101+cpu") == ""
    remark = remark_on_reload("2.13.0+cu128", "2.14.1")
    assert "uses PyTorch 2.13.0+cu128, but 2.14.1 is installed now. Restart" in remark


@pytest.mark.parametrize(
    ("needs", "torch_version", "fits"),
    [
        (["numpy", "torch==2.13.0"], "2.13.0+cpu", True),
        (["torch==2.13.0"], "2.14.1+cu130", False),
        (["torch>=2.14.0"], "2.15.0.dev20261101+cpu", True),
        (["torch>=2.14.0"], "2.13.0", False),
        (["numpy"], "2.13.0", True),
    ],
)
def test_torchvision(
    needs: list[str], torch_version: str, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    has(monkeypatch, needs)
    remark = remark_on_torchvision(torch_version)
    assert (remark == "") is fits
    assert fits or remark.startswith("torchvision 0.28.0 needs torch")


def test_no_torchvision_needs_no_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", missing)
    assert remark_on_torchvision("2.13.0") == ""
    monkeypatch.setattr(metadata, "version", missing)
    assert tried_versions._installed("2.13.0") == "2.13.0"


def test_the_first_import_names_another_version_once(
    other: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert autograder.check is autograder.check
    said = capsys.readouterr()
    assert said.out == "" and said.err == f"fxcourse: {remark_on_torch('2.99.0')}\n"


def test_the_first_import_names_a_kernel_that_was_not_restarted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tried_versions, "_installed", lambda loaded: "2.13.0")
    assert callable(autograder.check)
    assert capsys.readouterr().err == f"fxcourse: {remark_on_reload(LOADED, '2.13.0')}\n"


def test_the_first_import_names_a_torchvision_that_does_not_fit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tried_versions, "_installed", lambda loaded: loaded)
    has(monkeypatch, ["torch==2.13.0"])
    assert callable(autograder.check)
    said = capsys.readouterr().err
    assert said.startswith("fxcourse: torchvision 0.28.0 needs torch==2.13.0") and "\n" in said[-1]


def test_nothing_is_said_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(autograder.check)
    assert capsys.readouterr() == ("", "")


def test_nothing_is_said_where_a_class_is_graded(
    other: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = ModuleType("autograder.api")
    vars(stub)["check"] = print
    monkeypatch.setitem(sys.modules, "autograder.api", stub)
    assert autograder.check is print
    assert capsys.readouterr() == ("", "")


def test_nothing_is_said_where_nbgrader_runs_a_notebook(
    other: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert callable(autograder.check)
    assert capsys.readouterr() == ("", "")
