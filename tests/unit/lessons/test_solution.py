"""Help for a learner who is stuck: failures unlock hints, then the solution, with a record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch

from autograder import CheckFailed, api, check, debrief, solution
from autograder.api import NoSuchExercise, hint, progress_so_far
from autograder.builder.paths import COURSE
from autograder.cards.card import Card
from autograder.cards.folds import COMPARE, SHOW_SOLUTION
from autograder.drawing.html import clean
from autograder.learner import debrief as debrief_module
from autograder.lessons import debriefs
from autograder.lessons.record_status import after_verdict, is_passed, is_settled
from autograder.workspace import progress_file
from autograder.workspace.overview import overview_so_far

NAME = "node_names"


def node_names(model: Any) -> list[str]:
    return []


def wrong(at: int) -> Any:
    """A wrong answer; each number gives different code."""
    names: dict[str, Any] = {}
    exec(f"def node_names(model):\n    return [{at}]", names)
    return names[NAME]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[Any]]:
    """Collect the output for a learner whose record is empty."""
    monkeypatch.chdir(tmp_path)
    cards: list[Any] = []
    monkeypatch.setattr(api, "show", cards.append)
    monkeypatch.setattr("autograder.cards.display.show", cards.append)
    yield cards
    debrief_module.offer_solutions(True)


def folds(card: Card) -> list[str]:
    return [fold.summary for fold in card.folds]


def fail(shown: list[Any], at: int) -> Card:
    with pytest.raises(CheckFailed):
        check(wrong(at))
    return shown[-1]


def test_help_comes_by_failures(shown: list[Any]) -> None:
    first = ["Hint 1 of 3 · where to look"]
    assert folds(fail(shown, 1)) == first
    assert folds(fail(shown, 1)) == first  # unchanged code
    two = folds(fail(shown, 2))
    assert len(two) == 2 and two[:1] == first
    assert progress_file.verdicts() == {NAME: "failed"}
    three = fail(shown, 3)
    assert folds(three)[3:] == [SHOW_SOLUTION] and len(folds(three)) == 4
    assert 'solution("node_names")` shows a solution' in " ".join(repr(three).split())
    assert progress_file.verdicts() == {NAME: "seen"}
    reference = debriefs()[NAME].solution
    html = three._repr_mimebundle_()["text/html"]
    assert "for node in gm.graph.nodes]" in reference and "solution seen" in html
    assert clean(reference.splitlines()[-1].strip()) in html
    assert reference.splitlines()[-1].strip() not in repr(three)


def test_the_wrong_answer_of_a_cell_is_no_attempt(shown: list[Any], tmp_path: Path) -> None:
    cells = nbformat.read(COURSE / "00_start.ipynb", as_version=4).cells
    text = next(str(cell.source) for cell in cells if cell.get("id") == NAME)
    file = tmp_path / "answer.py"
    file.write_text(f"from torch import fx, nn\n\n{text}\n")
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(file.read_text(), str(file), "exec"), names)
    with pytest.raises(CheckFailed):
        check(names[NAME])
    assert shown and progress_file.verdicts() == {}


def test_a_solution_is_written_only_when_it_is_offered(shown: list[Any]) -> None:
    line = debriefs()[NAME].solution.splitlines()[-1].strip()
    for at in (1, 2):
        assert line not in fail(shown, at)._repr_mimebundle_()["text/html"]


def test_a_pass_shows_the_debrief(shown: list[Any]) -> None:
    names: dict[str, Any] = {}
    exec("from torch import fx, nn\n" + debriefs()[NAME].solution, names)
    check(names[NAME])
    assert folds(shown[-1]) == [COMPARE]
    assert progress_file.verdicts() == {NAME: "passed"}
    for at in (1, 2, 3):
        card = fail(shown, at)
    assert folds(card)[-1] == SHOW_SOLUTION
    assert progress_file.verdicts() == {NAME: "passed"}  # from the earlier pass


def test_a_pass_after_the_solution_says_so(shown: list[Any]) -> None:
    for at in (1, 2, 3):
        fail(shown, at)
    names: dict[str, Any] = {}
    exec("from torch import fx, nn\n" + debriefs()[NAME].solution, names)
    check(names[NAME])
    assert progress_file.verdicts() == {NAME: "passed, solution seen"}
    said = repr(progress_so_far("00_start"))
    assert "passed, solution seen" in said and "1 of 1 exercises" in said


def test_solution_says_what_is_missing(
    shown: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    solution(NAME)
    debrief(NAME)
    fail(shown, 1)
    solution()
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("The solution of node_names opens after 3 failed checks of different")
    assert "So far: 0." in said[0] and "So far: 1." in said[2]
    assert "opens after you have passed it" in said[1] and len(shown) == 1
    for at in (2, 3):
        fail(shown, at)
    for call in (solution, debrief):  # a shown solution opens the debrief, too
        call(NAME)
        assert "The reference solution" in repr(shown[-1])


def test_while_grading_there_is_no_help(
    shown: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for at in (1, 2, 3):
        fail(shown, at)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert folds(fail(shown, 4)) == []
    monkeypatch.delenv("NBGRADER_EXECUTION")
    monkeypatch.setattr("autograder.environment.notebook_kernel.is_automatic", lambda: True)
    assert folds(fail(shown, 5)) == []


def test_a_class_can_turn_solutions_off(
    shown: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    check.offer_solutions(False)
    for at in (1, 2, 3, 4):
        assert SHOW_SOLUTION not in folds(fail(shown, at))
    solution(NAME)
    assert capsys.readouterr().out == (
        "The solution of node_names is not shown here before you have passed it.\n"
    )
    assert progress_file.verdicts() == {NAME: "failed"}


def test_without_debriefs_there_is_no_solution(
    shown: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debrief_module, "debriefs", dict)  # as in a class's wheel
    for at in (1, 2, 3):
        card = fail(shown, at)
    assert len(folds(card)) == 3 and progress_file.verdicts() == {NAME: "failed"}


def test_different_code_is_told_by_its_statements(shown: list[Any], tmp_path: Path) -> None:
    def digest(text: str) -> str:
        path = tmp_path / "cell.py"
        path.write_text(text)
        names: dict[str, Any] = {}
        import linecache

        linecache.clearcache()
        exec(compile(text, str(path), "exec"), names)
        return debrief_module._digest(names["f"])

    one = digest("def f(x):\n    return x")
    assert digest('def f(x):\n    """Say."""\n\n    return x  # so\n\n\nprint(f(1))') == one
    assert digest("def f(x):\n    return -x") != one
    assert digest("def g(x):\n    return x\n\n\ndef f(x):\n    return x") != one
    assert digest("class f:\n    def __call__(self, x):\n        return x") != one
    assert debrief_module._digest(3) == ""


def test_the_statuses_of_the_record() -> None:
    assert after_verdict(None, "not attempted") is None
    assert after_verdict("passed", "failed") == after_verdict("crashed", "passed") == "passed"
    assert after_verdict("seen", "failed") == after_verdict("seen", "not attempted") == "seen"
    late = after_verdict("seen", "passed")
    assert late == after_verdict(late, "crashed") == "passed, solution seen"
    assert is_passed(late) and is_settled("seen") and not is_passed("seen")
    assert not is_settled("failed") and not is_settled(None)


def test_old_and_broken_records_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for noted in ([1], "x", {NAME: "y"}, {NAME: [1, "a"]}):
        progress_file.outside().write({"failures": noted})
        progress_file.note_failure(NAME, "b")
        assert progress_file.failures(NAME)[-1] == "b"
    for at in range(50):
        progress_file.note_failure(NAME, str(at))
    assert len(progress_file.failures(NAME)) == progress_file.MOST_FAILURES


# The next section


def test_progress_and_the_index_agree(shown: list[Any]) -> None:
    for status in ("failed", "seen", "passed"):
        progress_file.outside().write({"node_table": "passed", "is_faithful": status})
        progress, index = repr(progress_so_far("00_start")), repr(overview_so_far())
        place = overview_so_far().standing.place()
        assert place is not None
        number = place[1].number
        assert f"Go on here: {number} " in progress and f"Go on: {number} " in index
        assert number == ("1.5" if status == "failed" else "1.6")


# Names and functions


def test_what_a_learner_can_pass(shown: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for given in (NAME, node_names):
        hint(given)
        assert "node_names has 3 hints" in repr(shown[-1])
    for about in ("00", "0", "00_start", NAME, node_names):
        api.progress(about)
        assert "node_names" in repr(shown[-1]) and "node_table" not in repr(shown[-1])
    monkeypatch.setattr("sys.modules", {**__import__("sys").modules, "__main__": Notebook})
    with pytest.raises(CheckFailed):
        check(NAME)
    hint()  # for the exercise checked last
    assert "node_names has 3 hints" in repr(shown[-1])


class Notebook:
    """The names of a notebook."""

    node_names = wrong(1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["x"], "You passed a list. Write `check("),
        (3, "You passed an int. Write `check("),
        (None, "You passed nothing. Write `check("),
        (lambda model: model, "You passed a lambda. Write `check("),
        ("node_name", "There is no exercise called `node_name`. Did you mean `node_names`"),
        ("retarget", "`retarget` is not defined yet. Run the cell with your answer first."),
    ],
)
def test_a_wrong_argument_is_named_in_one_line(given: Any, said: str) -> None:
    with pytest.raises(NoSuchExercise) as caught:
        check(given)
    assert str(caught.value).startswith(said)
    (line,) = caught.value._render_traceback_()
    assert line == f"NoSuchExercise: {caught.value}"


def test_an_unknown_chapter_is_named() -> None:
    with pytest.raises(NoSuchExercise, match="no chapter `77`. Chapters: `0`, `1`, `2`, `2b`"):
        api.progress("77")


def test_figures_of_an_answer_do_not_follow_its_card(shown: list[Any]) -> None:
    from matplotlib import pyplot

    def node_names(model: Any) -> list[str]:
        pyplot.figure()
        return []

    mine = pyplot.figure()
    try:
        with pytest.raises(CheckFailed):
            check(node_names)
        assert pyplot.get_fignums() == [mine.number]
    finally:
        pyplot.close(mine)


def test_functions_that_an_answer_replaces_are_restored(
    shown: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = torch.relu
    monkeypatch.setattr(torch, "relu", before)  # restores it even if the test fails

    def node_names(model: Any) -> list[str]:
        torch.relu = torch.sin
        return []

    with pytest.raises(CheckFailed):
        check(node_names)
    assert torch.relu is before
