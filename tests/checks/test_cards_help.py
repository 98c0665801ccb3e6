"""Cards about beginners' mistakes: the first failing part, the cause, the learner's own line."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn

from autograder import api
from autograder.api import CheckFailed, check, exercise_called, failed, verdict_on
from autograder.cards.card import card_html
from autograder.cards.card_text import card_text
from autograder.core.verdict import Finding, Verdict, further_findings
from autograder.exercises import EXERCISES
from autograder.judge import judge
from autograder.judge.advice import advice_for, rows_for
from autograder.judge.answer_text import Source
from autograder.judge.error_text import LONGEST, message_of
from autograder.learner.stale_cell import broken_cell, problem_in, stopping_call
from autograder.runner import run
from autograder.runner.lasting_state import LastingState
from tests.checks.examination import finding_meant_for
from tests.exercises import answers_to, constant, exercises_with
from tests.exercises.mistakes import RATINGS, UNSTICKS, all_mistakes

MISTAKES = {str(mistake): mistake for mistake in all_mistakes()}


def said(title: str) -> tuple[Verdict, str]:
    """The verdict on a mistake, and its card without line breaks."""
    mistake = MISTAKES[title]
    exercise = exercise_called(mistake.exercise)
    verdict = verdict_on(exercise, mistake.write, hidden=False)
    return verdict, " ".join(card_text(verdict, exercise).split())


# ------------------------------------------------------------------ the mistakes


@pytest.mark.parametrize("title", [title for title, mistake in MISTAKES.items() if mistake.says])
def test_a_card_names_the_mistake(title: str) -> None:
    verdict, text = said(title)
    assert not verdict.passed
    for words in MISTAKES[title].says:
        assert words in text


def test_each_mistake_is_rated_once() -> None:
    assert len(MISTAKES) == len(all_mistakes()), "two mistakes have the same title"
    for mistake in MISTAKES.values():
        assert mistake.rating in RATINGS, mistake
        assert bool(mistake.but) == (mistake.rating != UNSTICKS), mistake


# ------------------------------------------------------------------ the case, and other findings


def test_the_first_part_that_fails_is_shown_even_where_a_later_one_is_smaller() -> None:
    exercise = exercise_called("relu_after_add")
    verdict = verdict_on(exercise, MISTAKES["relu_after_add: the relu reads itself"].write,
                         hidden=False)  # fmt: skip
    failing = next(share.says for share in verdict.shares if not share.held)
    shown = next(c for c in exercise.cases if verdict.example and c.name == verdict.example.case)
    (aspect,) = (each for each in exercise.aspects if each.key == shown.aspect)
    assert aspect.says == failing


def test_other_findings_are_told_once_each() -> None:
    def crash(text: str) -> Finding:
        raised = f"`TypeError: {text}`"
        return Finding("crashed", f"`f` raised {raised}.", raised=raised)

    findings = (
        crash("'A' object has no attribute 'graph'"), crash("'B' object has no attribute 'graph'"),
        Finding("wrong", "Row 1 is wrong."), crash("unhashable"), Finding("wrong", "Row 2 is."),
    )  # fmt: skip
    assert [found.message for found in further_findings(findings)] == [
        "Row 1 is wrong.", "`f` raised `TypeError: unhashable`.",
    ]  # fmt: skip


def test_a_part_that_was_not_tried_is_not_said_to_fail() -> None:
    verdict, _ = said("node_table: the two counts exchanged")
    html = card_html(verdict, exercise_called("node_table"))
    assert re.search(r"○</span> not tried yet</td><td[^>]*>models drawn at random", html)


# ------------------------------------------------------------------ exceptions


def test_only_the_learners_own_lines_are_shown_as_theirs() -> None:
    verdict, _ = said("is_faithful: results are copied deeply")
    lines = [line for line in verdict.error.splitlines() if line.startswith("line ")]
    assert lines and all("copy.deepcopy(model(" in line or "trace" in line for line in lines)


def test_every_advice_can_be_given_and_asks_or_says_something_whole() -> None:
    rows = {row for exercise in EXERCISES.values() for row in rows_for(exercise)}
    for row in rows:
        assert row.advice.rstrip().endswith(("?", ".")), row
        groups = set(re.findall(r"\{(\d)\}", row.advice))
        assert groups <= {str(i + 1) for i in range(re.compile(row.says).groups)}, row


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ({"type": "RuntimeError", "message": "limit", "text": "raise RuntimeError('limit')"},
         "needs no more rounds"),
        ({"type": "StopIteration", "message": "", "text": "next(values)"}, "found nothing"),
        ({"type": "RuntimeError", "message": "dictionary keys changed during iteration",
          "text": "for user in node.users:"}, "which line changes it?"),
        ({"type": "TypeError", "message": "Can't instantiate abstract class OpSwap with abstract "
          "method call", "text": ""}, "leaves `call` to you"),
        ({"type": "Odd", "message": "nobody knows this", "text": "x"}, ""),
    ],
)  # fmt: skip
def test_advice_depends_on_the_line(error: dict[str, Any], words: str) -> None:
    found = advice_for(exercise_called("replace_until_done"), error, "call")
    assert (words in found) if words else found == ""


@pytest.mark.parametrize("name", exercises_with("ADVICE_ON"))
def test_errors_in_one_exercise_get_its_advice(name: str) -> None:
    for error, words in constant(name, "ADVICE_ON"):
        assert words in advice_for(exercise_called(name), error, "call")


def test_no_message_ends_in_the_middle_of_a_sentence() -> None:
    long = "This is a sentence. " * 40
    text = message_of({"type": "E", "message": "This", "says": long})
    assert len(text) <= LONGEST and text.endswith("sentence.")


def test_a_place_that_is_right_but_for_the_file_is_not_said_to_be_another_line() -> None:
    """Otherwise the card would name the same line twice and contradict itself."""
    (answer,) = (a for a in answers_to("source_of") if a.style == "the name of the file alone")
    finding = finding_meant_for(answer)
    assert finding is not None
    assert "has the right line, and as its file 'models.py'" in finding.message


def test_many_missing_names_are_counted() -> None:
    """A list of two hundred names would not help."""
    (answer,) = (a for a in answers_to("OpTimer") if a.style == "one name for each time")
    finding = finding_meant_for(answer)
    assert finding is not None
    assert finding.message.endswith("and `seconds` has 200.") and len(finding.message) < 100


def test_what_a_library_asks_for_is_no_typo() -> None:
    _, text = said("probe_values: the probe is the target")
    assert "Did you mean" not in text


def test_an_attribute_of_a_node_that_a_copy_has_lost_is_explained() -> None:
    error = {"type": "AttributeError", "message": "'Node' object has no attribute 'is_old'"}
    assert "`node.meta` is not" in advice_for(exercise_called("retarget"), error, "call")


# ------------------------------------------------------------------ state that outlives a call


def test_what_lasts_is_found_and_put_back() -> None:
    class Timer:
        calls: dict[str, int] = {}

        def run(self) -> None:
            self.calls["x"] = 1

    state = LastingState(Timer)
    assert state.changed() == []
    Timer().run()
    (kept,) = state.changed()
    assert (kept.name, kept.kind) == ("calls", "class")
    state.restore()
    assert Timer.calls == {} and state.changed() == []


# ------------------------------------------------------------------ cells that did not run


def in_a_cell(text: str, name: str) -> Callable[..., Any]:
    """A function as a notebook's cell defines it, with its source available to Python."""
    file = f"<cell of {name} {len(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {}
    exec(compile(text, file, "exec"), names)
    return names[name]


RIGHT = "def retarget(model):\n    return 1\n"


@pytest.mark.parametrize(
    ("last", "code"),
    [
        (RIGHT, None),
        ("print(retarget(3))", None),
        ("def retarget(model)\n    return 2\n", "cell-did-not-run"),
        ("def retaget(model):\n    return 2\n", "near-name"),
        ("def retargets(model):\n    return 2\n", "near-name"),
        ("raise ValueError\ndef retarget(model):\n    return 2\n", "older-than-cell"),
        ("def other(model):\n    return 3\nretarget = other", None),
        ("def helper(model):\n    return 2\n", None),
    ],
)
def test_a_check_sees_that_a_cell_did_not_run(last: str, code: str | None) -> None:
    answer = in_a_cell(RIGHT, "retarget")
    found = problem_in([RIGHT, last], "retarget", answer, ["retarget"])
    assert (found.code if found else None) == code


def test_a_graded_card_names_the_line_that_is_not_python() -> None:
    marks = "<<<<<<< HEAD\n" + RIGHT
    found = broken_cell([RIGHT, marks, "print(1)"], "retarget")
    assert found is not None and "at line 1: `<<<<<<< HEAD`" in found.message
    assert broken_cell([marks, RIGHT], "retarget") is None
    assert broken_cell(["%%time\n!ls\n" + RIGHT], "retarget") is None
    assert broken_cell([], "retarget") is None


@pytest.mark.parametrize("call", ["breakpoint()", "exit()", "quit()", "input('?')"])
@pytest.mark.parametrize(
    "text",
    [
        "def retarget(model):\n    {}\n    return model\n",
        "class retarget:\n    def run(self): {}\n",
        "def retarget(model):\n    def inner(): {}\n    return inner()\n",
    ],
)
def test_what_nobody_wants_in_a_check_is_named(text: str, call: str) -> None:
    found = stopping_call("retarget", in_a_cell(text.format(call), "retarget"))
    assert found is not None and f"calls `{call.partition('(')[0]}()`, at line 2" in found.message


def test_what_stands_below_the_stubs_line_is_not_said_to_be_untouched() -> None:
    text = "def retarget(model, old, new):\n    raise NotImplementedError\n    return model\n"
    exercise = exercise_called("retarget")
    verdict = verdict_on(exercise, in_a_cell(text, "retarget"), hidden=False)
    said = card_text(verdict, exercise)
    assert "Line 2 of `retarget` still raises" in said and "when you opened" not in said


HANDLER = """\
from torch import fx
class AddToMul(fx.Transformer):
    def call_function(self, target, args, kwargs):
        return super().call_function({}[target], args, kwargs)
"""


def test_the_line_of_a_handler_is_shown_where_fx_raises_again() -> None:
    exercise = exercise_called("AddToMul")
    verdict = verdict_on(exercise, in_a_cell(HANDLER, "AddToMul"), hidden=False)
    text = " ".join(card_text(verdict, exercise).split())
    assert "KeyError" in text and "{}[target]" in text and "RuntimeError" not in text


def test_a_hidden_case_shows_the_line_as_it_stands_in_the_cell() -> None:
    exercise = exercise_called("retarget")
    hidden = next(case for case in exercise.cases if case.hidden)
    text = "def retarget(model, old, new):\n    return model['an odd text of one own'].x\n"
    write = in_a_cell(text, "retarget")
    outcome = run(exercise, write, hidden)
    source = Source((text,), "retarget")
    verdict = judge(exercise, [outcome], (hidden,), source=source)
    assert "line 2: return model['an odd text of one own'].x" in verdict.error


def test_a_function_of_ones_own_may_have_such_a_name() -> None:
    text = "def exit():\n    pass\ndef retarget(input):\n    exit()\n    return input()\n"
    assert stopping_call("retarget", in_a_cell(text, "retarget")) is None


# ------------------------------------------------------------------ stopping, and the case itself


def test_ctrl_c_gives_a_card(capsys: pytest.CaptureFixture[str], tmp_path: Path,
                             monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)

    def node_names(model: nn.Module) -> list[str]:
        for number in range(3):
            if number == 2:
                raise KeyboardInterrupt
        return []

    with pytest.raises(CheckFailed):
        check(node_names)
    text = " ".join(capsys.readouterr().out.split())
    assert "You stopped `node_names` here." in text
    assert "`for number in range(3):` was running; `number` was 2." in text


def test_the_failing_case_is_an_object(capsys: pytest.CaptureFixture[str], tmp_path: Path,
                                       monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(api, "_last_failed", None)
    with pytest.raises(LookupError, match="check"):
        failed()

    def node_names(model: nn.Module) -> list[str]:
        return [node.op for node in fx.symbolic_trace(model).graph.nodes]

    with pytest.raises(CheckFailed):
        check(node_names)
    capsys.readouterr()
    case = failed()
    assert case.name in {each.name for each in exercise_called("node_names").visible_cases()}
    assert case.run() == [node.op for node in fx.symbolic_trace(case.model).graph.nodes]
    assert case.model is not case.model, "what is done to one is not done to the next"
    assert case.args and isinstance(case.args[0], nn.Module)
    assert "placeholder" in case.obtained and "placeholder" not in case.expected


def test_importing_pytorchs_own_modules_takes_no_time() -> None:
    from autograder.core.limits import Limits, _imports_pytorch, time_limit

    with time_limit(Limits(cpu=5)) as clock:
        assert not clock.is_over()
    assert not _imports_pytorch(None)
    assert torch.is_tensor(torch.ones(1))


def test_a_mistake_is_registered_under_the_exercises_name() -> None:
    assert all(each.write.__name__ == each.exercise for each in MISTAKES.values())
