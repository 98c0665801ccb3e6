"""Another environment is examined, and a part runs in it; here its Python is a script."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.builder.paths import ROOT
from autograder.cli import doctor_against, main
from autograder.version_watch import environment, page
from autograder.version_watch.environment import CannotWatch, environment_at, run_part
from autograder.version_watch.parts import PARTS, Result, results

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the interpreter here is a shell script")


def made(folder: Path, *, missing: tuple[str, ...] = (), lines: str = "", status: int = 0) -> Path:
    """An environment whose interpreter prints fixed texts.

    Args:
        folder: the environment's folder.
        missing: packages that it lacks.
        lines: the results of each part.
        status: the exit status of each part.
    """
    names = [name for name in environment._needed(list(PARTS)) if name not in missing]
    packages = dict.fromkeys(names, "9.1") | {"torch": "2.99.0+cpu", "torchvision": "0.99.1+cpu"}
    packages = {name: version for name, version in packages.items() if name not in missing}
    found = json.dumps({"python": "3.12.1", "packages": packages})
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin" / "python"
    python.write_text(
        f"#!/bin/sh\ncase $2 in\n-c) echo '{found}' ;;\n"
        f"*) printf '{lines}'; echo 'no wings' >&2; exit {status} ;;\nesac\n",
        encoding="utf-8",
    )
    python.chmod(0o755)
    return folder


def line(name: str, differs: str = "", note: str = "") -> str:
    return json.dumps({"name": name, "differs": differs, "note": note}) + r"\n"


def invoke(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main.app, ["doctor", *words])
    return done.exit_code, re.sub(r"\s+", " ", done.output)


def test_a_folder_that_is_no_environment(tmp_path: Path) -> None:
    status, said = invoke("--against", str(tmp_path))
    assert status == 2
    assert f"{tmp_path} is not a Python environment" in said and f"-m venv {tmp_path}" in said


def test_packages_that_are_missing_are_named_with_the_command(tmp_path: Path) -> None:
    place = made(tmp_path / "env", missing=("torchvision", "pytest"))
    status, said = invoke("--against", str(place))
    assert status == 2
    assert "The environment lacks torchvision, pytest." in said
    assert f"{place}/bin/python -m pip install torchvision pytest" in said
    assert invoke("--against", str(place), "--part", "private,bugs")[0] == 0


def test_a_torchvision_that_does_not_fit(tmp_path: Path) -> None:
    place = made(tmp_path / "env")
    python = place / "bin" / "python"
    text = python.read_text(encoding="utf-8")
    fails = 'case $3 in *torchvision.ops*) echo "no nms" >&2; exit 1 ;; esac'
    python.write_text(text.replace("\n", f"\n{fails}\n", 1), encoding="utf-8")
    status, said = invoke("--against", str(place), "--part", "answers")
    assert status == 2
    assert "torch and torchvision cannot be imported together there: no nms" in said
    assert invoke("--against", str(place), "--part", "bugs")[0] == 0


def test_an_interpreter_that_does_not_run(tmp_path: Path) -> None:
    place = made(tmp_path / "env")
    (place / "bin" / "python").write_text("#!/bin/sh\necho too old >&2\nexit 3\n", encoding="utf-8")
    with pytest.raises(CannotWatch, match="older than Python 3.11: too old"):
        environment_at(place, ["bugs"])
    assert environment._interpreter(place / "bin" / "python") == place / "bin" / "python"


def test_an_installed_course_has_no_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = made(tmp_path / "env")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    with pytest.raises(CannotWatch, match="Run this command in a clone"):
        environment_at(place, ["bugs"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--against", ".", "--part", "wings"), "There is no part 'wings'. Parts: private, bugs"),
        (("--part", "bugs"), "'--part' needs '--against ENVIRONMENT'"),
    ],
)
def test_options_that_say_nothing(words: tuple[str, ...], said: str) -> None:
    status, printed = invoke(*words)
    assert status == 2 and said in printed


def test_without_differences_the_lock_can_move(tmp_path: Path) -> None:
    place = made(tmp_path / "env", lines=r"1\n" + line("one", note="It is fixed."))
    status, said = invoke("--against", str(place))
    assert status == 0
    assert "# The course with PyTorch 2.99.0+cpu Python 3.12.1, torchvision 0.99.1+cpu." in said
    assert "Chapters: 1 of 1 as the course says * `one`: It is fixed." in said
    assert "0 differences. `constraints.txt` can name torch==2.99.0 and torch" in said
    assert "vision==0.99.1." in said


def test_a_difference_is_on_the_page_and_in_the_status(tmp_path: Path) -> None:
    place = made(tmp_path / "env", lines=r"2\n" + line("one") + line("two", "It is [gone]."))
    status, said = invoke("--against", str(place), "--part", "bugs, private")
    assert status == 1
    assert "private names: 1 of 2 as the course says * `two` **differs.** It is [gone]." in said
    assert "2 differences. Not tried: Questions, Answers to exercises, Chapters." in said
    assert f"`constraints.txt` stays at torch=={page.locked('torch')}." in said


@pytest.mark.parametrize(("lines", "name"), [("", "imports"), (r"5\n" + line("one"), "after one")])
def test_a_process_that_ends_early_is_a_difference(tmp_path: Path, lines: str, name: str) -> None:
    place = made(tmp_path / "env", lines=lines, status=3)
    found = list(run_part(environment_at(place, ["bugs"]), "bugs"))
    assert found[-1] == Result(name, "The process ended with status 3: no wings")


def test_a_process_that_crashes_is_a_difference(tmp_path: Path) -> None:
    place = made(tmp_path / "env")
    (place / "bin" / "python").write_text("#!/bin/sh\nkill -SEGV $$\n", encoding="utf-8")
    there = environment.Environment(place / "bin" / "python", "3.12.1", {})
    (found,) = run_part(there, "bugs")
    assert found == Result("imports", "The process ended with SIGSEGV: it printed no reason")


def test_a_page_that_is_stopped_has_what_was_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> Iterator[Result | int]:
        yield 2
        yield Result("one", "It is gone.")
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor_against, "run_part", stopped)
    status, said = invoke("--against", str(made(tmp_path / "env")))
    assert status == main.STOPPED
    assert "private names: 0 of 1 as the course says * `one` **differs.** It is gone." in said
    assert "Stopped." in said and "## Result" not in said


def test_what_cannot_be_tried_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Result:
        raise ValueError("first\nsecond")

    monkeypatch.setattr("autograder.version_watch.parts.PARTS", {"one": lambda: {"a": fail}})
    assert list(results("one")) == [1, Result("a", "It cannot be tried: ValueError: first")]


def test_this_clone_comes_first_in_the_other_environment(tmp_path: Path) -> None:
    there = environment.Environment(Path(sys.executable), "3.11.7", {})
    variables = environment._variables(there, str(tmp_path))
    assert variables["PYTHONPATH"] == str(ROOT)
    assert variables["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)


def test_parts_are_in_the_order_of_the_page() -> None:
    assert list(page.TITLES) == list(PARTS)
    assert doctor_against.chosen("chapters,private") == ["private", "chapters"]
