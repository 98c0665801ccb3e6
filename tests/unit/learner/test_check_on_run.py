"""Running an answer's cell checks it: one card per run, and none for other cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from autograder import api
from autograder.environment import notebook_kernel
from autograder.learner.check_on_run import EVENT, SLOW_SECONDS, CheckOnRun
from autograder.workspace import first_cell, location

ANSWER = "def toy(x):\n    return x"
OTHER = ANSWER.replace("return x", "return 2 * x")


class Kernel:
    """The part of a kernel that tells who runs a cell, and receives messages."""

    def __init__(self) -> None:
        self.allow_stdin = True
        self.number = 0
        self.sent: list[tuple[int, str, Any]] = []
        self.session, self.iopub_socket = self, None

    def get_parent(self) -> dict[str, Any]:
        return {"content": {"allow_stdin": self.allow_stdin}, "number": self.number}

    def send(self, socket: None, kind: str, content: Any, parent: Any, ident: bytes) -> None:
        self.sent.append((parent["number"], kind, content))


@dataclass
class Notebook:
    """A shell with the hook, which records each check."""

    shell: InteractiveShell
    hook: CheckOnRun
    checked: list[tuple[str, Any]] = field(default_factory=list)
    passes: bool = True
    seconds: float = 0.1
    now: float = 0.0
    raises: BaseException | None = None

    def check(self, name: str, answer: Any) -> bool:
        self.checked.append((name, answer))
        self.hook.note(answer)
        self.now += self.seconds
        if self.raises:
            raise self.raises
        return self.passes

    def run(self, cell: str, **options: Any) -> int:
        """Run a cell; return the number of checks that it caused."""
        before = len(self.checked)
        self.shell.kernel.number += 1
        self.shell.run_cell(cell, **{"store_history": True, **options})
        return len(self.checked) - before

    def value(self, name: str) -> Any:
        return self.shell.user_ns[name]


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    shell = InteractiveShell()
    shell.kernel = Kernel()
    monkeypatch.setattr(notebook_kernel, "shell", lambda: shell)
    made = Notebook(shell, SimpleNamespace())
    made.hook = CheckOnRun(lambda: {"toy", "other"}, made.check, lambda: made.now)
    made.hook.begin(shell)
    made.hook.begin(shell)  # as if `check` were imported twice
    yield made
    shell.events.unregister(EVENT, made.hook.after_cell)


def test_the_cell_of_an_answer_is_checked_once(notebook: Notebook) -> None:
    assert notebook.run(ANSWER) == 1
    assert notebook.checked == [("toy", notebook.value("toy"))]
    assert notebook.run("toy(1)") == 0
    assert notebook.run(OTHER) == 1


@pytest.mark.parametrize(
    ("cell", "count"),
    [
        (f"%%time\n{ANSWER}", 1),
        (f"%%capture\n{ANSWER}", 1),
        (f"%%writefile /dev/null\n{ANSWER}", 0),
        (f"def helper(x):\n    return x\n\n\n{ANSWER}", 1),
        (f"import math\n\n{ANSWER}\n\nprint(toy(2))", 1),
        ("class toy:\n    pass", 1),
        (f"def deco(f):\n    return lambda x: f(x)\n\n@deco\n{ANSWER}", 1),
        (f"{ANSWER}\n\n\ndef other():\n    pass", 0),  # two exercises
        ("def unknown(x):\n    return x", 0),
        (f"def outer():\n    {ANSWER.replace(chr(10), chr(10) + '    ')}", 0),
        (f"text = '''\n{ANSWER}\n'''", 0),
        (f"{ANSWER}\n1 / 0", 0),
        (f"{ANSWER}\n)", 0),
    ],
)
def test_which_cells_are_checked(notebook: Notebook, cell: str, count: int) -> None:
    assert notebook.run(cell) == count


def test_a_cell_that_checks_itself_is_not_checked_again(notebook: Notebook) -> None:
    notebook.shell.user_ns["check"] = lambda answer: notebook.check("toy", answer)
    assert notebook.run(f"{ANSWER}\n\n\ncheck(toy)") == 1


def test_run_all_shows_one_card_a_cell(notebook: Notebook) -> None:
    cells = ["import math", ANSWER, "y = 1", ANSWER.replace("toy", "other"), "other(2)"]
    assert [notebook.run(cell) for cell in cells] == [0, 1, 0, 1, 0]


def test_nobody_checks_for_a_program(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    assert notebook.run(ANSWER, store_history=False) == 0
    assert notebook.run(ANSWER, silent=True) == 0
    notebook.shell.kernel.allow_stdin = False  # as in nbconvert, nbclient and the builder
    assert notebook.run(ANSWER) == 0
    notebook.shell.kernel.allow_stdin = True
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert notebook.run(ANSWER) == 0
    monkeypatch.delenv("NBGRADER_EXECUTION")
    assert notebook.run(ANSWER) == 1


def test_it_can_be_turned_off(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notebook.hook.turn(False)
    assert notebook.run(ANSWER) == 0
    notebook.hook.turn(True)
    assert notebook.run(ANSWER) == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [('{"check_on_run": false}', 0), ('{"check_on_run": true}', 1), ("{}", 1), ("[", 1),
     ('{"check_on_run": "no"}', 1), ("[]", 1)],
)  # fmt: skip
def test_a_setting_turns_it_off_for_good(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, count: int
) -> None:
    state = tmp_path / location.STATE
    state.mkdir()
    (state / location.MARK).write_text("{}")
    (state / "settings.json").write_text(text)
    monkeypatch.setenv(location.ENV, str(tmp_path))
    assert notebook.run(ANSWER) == count
    notebook.hook.turn(True)  # the notebook's setting wins
    assert notebook.run(OTHER) == 1


def test_a_slow_exercise_pauses(notebook: Notebook, capsys: pytest.CaptureFixture[str]) -> None:
    notebook.seconds = SLOW_SECONDS + 1
    assert notebook.run(ANSWER) == 1
    notebook.seconds = 0.1
    assert notebook.run(OTHER) == 1  # one slow check in a row
    notebook.seconds = SLOW_SECONDS + 1
    assert [notebook.run(cell) for cell in (ANSWER, OTHER, ANSWER)] == [1, 1, 0]
    assert capsys.readouterr().out == (
        "Checking takes 4 s. From now on, run check(toy) yourself.\n"
        "Not checked, because that takes a while. Run check(toy) yourself.\n"
    )
    assert notebook.run(ANSWER.replace("toy", "other")) == 1  # another exercise is still checked
    notebook.hook.turn(True)
    assert notebook.run(ANSWER) == 1


@pytest.mark.parametrize("error", [RuntimeError("a bug of ours"), KeyboardInterrupt()])
def test_the_hook_raises_nothing(
    notebook: Notebook, capsys: pytest.CaptureFixture[str], error: BaseException
) -> None:
    notebook.raises = error
    assert notebook.run(ANSWER) == 1
    kind = type(error).__name__
    assert (
        capsys.readouterr().out == f"This cell was not checked ({kind}). Run check(toy) yourself.\n"
    )


def test_other_cells_are_not_even_parsed(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("autograder.learner.check_on_run.ast.parse", lambda text: 1 / 0)
    monkeypatch.setattr("autograder.workspace.settings.check_on_run", lambda: 1 / 0)
    assert notebook.run("def helper(x):\n    return x\n" * 2_000) == 0
    assert capsys.readouterr().out == ""


def test_what_has_passed_is_known_until_it_changes(notebook: Notebook) -> None:
    user = notebook.shell.user_ns
    user["__name__"] = "__main__"
    notebook.run("def helper(x):\n    return x\n\nSTEP = 1")
    notebook.run("def toy(x):\n    return (lambda: helper(x) + STEP)()")
    toy = notebook.value("toy")
    assert notebook.hook.has_passed("toy", toy)
    notebook.run("unrelated = 3")
    assert notebook.hook.has_passed("toy", toy)
    notebook.run("STEP = 2")
    assert not notebook.hook.has_passed("toy", toy)
    user["STEP"] = 1
    assert notebook.hook.has_passed("toy", toy)
    notebook.run("def helper(x):\n    return -x")
    assert not notebook.hook.has_passed("toy", toy)
    assert not notebook.hook.has_passed("toy", notebook.value("helper"))


def test_a_failure_is_not_remembered_as_a_pass(notebook: Notebook) -> None:
    notebook.run(ANSWER)
    notebook.passes = False
    notebook.run(OTHER)
    assert not notebook.hook.has_passed("toy", notebook.value("toy"))


# End to end, with a real exercise

RIGHT = """\
def node_names(model):
    return [node.name for node in fx.symbolic_trace(model).graph.nodes]
"""


@pytest.fixture
def course(notebook: Notebook, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Notebook:
    """A notebook in which the course's `check` checks answers when their cells run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("autograder.environment.notebook_kernel.ipython", lambda: notebook.shell)
    shown: list[tuple[str, Any]] = notebook.checked
    monkeypatch.setattr(api, "show", lambda card: shown.append(("card", card)))
    check = api.Check()
    check.begin()
    notebook.shell.user_ns["check"] = check
    notebook.shell.user_ns["__name__"] = "__main__"
    notebook.run("from torch import fx, nn")
    yield notebook
    notebook.shell.events.unregister(EVENT, check._cells.after_cell)


def test_the_card_comes_once(course: Notebook, capsys: pytest.CaptureFixture[str]) -> None:
    assert course.run("def node_names(model):\n    raise NotImplementedError") == 0
    assert course.run(RIGHT.replace("node.name ", "node.op ")) == 1
    assert "run this cell again" in repr(course.checked[-1][1])
    assert course.run(RIGHT) == 1
    capsys.readouterr()
    assert course.run("check(node_names)") == 0
    assert capsys.readouterr().out == "Checked above: passed.\n"


def test_a_check_on_run_replaces_the_older_card_of_the_check_cell(course: Notebook) -> None:
    sent = course.shell.kernel.sent
    course.run(RIGHT.replace("node.name ", "node.op "))
    assert sent == []
    course.run("check(node_names)")
    check_cell = course.shell.kernel.number
    for answer, word in ((RIGHT, "passed"), (RIGHT.replace("node.name ", "1 "), "not right yet")):
        course.run(answer)
        said = {"name": "stdout", "text": f"Checked above: {word}.\n"}
        wait = (check_cell, "clear_output", {"wait": True})
        assert sent[-2:] == [wait, (check_cell, "stream", said)]
    assert len(sent) == 4


def test_a_changed_cell_is_checked_again(
    course: Notebook, capsys: pytest.CaptureFixture[str]
) -> None:
    course.run(RIGHT)
    course.run(f"{RIGHT})")  # a syntax error, so the old function stays
    assert course.run("check(node_names)") == 1
    assert "did not run" in repr(course.checked[-1][1])


def test_while_grading_the_check_cell_judges(
    course: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    course.run(RIGHT)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert course.run("check(node_names)") == 1


# Before the first cell


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("check(node_names)", "Run the first code cell of this notebook, then this cell again: "
                              "`check` is imported there.\n"),
        ("nn.Linear(1, 1)", "`nn` is imported there."),
        ("node_names(1)", "Run the cell that defines `node_names` first, then this cell again.\n"),
        ("something_else", ""),
        ("1 / 0", ""),
        ("x = 1", ""),
    ],
)  # fmt: skip
def test_a_missing_import_is_explained(
    notebook: Notebook, capsys: pytest.CaptureFixture[str], cell: str, said: str
) -> None:
    first_cell.begin()
    try:
        notebook.run(cell)
    finally:
        notebook.shell.events.unregister(EVENT, first_cell.advise)
    out = capsys.readouterr().out
    assert (said in out) if said else "first, then this cell" not in out
    assert said or "first code cell" not in out
