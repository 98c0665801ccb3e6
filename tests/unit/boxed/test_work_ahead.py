"""Work done before any answer is judged: results that many submissions need."""

from __future__ import annotations

from dataclasses import replace

import nbformat
import pytest

from autograder.boxed import work_ahead
from autograder.builder.paths import COURSE
from autograder.classroom.records.journal import digest_of
from autograder.core.exercise import Case, Exercise
from autograder.core.limits import Limits
from autograder.core.outcome import Outcome
from autograder.exercises import EXERCISES
from autograder.fuzz.random_models import POOL
from autograder.judge import repro_code, size_of, source_of
from autograder.judge.answer_key import key_of
from autograder.judge.evidence import MOST_AHEAD, Evidence
from autograder.submission.contract import GradingConfig, PreloadSpec
from autograder.submission.sanitize import cells, clean_notebook

EXERCISE = EXERCISES["count_ops"]
HAND_PICKED = {case.name for case in EXERCISE.cases}


def test_hand_picked_cases_come_before_those_of_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def look(exercise: Exercise, case: Case) -> None:
        seen.append(case.name)

    monkeypatch.setattr(work_ahead, "_work_out", look)
    monkeypatch.setattr(work_ahead, "right_answers", lambda exercise: iter(()))
    for _ in work_ahead.work_ahead([EXERCISE], work_ahead.pools_of([EXERCISE], 7)):
        pass
    assert set(seen[: len(HAND_PICKED)]) == HAND_PICKED
    assert len(set(seen)) == len(HAND_PICKED) + POOL


def test_a_trial_that_was_made_ahead_is_used_once() -> None:
    case = EXERCISE.cases[0]
    case.cache.clear()
    ahead = Evidence(EXERCISE, case, Outcome(case.name), key_of(EXERCISE))
    ahead.make_ahead()
    looks = [Evidence(EXERCISE, case, Outcome(case.name), key_of(EXERCISE)) for _ in range(2)]
    first, second = (look.trial for look in looks)
    assert first is ahead.trial
    assert second.model is not first.model


def test_a_large_model_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(case for case in EXERCISE.cases if list(case.make(0).model.parameters()))
    case.cache.clear()
    assert MOST_AHEAD > 1000
    monkeypatch.setattr("autograder.judge.evidence.MOST_AHEAD", 0)
    Evidence(EXERCISE, case, Outcome(case.name), key_of(EXERCISE)).make_ahead()
    assert not case.cache


def test_what_a_card_shows_of_a_case_is_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(case for case in EXERCISE.cases if not case.hidden)
    wanted = source_of(case.make(0))
    repro_code._text_of.cache_clear()
    case.cache.clear()
    next(work_ahead.work_ahead([replace(EXERCISE, cases=(case,))], []))

    def read(*_: object) -> None:
        raise AssertionError("it has been read before")

    monkeypatch.setattr("inspect.getsource", read)
    monkeypatch.setattr("autograder.judge._number_of_nodes", read)
    assert source_of(case.make(0)) == wanted != ""
    assert size_of(case) > 2


def test_a_case_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    case = EXERCISE.cases[0]
    case.cache.clear()
    work_ahead.look_at(EXERCISE, case)
    known = set(case.cache)
    assert {("reference", 0), ("traced", 0), ("trial", 0)} <= known

    def work(*_: object) -> None:
        raise AssertionError("it has been worked out before")

    monkeypatch.setattr(work_ahead, "Evidence", work)
    work_ahead.look_at(EXERCISE, case)
    assert set(case.cache) == known


def test_a_look_at_a_case_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """An instructor's answer key may never return; the judge reports this later."""
    case = EXERCISE.cases[0]
    case.cache.clear()

    def for_ever(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr("autograder.judge.answer_key.AnswerKey.reference", for_ever)
    work_ahead.look_at(EXERCISE, case, Limits(cpu=0.2, wall=60.0))
    assert ("reference", 0) not in case.cache


def test_the_text_that_was_given_out_is_cleaned_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    given = (COURSE / "00_start.ipynb").read_bytes()
    cells._clean_often.cache_clear()
    assert list(work_ahead.read_ahead(given)) == [None]
    rendered: list[str] = []

    stock = cells._watched

    def watched(source: str, taken: frozenset[str] = frozenset()) -> object:
        rendered.append(source)
        return stock(source, taken)

    monkeypatch.setattr(cells, "_watched", watched)
    nb = nbformat.reads(given.decode(), as_version=4)
    texts = [cell for cell in nb.cells if cell.cell_type == "markdown"]
    texts[3].source = "What a student wrote."
    clean_notebook(nb)
    assert rendered == ["What a student wrote."]


@pytest.mark.parametrize("given", [b"", b"{}", b"\xff", b'{"cells": 3}'])
def test_a_text_that_is_no_notebook_is_not_read_ahead(given: bytes) -> None:
    assert list(work_ahead.read_ahead(given)) == [None]


def test_a_trace_that_is_there_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    case = EXERCISE.cases[0]
    case.cache.clear()
    wanted = size_of(case)
    case.cache.clear()
    assert Evidence(EXERCISE, case, Outcome(case.name), key_of(EXERCISE)).traced_graph

    def trace(*_: object) -> None:
        raise AssertionError("it has been traced before")

    monkeypatch.setattr("autograder.judge._number_of_nodes", trace)
    assert size_of(case) == wanted > 0


def test_what_is_only_read_or_worked_out_ahead_changes_no_digest_of_a_grade() -> None:
    plain = GradingConfig("c", {}, PreloadSpec("c"))
    more = replace(plain.preload, pool=3, released_text="a notebook")
    assert digest_of(replace(plain, preload=more)) == digest_of(plain)
    other = replace(plain.preload, imports=("torch",))
    assert digest_of(replace(plain, preload=other)) != digest_of(plain)
