"""An instructor's own exercise is checked, boxed and judged like ours, on random models too."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.boxed.preload import not_allowed
from autograder.classroom.setup.pack import students_wheel
from autograder.classroom.setup.wheel import unpacked
from autograder.core import own_exercises
from autograder.environment.errors import ClassroomError
from autograder.exercises import EXERCISES, of_chapter
from autograder.new_exercise.trying import DoesNotWork, load, tried
from autograder.new_exercise.write import write

NAME = "relu_to_tanh"
RIGHT = """\
def relu_to_tanh(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is torch.relu:
            node.target = torch.tanh
    gm.recompile()
    return gm
"""


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    own_exercises.install({})


@pytest.fixture
def room(tmp_path: Path) -> Path:
    room = tmp_path / "class"
    room.mkdir()
    (room / "nbgrader_config.py").touch()
    write(room, NAME)
    return room


def test_what_is_written_works(room: Path) -> None:
    exercise = load(room, NAME)
    found = list(tried(room, exercise))
    assert all(one.as_meant for one in found), found
    assert sum(one.right for one in found) >= 3 and sum(not one.right for one in found) >= 3
    assert NAME in EXERCISES and of_chapter(NAME) == (EXERCISES[NAME],)
    assert NAME not in list(EXERCISES.keys())[:1] and "add_to_mul" in EXERCISES
    own_exercises.install({})
    assert NAME not in EXERCISES
    with pytest.raises(KeyError):
        EXERCISES[NAME]


def change(room: Path, file: str, old: str, new: str) -> None:
    path = room / "exercises" / NAME / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_answers_that_are_not_judged_as_meant_are_named(room: Path) -> None:
    path = room / "exercises" / NAME / "answers.py"
    text = path.read_text().partition("RIGHT = [")[0]
    path.write_text(
        text + "RIGHT = [only_the_first]\nWRONG = {new_nodes: '', not_recompiled: 'x'}\n"
    )
    found = {one.answer: one for one in tried(room, load(room, NAME))}
    assert not any(one.as_meant for one in found.values())
    assert found["only_the_first"].said.startswith("wrong-result: ")
    assert found["new_nodes"].said == "passed" and found["not_recompiled"].said == "stale-code"


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("cases.py", '"one call", "calls"', '"one call", "x"', "has an unknown aspect: 'x'"),
        ("cases.py", "kind=", "procedure=", "procedure=… of an Exercise is now kind=…"),
        ("cases.py", "number=1", "rubric='x'", "Rename rubric.py to key.py"),
        ("cases.py", '(X,)),', '(X,), hidden=True),', "Move hidden cases into redraws.py"),
        ("redraws.py", "REDRAWS =", "NO =", "redraws.py cannot be imported: Attr.*REDRAWS"),
        ("redraws.py", "(T(4),)", "(T(4),), hidden=True", "Move hidden cases into redraws.py"),
        ("cases.py", 'kind="transform"', 'kind="driven"', "is now called 'compiler_backend'"),
        ("cases.py", 'kind="transform"', 'kind="pass"', "but the kinds are analysis, compiler_ba"),
        ("cases.py", "import models", "import nothing", "redraws.py cannot be imported: ImportErr"),
        ("key.py", ", exchanging(TanhForRelu)", "", "has no expected result for 'one call'"),
        ("key.py", "is torch.relu else", "is torch.relu_ else (", "key.py: SyntaxError"),
        ("key.py", "KEY =", "NO =", "KEY cannot be imported from key.py"),
        ("models.py", "import torch", "import torch, autograder.judge", "imports .*der.judge"),
        ("models.py", "import torch", "import own_exercises.relu_to_tanh.key", "imported alone"),
        ("cases.py", "models.OneCall,", "lambda: models.OneCall(),", "'one call' cannot be sent"),
        ("answers.py", "RIGHT =", "NONE =", "needs a list RIGHT"),
    ],
)  # fmt: skip
def test_what_does_not_work_is_said(
    room: Path, file: str, old: str, new: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(room, file, old, new)
    if file in ("key.py", "answers.py"):  # these need no process for models
        monkeypatch.setattr("autograder.new_exercise.trying._look_at_models", lambda exercise: None)
    with pytest.raises(DoesNotWork, match=said):
        list(tried(room, load(room, NAME)))


def test_names_that_cannot_be(room: Path) -> None:
    for name, said in (
        ("a-b", "cannot be the name"),
        ("class", "name"),
        ("retarget", "already has an"),
    ):
        with pytest.raises(ClassroomError, match=said):
            write(room, name)
    with pytest.raises(ClassroomError, match="is not a classroom"):
        write(room.parent, "fresh")


def test_a_students_process_gets_what_builds_models_alone(room: Path) -> None:
    texts = own_exercises.texts_in(room / "exercises")
    assert set(texts) == {f"{NAME}/{part}.py" for part in ("cases", "models", "key", "redraws")}
    own_exercises.install(texts)
    sent = own_exercises.texts_for_answers([f"own_exercises.{NAME}.models", "torch"])
    assert set(sent) == {f"{NAME}/models.py"}
    own_exercises.install(sent)
    for part in ("cases", "key", "redraws"):
        with pytest.raises(ModuleNotFoundError):
            __import__(f"own_exercises.{NAME}.{part}")
    held = {"own_exercises", f"own_exercises.{NAME}", f"own_exercises.{NAME}.models"}
    assert not not_allowed(held & set(sys.modules))
    bad = {f"own_exercises.{NAME}.cases", f"own_exercises.{NAME}.key"}
    assert not_allowed(held | bad) >= bad


def test_the_folder_says_name_chapter_and_key(room: Path) -> None:
    exercise = load(room, NAME)
    assert (exercise.name, exercise.chapter) == (NAME, NAME)
    assert exercise.key == f"own_exercises.{NAME}.key"
    hidden = [case.name for case in exercise.cases if case.hidden]
    assert hidden == ["redraw: calls", "redraw: others"] and exercise.cases[-1].hidden
    change(room, "cases.py", "number=1,", "number=1, chapter='03_manipulation',")
    assert load(room, NAME).chapter == "03_manipulation"


def test_a_key_of_version_0_1_is_not_lost(room: Path) -> None:
    home = room / "exercises" / NAME
    (home / "key.py").rename(home / "rubric.py")
    assert f"{NAME}/key.py" in own_exercises.texts_in(room / "exercises")
    assert load(room, NAME).key == f"own_exercises.{NAME}.key"


def test_it_goes_with_what_students_are_given(room: Path, tmp_path: Path) -> None:
    _, data = students_wheel({}, own_exercises.texts_for_students(room / "exercises"))
    files = unpacked(data)
    assert f"own_exercises/{NAME}/redraws.py" not in files
    assert f"own_exercises/{NAME}/key.py" in files
    assert not [path for path in files if "answers" in path and "own_exercises" in path]
    for path, text in files.items():
        (tmp_path / "packed" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "packed" / path).write_bytes(text)
    script = f"import torch\nfrom torch import fx\nfrom autograder import grade\n{RIGHT}\n"
    script += "print(grade('relu_to_tanh', relu_to_tanh).status)"
    (tmp_path / "try.py").write_text(script)
    places = os.environ | {"PYTHONPATH": str(tmp_path / "packed")}
    done = subprocess.run(
        [sys.executable, "-P", "try.py"], cwd=tmp_path, env=places, text=True, capture_output=True
    )
    assert done.stdout.split() == ["passed"], done.stderr[-2000:]
    command = [sys.executable, "-P", "-m", "autograder.cli", "--help"]
    shown = subprocess.run(command, cwd=tmp_path, env=places, encoding="utf-8", capture_output=True)
    assert "JupyterLab" in shown.stdout and "Teach" not in shown.stdout, shown.stderr
