"""Programs decide by a field or an enum, never by the wording of a sentence."""

from __future__ import annotations

import copy
import io
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from autograder.boxed.judge_service import _status
from autograder.cards.wording import error_to_show, first_finding
from autograder.core.exercise import Case, Trial
from autograder.core.outcome import Change, Outcome, Part
from autograder.core.process_exit import ExitReason
from autograder.core.verdict import Finding, Verdict, further_findings
from autograder.exercises import EXERCISES
from autograder.grading import Tried, is_missing, not_tried
from autograder.judge import judge
from autograder.judge.answer_key import key_of
from autograder.judge.evidence import Evidence
from autograder.rules.passes import caller_untouched
from autograder.runner.snapshot import Snapshot
from autograder.submission.repair_steps import Repair, RepairKind
from autograder.submission.result import SubmissionStatus

# ------------------------------------------------------------------ the status of a submission


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (RepairKind.FORGED, SubmissionStatus.TAMPERED),
        (RepairKind.RESTORED, SubmissionStatus.RESTORED),
        (RepairKind.REPAIRED, SubmissionStatus.REPAIRED),
        (RepairKind.HARMLESS, SubmissionStatus.GRADED),
    ],
)
@pytest.mark.parametrize("sentence", ["", "It was tampered with, and had been changed."])
def test_tampered_does_not_hang_on_words(
    kind: RepairKind, status: SubmissionStatus, sentence: str
) -> None:
    assert _status([], [Repair(kind, sentence)]) is status


def test_a_forgery_is_reported_however_the_notebook_ended() -> None:
    forged = [Repair(RepairKind.REPAIRED, ""), Repair(RepairKind.FORGED, "")]
    assert _status([ExitReason.OUT_OF_MEMORY], forged) is SubmissionStatus.TAMPERED
    assert _status([ExitReason.OUT_OF_TIME], forged[:1]) is SubmissionStatus.TIMED_OUT
    assert _status([ExitReason.EXITED], []) is SubmissionStatus.CRASHED


# ------------------------------------------------------------------ changes made by a call


class Encodes(nn.Module):
    """A model whose names contain the words for other kinds of change."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("code_graph", torch.zeros(2))
        self.inner = nn.Identity()


def changed_by(act: str) -> Change:
    model = Encodes()
    snapshot = Snapshot(model)
    exec(act, {"model": model, "torch": torch})
    (change,) = snapshot.changes()
    return change


@pytest.mark.parametrize(
    ("act", "part"),
    [
        ("model.code_graph += 1", Part.MODULE),
        ("model.training_flag = 1", Part.MODULE),
        ("model.inner.eval()", Part.TRAINING_FLAG),
    ],
)
def test_a_change_says_what_it_is_of(act: str, part: Part) -> None:
    assert changed_by(act).part is part


def test_where_to_look_follows_the_part_and_not_its_name() -> None:
    exercise = EXERCISES["relu_after_add"]
    case = Case("one", exercise.aspects[0].key, lambda seed: Trial(args=(), model=Encodes()))
    looks = []
    for act in ("model.code_graph += 1", "model.inner.eval()"):
        outcome = Outcome("one", changed=[changed_by(act)])
        (found,) = caller_untouched.find(Evidence(exercise, case, outcome, key_of(exercise)))
        assert str(outcome.changed[0]) in found.message
        looks.append(found.advice)
    assert "shares its submodules" in looks[0] and "`eval()`" in looks[1]


def test_changes_pass_through_a_file_and_others_do_not() -> None:
    outcome = Outcome("one", changed=[Change(Part.GRAPH, "the model's code was changed")])
    stream = io.BytesIO()
    outcome.write(stream)
    stream.seek(0)
    (read,) = Outcome.read(stream).changed
    assert (read, read.part) == ("the model's code was changed", Part.GRAPH)
    again = copy.deepcopy(read)
    assert (again, again.part) == (read, read.part)


@pytest.mark.parametrize("part", ["a part of tomorrow", "", 3, None, ["graph"]])
def test_a_change_of_nothing_known_is_not_read(part: Any) -> None:
    stream = io.BytesIO()
    Outcome("one", changed=[Change(part, "something")]).write(stream)
    stream.seek(0)
    with pytest.raises(ValueError, match="wrong types"):
        Outcome.read(stream)


# ------------------------------------------------------------------ the contents of a card


def crashed(finding: Finding) -> Verdict:
    return Verdict("f", "crashed", 0.0, (finding,), error="TypeError\nline 3: x")


def test_the_error_stands_for_a_finding_that_says_no_more() -> None:
    says_it = Finding("crashed", "However this is worded.", tells_error=True)
    assert first_finding(crashed(says_it)) is None
    assert error_to_show(crashed(says_it)).startswith("TypeError")


def test_a_finding_that_only_names_the_error_is_shown() -> None:
    more = Finding("wrong-exception", "`f` raised `TypeError` here; `ValueError` is asked for.")
    assert first_finding(crashed(more)) is more
    assert error_to_show(crashed(more)) == ""


def test_exceptions_are_told_once_however_their_findings_are_worded() -> None:
    findings = tuple(
        Finding("result-raises", f"{words} {number}.", raised=f"`KeyError: '{number}'`")
        for number, words in enumerate(("On a case", "Where it runs", "raised raised"))
    )
    other = replace(findings[0], raised="`TypeError: no`")
    assert further_findings((*findings, other)) == [other]


def test_what_was_rightly_raised_is_no_crash() -> None:
    exercise = EXERCISES["is_faithful"]
    (case, *_) = (c for c in exercise.cases if c.expect.still_holds and not c.hidden)
    wanted = case.expect.raises

    def sets_a_seed(model: nn.Module, inputs: list) -> bool:
        torch.manual_seed(0)
        return bool([model(*arguments) for arguments in inputs])

    from autograder.runner import run

    outcome = run(exercise, sets_a_seed, case)
    assert outcome.ended == "raised" and wanted in outcome.error["types"]
    verdict = judge(exercise, [outcome], (case,))
    assert verdict.findings[0].code == "caller-changed"
    assert (verdict.status, verdict.error) == ("failed", "")


def test_a_missing_answer_is_told_by_a_field() -> None:
    exercise = EXERCISES["is_faithful"]
    verdict = not_tried(exercise, Tried("undefined"))
    assert is_missing(verdict) and not verdict.defined
    assert not is_missing(not_tried(exercise, Tried("not callable")))
    reworded = replace(verdict, findings=(Finding("another-code", "Other words."),))
    assert is_missing(reworded)
