"""`fxcourse doctor --hub` examines a server of a JupyterHub."""

from __future__ import annotations

import io
import json
import os
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.cli import doctor_hub, main
from autograder.environment import memory


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Hub of version 6.1.1, and the same version here."""
    monkeypatch.setenv("JUPYTERHUB_API_URL", "http://hub:8081/hub/api")
    monkeypatch.setenv("JUPYTERHUB_USER", "ann")
    answer = json.dumps({"version": "6.1.1"}).encode()
    monkeypatch.setattr(
        doctor_hub.urllib.request, "urlopen", lambda url, timeout: io.BytesIO(answer)
    )
    real = metadata.version
    monkeypatch.setattr(
        metadata, "version", lambda name: "6.1.1" if name == "jupyterhub" else real(name)
    )


def test_outside_of_a_hub_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUPYTERHUB_API_URL")
    done = CliRunner().invoke(main.app, ["doctor", "--hub"])
    assert done.exit_code == 1
    assert done.output == f"{doctor_hub.NOT_HERE}\n"


def test_versions_that_are_equal() -> None:
    finding = doctor_hub.version()
    assert finding.state == "ok" and "this server of ann have version 6.1.1" in finding.says


def test_versions_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: "5.4.0")
    finding = doctor_hub.version()
    assert finding.state == "broken" and "pip install jupyterhub==6.1.1" in finding.advice


def test_a_hub_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(url: str, timeout: float) -> None:
        raise OSError("refused")

    monkeypatch.setattr(doctor_hub.urllib.request, "urlopen", refuse)
    assert "does not answer at http://hub:8081/hub/api: refused." in doctor_hub.version().says


def test_an_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor_hub.exchange(tmp_path).state == "ok"
    finding = doctor_hub.exchange(tmp_path / "none")
    assert finding.state == "broken" and f"mkdir -p {tmp_path / 'none'}" in finding.advice
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "cannot be written to" in doctor_hub.exchange(tmp_path).says


def test_a_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor_hub.classroom(tmp_path).state == "broken"
    (tmp_path / "nbgrader_config.py").touch()
    (tmp_path / "source").mkdir()
    finding = doctor_hub.classroom(tmp_path)
    assert finding.state == "info" and "Formgrader does not open it" in finding.says
    monkeypatch.setenv("JUPYTERHUB_ROOT_DIR", str(tmp_path))
    assert doctor_hub.classroom(tmp_path).state == "ok"
    monkeypatch.setattr(doctor_hub, "is_instructor", lambda: False)
    assert "needs no class" in doctor_hub.classroom(tmp_path / "none").says


@pytest.mark.parametrize(
    ("limit", "times", "state", "said"),
    [
        (None, 0, "info", "Nothing limits it"),
        (2.0, 0, "ok", "may use 2 GB"),
        (0.5, 0, "broken", "may use 0.5 GB, and chapters need up to 0.72 GB"),
        (2.0, 3, "info", "It was used up 3 times, and a kernel"),
    ],
)
def test_memory(
    monkeypatch: pytest.MonkeyPatch, limit: float | None, times: int, state: str, said: str
) -> None:
    monkeypatch.setattr(memory, "limit", lambda: limit)
    monkeypatch.setattr(memory, "times_used_up", lambda: times)
    finding = doctor_hub.server_memory(["03_manipulation"])
    assert finding.state == state and said in finding.says
    assert bool(finding.advice) == (state == "broken" or times > 0)


def test_the_chapters_are_those_of_the_class(tmp_path: Path) -> None:
    assert "15_capstone" in doctor_hub.chapters_here(None)
    (tmp_path / "release" / "03_manipulation").mkdir(parents=True)
    assert doctor_hub.chapters_here(tmp_path) == ["03_manipulation"]


def test_all_lines_of_an_instructors_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "limit", lambda *_: 4.0)
    (tmp_path / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.CourseDirectory.course_id = 'fx101'\n"
        f"c.Exchange.root = {str(tmp_path)!r}\n",
        encoding="utf-8",
    )
    (tmp_path / "source").mkdir()
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main.app, ["doctor", "--hub"])
    assert done.exception is None, done.output
    names = [
        line[8:].partition(":")[0] for line in done.output.splitlines()[1:] if line[:2] != "  "
    ]
    assert names[:6] == ["JupyterHub", "Course", "Exchange", "Class", "Memory", "Sandbox"]
    assert "Its id is fx101." in done.output and f"through {tmp_path}" in done.output.replace(
        "\n", ""
    )
