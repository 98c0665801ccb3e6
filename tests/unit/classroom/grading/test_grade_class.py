"""Each exercise scores its answer's worth and no more, whatever the rest of the notebook does."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.submission.repair import read_forgivingly
from autograder.submission.seeds import code_of, noted_seed, pool_of, seed_key, seed_of
from tests.support.numbers import numbers_room as numbers
from tests.support.submissions import room as rooms
from tests.support.submissions.edits import (
    Edit,
    add,
    delete,
    duplicate,
    edited,
    fill,
    retype,
    set_metadata,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:Object of type.*:sqlalchemy.exc.SAWarning"),  # from nbgrader
]

AFTER = "def after(number):\n    return number + 1 if number >= 0 else number - 1"
HALF = "def half(number):\n    return number / 2"
NEVER = """\
while True:
    try:
        while True:
            pass
    except BaseException:
        pass"""

SHORT = {"cell_cpu": 3.0, "cell_wall": 3.0}
GOOD = [fill("after", AFTER), fill("half", HALF)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return numbers.room(tmp_path_factory.mktemp("made"))


@pytest.fixture
def room(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "a class"))


def graded(room: Path, *edits: Edit, **settings: object) -> tuple[dict, NotebookNode, str]:
    """Grade a student with these edits; return points, the graded notebook and the log."""
    work = edited(rooms.released(room, numbers.CHAPTER), *edits)
    log = numbers.grade(room, {"ann": work}, **settings)
    assert rooms.waiting(room, numbers.CHAPTER) == []
    points = rooms.points(room, numbers.CHAPTER)["ann"]
    return points, rooms.autograded(room, "ann", numbers.CHAPTER), log


def outputs(nb: NotebookNode, source: str) -> str:
    """Return the output of the cell whose source begins this way, as text."""
    (cell,) = (cell for cell in nb.cells if cell.source.startswith(source))
    texts = [
        output.get("text") or output.get("evalue") or output.get("data", {}).get("text/plain", "")
        for output in cell.get("outputs", ())
    ]
    return "\n".join(texts)


WARNS = HALF.replace("\n", "\n    warnings.warn('old')\n    print(number, file=sys.stderr)\n")
ODD = (
    "import sys, warnings",
    "warnings.warn('old')\nprint('careful', file=sys.stderr)",
    "1 / 0",
    "name = input('Name: ')",
    "list = str = globals = None",
    "import os\nos.chdir('/')",
    "%%time\nhalf = 3",
    "!true",
)
EVIL = """\
class Everything:
    def __eq__(self, other):
        return True
    def __call__(self, *args):
        return self
    __hash__ = object.__hash__
"""

# A student's edits, and the points for `after` (of 6) and `half` (of 3).
SCORES: dict[str, tuple[list[Edit], tuple[float, float]]] = {
    "all right": (GOOD, (6, 3)),
    "nothing written": ([], (0, 0)),
    "the task without the rare case": (
        [fill("after", "def after(number):\n    return number + 1"), fill("half", HALF)],
        (4, 3),
    ),
    "fitted to the visible cases; a lambda": (
        [
            fill("after", "def after(number):\n    return {1: 2, -1: -2}[number]"),
            fill("half", "half = lambda number: number / 2"),
        ],
        (0, 3),
    ),
    "fitted to all but the random cases": (
        [GOOD[0], fill("half", "def half(number):\n    return {4: 2.0, -4: -2.0}.get(number)")],
        (6, 2.25),
    ),
    "raises; does not parse": (
        [
            fill("after", "def after(number):\n    return number.next"),
            fill("half", "def half(:"),
        ],
        (0, 0),
    ),
    "no function": ([fill("after", "after = 5"), GOOD[1]], (0, 3)),
    "odd but right": (
        [*(add(line, above="after") for line in ODD), GOOD[0], fill("half", WARNS)],
        (6, 3),
    ),
    "accidents with cells": (
        [*GOOD, delete("check-after"), retype("half"), duplicate("check-half")],
        (6, 3),
    ),
    "check edited, points forged": (
        [fill("check-after", "assert True"), set_metadata("check-half", points=600), GOOD[1]],
        (0, 3),
    ),
    "an untouched copy below": ([GOOD[0], duplicate("after", at_end=True)], (6, 0)),
    "answer only below its check": (
        [delete("after"), add(AFTER, below="check-half"), add(HALF)],
        (6, 3),
    ),
    "an object that equals everything": (
        [fill("after", EVIL + "after = Everything()"), fill("half", f"{EVIL}half = Everything()")],
        (0, 0),
    ),
    "a score that is displayed": (
        [add("get_ipython().displayhook(6.0)\n6.0", below="after")],
        (0, 0),
    ),
    "no errors shown": (
        [add("get_ipython().showtraceback = lambda *args, **kwargs: None", above="after")],
        (0, 0),
    ),
    "every later cell made to pass": (
        [
            add("get_ipython().input_transformers_post.append(lambda lines: ['pass'])"),
            add("get_ipython().input_transformers_post.append(lambda _: ['pass'])", above="after"),
        ],
        (0, 0),
    ),
}


@pytest.mark.parametrize("name", SCORES)
def test_score(room: Path, name: str) -> None:
    edits, (after, half) = SCORES[name]
    points, _, log = graded(room, *edits)
    assert points == {"after": pytest.approx(after), "half": pytest.approx(half)}, log


@pytest.mark.parametrize("end", ["os._exit(1)", "os.kill(os.getpid(), 9)", "quit()", NEVER])
def test_cell_that_ends_or_blocks_python_costs_only_itself(room: Path, end: str) -> None:
    lines = f"import os\n{end}"
    points, nb, _ = graded(
        room,
        *GOOD,
        add("kept = 5", above="after"),
        add(lines, below="after"),
        cell_cpu=3.0,
        cell_wall=3.0,
    )
    assert points == {"after": 6, "half": 3}
    assert "ended or blocked Python" in outputs(nb, lines)


@pytest.mark.parametrize(
    "body", ["__import__('os')._exit(1)", "while True: pass", "return after(number)", "exit()"]
)
def test_answer_that_ends_or_blocks_python_costs_only_its_exercise(room: Path, body: str) -> None:
    points, nb, _ = graded(room, fill("after", f"def after(number):\n    {body}"), GOOD[1])
    assert points == {"after": 0, "half": 3}
    assert "after" in outputs(nb, "check(after)")


def test_answer_that_cannot_be_stopped_costs_only_its_exercise(room: Path) -> None:
    body = "def after(number):\n" + "".join(f"    {line}\n" for line in NEVER.split("\n"))
    points, nb, _ = graded(room, fill("after", body), GOOD[1], trial=6.0)
    assert points == {"after": 0, "half": 3}
    assert "could not be stopped" in " ".join(outputs(nb, "check(after)").split())


def test_endless_cell_is_interrupted_and_keeps_what_it_did(room: Path) -> None:
    lines = "reached = True\nwhile True:\n    pass"
    again = "after.reached = reached"
    points, nb, _ = graded(
        room,
        *GOOD,
        add(lines, below="after"),
        add(again, above="half"),
        cell_cpu=3.0,
        cell_wall=3.0,
    )
    assert points == {"after": 6, "half": 3}
    assert outputs(nb, again) == ""


def test_notebook_that_keeps_ending_python_comes_to_an_end(room: Path) -> None:
    ends = [add("import os; os._exit(1)", below="check-after") for _ in range(4)]
    points, nb, log = graded(room, *GOOD, *ends, restarts=3)
    assert points == {"after": 6, "half": 0}
    assert "used up 3 processes" in log
    assert "could not be tried" in outputs(nb, "check(half)")


def test_flood_is_bounded(room: Path) -> None:
    flood = "for _ in range(400_000):\n    print('x' * 1000)\ndone = True"
    pictures = (
        "from IPython.display import display, HTML\nwhile True:\n    display(HTML('x' * 10**6))"
    )
    calls = HALF.replace("\n", "\n    print('y' * 10**7)\n")
    points, nb, _ = graded(
        room,
        fill("after", AFTER),
        fill("half", calls),
        add(flood, below="after"),
        add(pictures, below="check-after"),
        add("assert done", above="half"),
    )
    assert points == {"after": 6, "half": 3}
    assert len(outputs(nb, flood)) < 210_000 and "characters are kept" in outputs(nb, flood)
    assert outputs(nb, "assert done") == ""
    path = room / "autograded" / "ann" / numbers.CHAPTER / f"{numbers.CHAPTER}.ipynb"
    assert path.stat().st_size < 15_000_000


def test_every_check_has_its_card(room: Path) -> None:
    """Cards are drawn in a box, which cannot read files."""
    _, nb, log = graded(room, fill("after", AFTER), fill("half", "def half(number):\n    return 0"))
    for grade_id in ("check-after", "check-half"):
        (cell,) = (
            c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id
        )
        (output,) = cell.outputs
        assert "<div" in output.data["text/html"]
    assert "could not be drawn" not in log


def test_seed_is_the_students_own_and_noted(room: Path) -> None:
    works = {name: edited(rooms.released(room, numbers.CHAPTER), *GOOD) for name in ("ann", "bo")}
    numbers.grade(room, works)
    seeds = {name: noted_seed(rooms.autograded(room, name, numbers.CHAPTER)) for name in works}
    secret = re.search(r"secret = '(\w+)'", (room / "nbgrader_config.py").read_text())[1]
    assert len(secret) == 32
    code = code_of(rooms.autograded(room, "ann", numbers.CHAPTER))
    pool = pool_of(secret, numbers.CHAPTER)
    assert seeds == {name: seed_of(seed_key(secret, name), code, pool) for name in works}
    assert len(set(seeds.values())) == 2


def test_seed_is_another_for_other_code_and_the_same_for_other_outputs() -> None:
    nb = new_notebook(cells=[new_code_cell("x = 1"), new_markdown_cell("words")])
    code, key = code_of(nb), seed_key("secret", "ann")
    nb.cells[0].outputs = [new_output("stream", text="1")]
    nb.cells[0].metadata["seen"], nb.cells[1].source = True, "other words"
    assert code_of(nb) == code
    nb.cells[0].source = "x = 2"
    assert seed_of(key, code_of(nb), 1) != seed_of(key, code, 1)
    assert seed_of(seed_key("secret", "bo"), code, 1) != seed_of(key, code, 1)
    assert pool_of("secret", "a") != pool_of("secret", "b") != pool_of("other", "b")
    assert seed_of(key, code, 2**32 - 1) < 2**53  # exact in every JSON reader


def test_repairs_are_logged_and_noted(room: Path) -> None:
    _, nb, log = graded(room, *GOOD, delete("check-after"))
    sentence = "The cell `check-after` was missing; it was put back."
    assert nb.metadata["fxcourse"]["repairs"] == [sentence]
    assert re.search(rf"ann.*{re.escape(sentence)}", log)


def test_a_notebook_that_powershell_wrote_is_read() -> None:
    nb = new_notebook(cells=[new_markdown_cell("Grüße")])
    for written in ("utf-16", "utf-8", "utf-8-sig"):
        read, why_unread = read_forgivingly(nbformat.writes(nb).encode(written))
        assert (why_unread, read.cells[0].source) == ("", "Grüße")


def test_the_marks_of_a_merge_are_named_with_their_line() -> None:
    text = nbformat.writes(new_notebook()).replace("{", "{\n<<<<<<< HEAD", 1)
    nb, why_unread = read_forgivingly(text.encode())
    assert why_unread in nb.cells[0].source
    assert "line 2 holds the marks of a git merge" in nb.cells[0].source


def test_file_that_is_no_notebook_scores_zero(room: Path) -> None:
    text = '{"cells": [{"cell_type": "code", "sour'
    numbers.grade(room, {"ann": text})
    assert rooms.points(room, numbers.CHAPTER)["ann"] == {"after": 0, "half": 0}
    assert rooms.waiting(room, numbers.CHAPTER) == []
    nb = rooms.autograded(room, "ann", numbers.CHAPTER)
    assert nb.metadata["fxcourse"]["repairs"][0] == "The file could not be read as a notebook."


def test_file_beside_the_notebook_is_found_but_hides_no_package(room: Path) -> None:
    path = rooms.hand_in(room, "ann", numbers.CHAPTER, "")
    (path.parent / "torch.py").write_text("raise SystemExit")
    (path.parent / "own_helper.py").write_text("one = 1")
    helped = AFTER.replace("+ 1", "+ own_helper.one")
    points, _, _ = graded(room, fill("after", f"import own_helper\n{helped}"), GOOD[1])
    assert points == {"after": 6, "half": 3}


def test_grading_works_inside_a_server(room: Path) -> None:
    """Formgrader grades in a running event loop."""

    async def handler() -> dict:
        killed = add("import os; os._exit(1)", below="after")
        return graded(room, *GOOD, killed)[0]

    assert asyncio.run(handler()) == {"after": 6, "half": 3}
