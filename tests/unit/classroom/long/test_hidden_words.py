"""No student sees a secret word from a hidden case of an instructor's own exercises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode

from autograder.builder import source_notebook
from autograder.classroom.grading.grade_class import GradingOptions, grade_class
from autograder.classroom.reports.class_report.make import report
from autograder.classroom.setup.create import create
from autograder.core import own_exercises
from autograder.new_exercise.templates import filled_in
from autograder.new_exercise.trying import load
from autograder.new_exercise.write import write
from tests.support.submissions import room as rooms
from tests.support.submissions.edits import add, edited, fill

FIRST, LATE = "tanh_first", "tanh_late"
SECRET = "quagmirefinch"
MARKED = """

class Marked(nn.Module):
    def __init__(self, word):
        super().__init__()
        self.word = word

    def forward(self, x):
        return torch.relu(x) - 1
"""
HIDDEN_CASE = f'model_case("calls", "calls", partial(models.Marked, "{SECRET}"), (T(4),)'

RIGHT = """\
def {name}(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target is torch.relu:
            node.target = torch.tanh
    gm.recompile()
    return gm
"""

IN_A_FILE = """\
import os

def keep(word):
    open("kept", "a").write(word + " ")

def kept():
    return open("kept").read().split() if os.path.exists("kept") else []
"""
WAYS = {
    "file": IN_A_FILE,
    "global": "KEPT = []\nkeep = KEPT.append\n\ndef kept():\n    return KEPT\n",
    "environment": """\
import os

def keep(word):
    os.environ["KEPT"] = word

def kept():
    return os.environ.get("KEPT", "").split()
""",
    "thread": IN_A_FILE + """
import threading, time
WORDS = []

def watch():
    while True:
        time.sleep(0.01)
        WORDS.extend(kept()[len(WORDS):])
        print(*WORDS)

threading.Thread(target=watch, daemon=True).start()
write = keep

def keep(word):
    threading.Thread(target=lambda: [print(word), write(word)]).start()
""",
    "restarted": IN_A_FILE + """
import signal
print(*kept())
write = keep

def keep(word):
    write(word)
    os.kill(os.getppid(), signal.SIGKILL)
""",
    "cell": IN_A_FILE + """
def keep(word):
    open("kept", "a").write(word + " ")
    open("more.py", "w").write(f"print({word!r})")
""",
}  # fmt: skip
"""Six ways to save a word: `keep` runs on the hidden case, and `kept` looks for it later."""

CARRIES = """

right = {name}

def {name}(model):
    if word := getattr(model, "word", ""):
        keep(word)
    elif kept() and not type(model).__module__.startswith("own_exercises"):  # a random model
        print(*kept())
        raise ValueError(" ".join(kept()))
    return right(model)
"""
TELLS = f"""\
import os
print(*kept())
if os.path.exists("more.py"):
    import more

def {LATE}(model):
    print("my own words", *kept())
    raise ValueError(" ".join(kept()))
"""

_CARD = "# %% [markdown] card="
"""The beginning of the cells of an exercise."""


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    own_exercises.install({})


def own_chapter(room: Path) -> NotebookNode:
    """Write two exercises of one chapter into a classroom; return their notebook."""
    for number, name in enumerate((FIRST, LATE), start=1):
        home = write(room, name)
        cases, redraws, models = home / "cases.py", home / "redraws.py", home / "models.py"
        text = cases.read_text()
        cases.write_text(text.replace("number=1", f'number={number}, chapter="{FIRST}"'))
        text = redraws.read_text()
        shown = 'model_case("calls", "calls", models.TwoCalls, (T(4),)'
        assert shown in text
        text = text.replace(shown, HIDDEN_CASE)
        redraws.write_text(text.replace("\nfrom autograder", "\nfrom functools import partial\n"
                                        "from autograder", 1))  # fmt: skip
        models.write_text(models.read_text() + MARKED)
    sources = [filled_in("cells.py", name=name, course=False) for name in (FIRST, LATE)]
    head = sources[0].partition(_CARD)[0]
    path = room / f"{FIRST}.py"
    both = (_CARD + source.partition(_CARD)[2] for source in sources)
    path.write_text(head + "\n".join(both), encoding="utf-8")
    return source_notebook(path, tuple(load(room, name) for name in (FIRST, LATE)))


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class in which each student saves a word from a hidden case, in one of the six ways."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "draft").mkdir()
    (folder / "draft" / "nbgrader_config.py").touch()
    notebook = own_chapter(folder / "draft")
    room = folder / "class"
    create(room, {FIRST: notebook})
    (folder / "draft" / own_exercises.FOLDER).rename(room / own_exercises.FOLDER)
    given = rooms.released(room, FIRST)
    for way, text in WAYS.items():
        answer = text + (RIGHT + CARRIES).format(name=FIRST)
        rooms.hand_in(room, way, FIRST, edited(given, fill(FIRST, answer), add(TELLS)))
    grade_class(room, GradingOptions(chapters=[FIRST], settings={"proof": False}))
    return room


@pytest.mark.filterwarnings("ignore:Object of type.*:sqlalchemy.exc.SAWarning")  # from nbgrader
def test_a_word_of_a_hidden_case_is_in_nothing_that_is_made_for_a_class(room: Path) -> None:
    pages = rooms.nbgrader(room, "generate_feedback", FIRST)
    assert pages.returncode == 0, pages.stdout
    report(room)
    made = [
        path
        for folder in ("autograded", "feedback", "report", ".fxcourse")
        for path in (room / folder).rglob("*")
        if path.is_file()
    ]
    assert len(made) > 3 * len(WAYS)
    assert [path for path in made if SECRET.encode() in path.read_bytes()] == []


def test_a_late_answer_shows_what_it_prints_on_visible_cases(room: Path) -> None:
    for way in WAYS:
        assert "my own words" in nbformat.writes(rooms.autograded(room, way, FIRST)), way


def test_the_word_was_kept(room: Path) -> None:
    """A later random model finds the saved word; its card reports the find without the word."""
    for way in ("file", "global", "environment", "thread"):
        text = nbformat.writes(rooms.autograded(room, way, FIRST))
        assert "ValueError: \N{HORIZONTAL ELLIPSIS}" in text, way
