"""`fxcourse doctor` finds problems and suggests a fix for each."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from typer.testing import CliRunner

from autograder.cli import doctor, main
from autograder.environment.tried_versions import FULLY, tried
from autograder.workspace import location

TESTED = next(version for version, ran in tried("torch").items() if ran == FULLY)


@pytest.mark.parametrize(
    ("version", "state"), [((3, 10), "broken"), ((3, 11), "ok"), ((3, 14), "broken")]
)
def test_python(version: tuple[int, int], state: str) -> None:
    finding = doctor.python(version)
    assert finding.state == state
    assert bool(finding.advice) == (state == "broken")


def test_what_is_wanted_is_what_the_project_requires() -> None:
    wanted = {requirement.name: str(requirement.specifier) for requirement in doctor.wanted()}
    assert wanted["torch"] == ">=2.13"
    assert {"numpy", "torchvision", "nbgrader"} <= wanted.keys()
    assert "ruff" not in wanted and "fxcourse" not in wanted


def test_a_package_in_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "wanted", lambda: [Requirement("torch>=99.1")])
    finding = doctor.packages()
    assert finding.state == "broken"
    assert re.search(r"torch is \S+ and must be >=99\.1", finding.says)
    assert "pip install" in finding.advice


def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "wanted", lambda: [Requirement("no-such-package-here>=1.0")])
    assert "no-such-package-here is not installed" in doctor.packages().says


@pytest.mark.parametrize("version", ["2.14.1+cpu", "2.15.0", "2.15.0.dev20261101+cu130"])
def test_builds_and_newer_versions_will_do(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: version)
    assert doctor._differs(Requirement("torch>=2.13")) == ""


@pytest.mark.parametrize(
    ("version", "state", "said"),
    [
        (f"{TESTED}+cpu", "ok", f"tried with this version, {TESTED}+cpu: {FULLY}."),
        ("2.14.0", "ok", "tried with versions around 2.14.0"),
        ("2.99.0", "info", "not with 2.99.0"),
    ],
)
def test_a_pytorch_that_was_not_tried_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, version: str, state: str, said: str
) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: version)
    finding = doctor.tried_pytorch()
    assert finding.state == state and said in finding.says


@pytest.mark.parametrize(
    "check", [doctor.torch_and_torchvision, doctor.matplotlib, doctor.kernel, doctor.nbgrader]
)
def test_what_an_extra_brings_is_not_broken_without_it(
    monkeypatch: pytest.MonkeyPatch, check: Callable[[], doctor.Diagnosis]
) -> None:
    monkeypatch.setattr(doctor.extras, "is_installed", lambda module: False)
    finding = check()
    assert finding.state == "info"
    assert re.search(r': pip install "fxcourse\[(learn|teach)\]"$', finding.says)


def test_a_course_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DISTRIBUTION", "no-such-distribution")
    assert "not installed in this Python" in doctor.packages().says


def test_torch_that_does_not_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_fails", lambda code: "RuntimeError: operator does not exist")
    finding = doctor.torch_and_torchvision()
    assert finding.state == "broken"
    assert finding.says.endswith("RuntimeError: operator does not exist")


def test_what_a_failing_python_said() -> None:
    assert doctor._fails("raise ValueError('a\\n b')") == "b"
    assert doctor._fails("import os; os._exit(3)") == "it ended with code 3."
    assert doctor._fails("import time; time.sleep(60)", 0.5) == "it did not end within 0.5 seconds."
    assert doctor._fails("pass") == ""


def test_alembic_that_is_not_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None if name == "alembic" else "true")
    finding = doctor.nbgrader()
    assert "'alembic' is not on your PATH" in finding.says
    assert str(Path(sys.executable).parent / "activate") in finding.advice


@pytest.mark.skipif(os.name == "nt", reason="a folder without write access, as Unix has it")
def test_a_workspace_that_cannot_be_written(tmp_path: Path) -> None:
    assert doctor.write_access(tmp_path / "not made yet" / "my").state == "ok"
    (tmp_path / "file").write_text("", encoding="utf-8")
    finding = doctor.write_access(tmp_path / "file")
    assert finding.state == "broken"
    assert "Nothing can be saved in" in finding.says


def test_a_clone_of_another_account_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(location.ENV)
    monkeypatch.setattr(location.os, "access", lambda path, mode: False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    assert location.usual() == tmp_path / "fxcourse"
    finding = doctor.write_access()
    assert (finding.state, finding.advice) == ("info", "")
    assert finding.says == (
        f"Notebooks can be saved in {tmp_path}. You cannot write into the folder of the course "
        f"itself, {location.CLONE}."
    )


def test_the_command_fails_when_something_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = doctor.Diagnosis("Torch", "broken", "It is [torn].", "Mend it.")
    monkeypatch.setattr(doctor, "examine", lambda: iter([broken]))
    done = CliRunner().invoke(main.app, ["doctor"])
    assert done.exit_code == 1
    assert "BROKEN  Torch: It is [torn]." in done.output
    assert "-> Mend it." in done.output


def test_the_command_says_that_all_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "examine", lambda: iter([doctor.Diagnosis("Torch", "ok", "Fine.")]))
    done = CliRunner().invoke(main.app, ["doctor"])
    assert done.exit_code == 0
    assert "This machine is ready for the course." in done.output


def test_a_file_that_hides_a_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine.py", "passes/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert doctor.files_here().state == "ok"
    (tmp_path / "torch.py").touch()
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "__init__.py").touch()
    found = doctor.files_here()
    assert found.state == "broken" and found.says.startswith("torch.py, json.py in this folder")
