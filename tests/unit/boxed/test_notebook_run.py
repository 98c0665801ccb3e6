"""Running a notebook: which cell is dropped when the box ends."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.boxed.answer_trial import Trial
from autograder.boxed.case_reports import case_reports
from autograder.boxed.notebook_cells import NotebookCells
from autograder.boxed.notebook_run import NotebookRun
from autograder.boxed.parked_answers import Parked
from autograder.boxed.work_ahead import GLANCE
from autograder.builder.cell_ids import digest_of
from autograder.builder.solution_regions import STUB
from autograder.core.exercise import Case, Exercise
from autograder.core.graph_jobs import do_here
from autograder.core.limits import Limits, SuspendAwareClock
from autograder.core.outcome import Outcome
from autograder.core.process_exit import ExitReason, ProcessExit
from autograder.core.verdict import Finding, Verdict
from autograder.grading import Grading, TryHere
from autograder.judge import findings_of
from autograder.runner import run_cases, run_trial
from autograder.sandbox.client import ProcessLost
from autograder.submission.case_report import CaseReport, reports_in
from autograder.submission.contract import Timeouts
from tests.support.hand_clock import HandClock
from tests.support.numbers.numbers_syllabus import EXERCISES

TAKES, GIVES, NEEDS = "kept = all_there_is()", "x = 1", "y = needs(a_little)"


class Notebook:
    """A process that runs out of memory at `NEEDS` after it ran `TAKES`."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def step(self, head: dict[str, Any], *_: Any, **__: Any) -> tuple[dict[str, Any], list[bytes]]:
        source = head["source"]
        if source == NEEDS and TAKES in self.ran:
            raise ProcessLost(ProcessExit(ExitReason.OUT_OF_MEMORY))
        self.ran.append(source)
        failed = new_output("error", ename="MemoryError", evalue="", traceback=[])
        outputs = [failed] if source == TAKES else []
        return {"ended": "error" if outputs else "success", "outputs": outputs}, []

    def close(self) -> None:
        """Do nothing: there is no process to end."""


class Notebooks:
    can_fork = False

    def __init__(self) -> None:
        self.made: list[Notebook] = []

    def process(self, entry: str) -> Notebook:
        self.made.append(Notebook())
        return self.made[-1]


def ran(*sources: str) -> list[list[str]]:
    """Run a notebook with these cells; return the cells that each process ran."""
    supply = Notebooks()
    nb = new_notebook(cells=[new_code_cell(source) for source in sources])
    NotebookRun(nb, {}, supply).run()  # type: ignore[arg-type]
    return [notebook.ran for notebook in supply.made]


def test_the_cell_that_took_the_memory_is_given_up_and_not_the_one_that_lacked_it() -> None:
    assert ran(GIVES, TAKES, NEEDS, GIVES) == [[GIVES, TAKES], [GIVES, NEEDS, GIVES]]


def test_where_nobody_ran_out_of_memory_the_cell_itself_is_given_up() -> None:
    class Greedy(Notebook):
        def step(self, head: dict[str, Any], *_: Any, **__: Any) -> tuple[dict, list[bytes]]:
            if head["source"] == NEEDS:
                raise ProcessLost(ProcessExit(ExitReason.OUT_OF_MEMORY))
            return super().step(head)

    supply = Notebooks()
    supply.process = lambda entry: supply.made.append(Greedy()) or supply.made[-1]  # type: ignore
    nb = new_notebook(cells=[new_code_cell(source) for source in (GIVES, NEEDS, GIVES)])
    NotebookRun(nb, {}, supply).run()  # type: ignore[arg-type]
    assert [notebook.ran for notebook in supply.made] == [[GIVES], [GIVES, GIVES]]
    assert "ended or blocked Python" in nb.cells[1].outputs[0].evalue


CHECK = {"nbgrader": {"grade_id": "check-after", "grade": True, "solution": False}}


def given(source: str, now: str | None = None) -> NotebookNode:
    """A cell of the chapter, with its current text if that was changed."""
    return new_code_cell(now or source, id=f"code-{digest_of(source)}")


@pytest.mark.parametrize(
    ("below", "run"),
    [
        ([], 3),
        ([given("draw(gm)"), given("x = 1")], 3),
        ([given("x = 1"), new_markdown_cell("Mine.")], 3),
        ([new_code_cell('hint("after")', id="hint-after")], 3),
        ([given("draw(gm)"), new_code_cell('predict("03.1", "b")  # a or b', id="p")], 3),
        ([given("draw(gm)"), given("x = 1", now="x = 2")], 5),
        ([given("draw(gm)"), new_code_cell("def after(x): return x"), given("x")], 5),
        ([new_code_cell('hint(after())')], 4),
        ([new_code_cell("1", metadata={"nbgrader": {"grade_id": "a", "solution": True}})], 4),
    ],
)  # fmt: skip
def test_cells_of_the_chapters_own_are_not_run_after_the_last_that_matters(
    below: list[NotebookNode], run: int
) -> None:
    check = new_code_cell("check(after)", metadata=CHECK)
    nb = new_notebook(cells=[given("import torch"), new_code_cell("mine"), check, *below])
    assert NotebookCells(nb, EXERCISES).end_of_work() == run
    # A notebook without exercises of the course runs to the end.
    assert NotebookCells(nb, {}).end_of_work() == 3 + len(below)


@pytest.mark.parametrize(
    ("mine", "late"),
    [("def after(x): return helper(x)", True), ("def afterwards(x): return x", False)],
)
def test_a_late_answer_may_use_a_cell_of_the_chapters_own_that_was_moved(
    mine: str, late: bool
) -> None:
    class Undefined(Notebook):
        def step(self, head: dict[str, Any], *_: Any, **__: Any) -> tuple[dict, list[bytes]]:
            if head["do"] == "park":
                return {"done": "park", "state": "undefined"}, []
            return super().step(head)

    supply = Notebooks()
    supply.process = lambda entry: supply.made.append(Undefined()) or supply.made[-1]  # type: ignore
    check, helper = new_code_cell("check(after)", metadata=CHECK), given("def helper(x): return x")
    nb = new_notebook(cells=[check, new_code_cell(mine), helper])
    NotebookRun(nb, EXERCISES, supply).run()  # type: ignore[arg-type]
    (notebook,) = supply.made
    assert notebook.ran == [mine, *([helper.source] if late else [])]


def test_what_cells_of_the_chapters_own_show_is_not_kept() -> None:
    class Showing(Notebook):
        def step(self, head: dict[str, Any], *_: Any, **__: Any) -> tuple[dict, list[bytes]]:
            bare.append(head["bare"])
            told = [new_output("stream", name="stdout", text="told")]
            failed = [new_output("error", ename="TypeError", evalue="", traceback=[])]
            return {"ended": "success", "outputs": told + failed}, []

    bare: list[bool] = []
    supply = Notebooks()
    supply.process = lambda entry: Showing()  # type: ignore
    nb = new_notebook(cells=[given("print(1)"), new_code_cell("print(1)")])
    NotebookRun(nb, EXERCISES, supply).run()  # type: ignore[arg-type]
    assert bare == [True, False]
    kinds = [[output.output_type for output in cell.outputs] for cell in nb.cells]
    assert kinds == [["error"], ["stream", "error"]]


@pytest.mark.parametrize(
    ("source", "looked"),
    [("def after(x): return x", True), (f"def after(x):\n    {STUB}", False), (None, False)],
    ids=["an answer", "a stub", "no cell of its own"],
)
def test_cases_are_looked_at_while_cells_are_run_where_somebody_wrote_an_answer(
    source: str | None, looked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(
        "autograder.boxed.notebook_run.look_at",
        lambda exercise, case, limits: seen.append(case.name),
    )
    supply = Working()
    mine = {"nbgrader": {"grade_id": "after", "grade": False, "solution": True}}
    own = [new_code_cell(source, metadata=mine)] if source else []
    cells = [new_code_cell(f"x = {number}") for number in range(30)]
    nb = new_notebook(cells=[*own, *cells, new_code_cell("check(after)", metadata=CHECK)])
    run = NotebookRun(nb, EXERCISES, supply)  # type: ignore[arg-type]
    monkeypatch.setattr(run, "_park", lambda index: None)
    monkeypatch.setattr(run, "_try", lambda index: None)
    monkeypatch.setattr(run, "_park_late_answers", lambda: None)
    run.run()
    visible = [case.name for case in EXERCISES["after"].visible_cases()]
    assert len(visible) > 1 and seen == (visible if looked else [])


def test_random_models_are_looked_at_while_graphs_of_an_answer_are_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[str, Limits]] = []

    def look(exercise: Exercise, case: Case, limits: Limits) -> None:
        seen.append((case.name, limits))

    class Asking(Grading):
        def verdict(self, cases: tuple[Case, ...] | None = None) -> Verdict:
            for case in self.exercise.cases[:2]:
                self.runner("matches", case, Outcome(case.name), 0, 1)
            return Verdict(self.exercise.name, "failed", 0.0, ())

    monkeypatch.setattr("autograder.boxed.notebook_run.look_at", look)
    monkeypatch.setattr("autograder.boxed.notebook_run.Grading", Asking)
    data = {"grade_id": "check-half", "grade": True, "solution": False}
    nb = new_notebook(cells=[new_code_cell("check(half)", metadata={"nbgrader": data})])
    run = NotebookRun(nb, EXERCISES, Graphs(), seed=3)  # type: ignore[arg-type]
    run.notebook._process, run.notebook.deadline = Slow(), float("inf")  # type: ignore[assignment]
    run.notebook.parked[0] = Parked("parked", child=Slow())  # type: ignore[arg-type]
    run._try(0)
    random = EXERCISES["half"].random
    assert random is not None
    assert seen == [(case.name, GLANCE) for case in random.cases(3)[:2]]


class Graphs(Notebooks):
    """Processes for graphs, which answer that nothing matches."""

    def process(self, entry: str) -> Notebook:
        class Job(Notebook):
            def step(self, head: dict[str, Any], *_: Any, **more: Any) -> tuple[dict, list[bytes]]:
                more["meanwhile"]()
                stream = io.BytesIO()
                Outcome("", value=0).write(stream)
                return {"done": "job"}, [stream.getvalue()]

        return Job()


class Working(Notebooks):
    """Processes that call `meanwhile` at each step, as a step that takes a while does."""

    def process(self, entry: str) -> Notebook:
        class Busy(Notebook):
            def step(self, head: dict[str, Any], *_: Any, **more: Any) -> tuple[dict, list[bytes]]:
                more["meanwhile"]()
                return super().step(head)

        return Busy()


class Slow:
    """A process in which an answer runs out of time on every case."""

    def step(self, head: dict[str, Any], *_: Any, **__: Any) -> tuple[dict[str, Any], list[bytes]]:
        outcome, stream = Outcome(f"case {head['number']}"), io.BytesIO()
        outcome.ended = "out of time"
        outcome.write(stream)
        return {"done": "case"}, [stream.getvalue()]

    def queued(self) -> float:
        """Return 0: the process never waited for a processor."""
        return 0.0

    def close(self) -> None:
        """Do nothing: there is no process to end."""


def test_an_answer_that_used_up_its_time_is_told_once() -> None:
    told: list[str] = []
    data = {"grade_id": "check-after", "grade": True, "solution": False}
    nb = new_notebook(cells=[new_code_cell("check(after)", metadata={"nbgrader": data})])
    run = NotebookRun(nb, EXERCISES, Notebooks(), warn=told.append)  # type: ignore[arg-type]
    run.notebook._process, run.notebook.deadline = Slow(), float("inf")  # type: ignore[assignment]
    run.notebook.parked[0] = Parked("parked", child=Slow())  # type: ignore[arg-type]
    for case in EXERCISES["after"].cases:
        run._go(0, [case])
    assert run.notebook.ends == [ExitReason.OUT_OF_TIME]
    assert told == ["`after` used up its time on a case and was stopped."]


@pytest.mark.parametrize("state", ["undefined", "untried"])
def test_a_cell_that_is_not_python_is_told_with_its_line(state: str) -> None:
    cells = ["def after(x):\n    return 1", "<<<<<<< HEAD\ndef after(x):\n    return 2"]
    check = new_code_cell("check(after)", metadata=CHECK)
    nb = new_notebook(cells=[*map(new_code_cell, cells), check])
    run = NotebookRun(nb, EXERCISES, Notebooks())  # type: ignore[arg-type]
    run.notebook.parked[2] = Parked(state)  # type: ignore[arg-type]
    (finding,) = run._try(2).findings
    assert finding.code == "cell-did-not-run" and "at line 1: `<<<<<<< HEAD`" in finding.message


class Answering:
    """A process that tries an answer."""

    def __init__(self, answer: Callable[[float], float]) -> None:
        self.answer = answer

    def queued(self) -> float:
        """Return 0: the process never waited for a processor."""
        return 0.0

    def step(
        self, head: dict[str, Any], blobs: list[bytes], **more: Any
    ) -> tuple[dict[str, Any], list[bytes]]:
        more["meanwhile"]()
        make, label = pickle.loads(blobs[0]), f"case {head['number']}"
        stream = io.BytesIO()
        run_trial(head["kind"], self.answer, make, label).write(stream)
        return {"done": "case"}, [stream.getvalue()]

    def close(self) -> None:
        """Do nothing: there is no process to end."""


class Halving(Answering):
    """A process whose answer halves numbers, except the number `wrong`."""

    def __init__(self, wrong: float | None = None) -> None:
        super().__init__(lambda x: 9.0 if x == wrong else x / 2)


@pytest.mark.parametrize("wrong", [None, 4, -4])
@pytest.mark.parametrize("patience", [60.0, 0.0])
def test_outcomes_are_judged_once_early_or_in_the_end(
    wrong: float | None, patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise, early, late = EXERCISES["half"], list[str](), list[str]()

    def noting(where: list[str]) -> Callable[..., list[Finding]]:
        def find(exercise: Exercise, case: Case, outcome: Outcome, *a: Any, **k: Any) -> Any:
            where.append(case.name)
            return findings_of(exercise, case, outcome, *a, **k)

        return find

    monkeypatch.setattr("autograder.boxed.notebook_run.findings_of", noting(early))
    monkeypatch.setattr("autograder.judge.findings_of", noting(late))
    for module in ("notebook_run", "answer_trial"):
        monkeypatch.setattr(f"autograder.boxed.{module}.LOOKING", Limits(cpu=patience))
    data = {"grade_id": "check-half", "grade": True, "solution": False}
    nb = new_notebook(cells=[new_code_cell("check(half)", metadata={"nbgrader": data})])
    run = NotebookRun(nb, EXERCISES, Graphs(), seed=3)  # type: ignore[arg-type]
    run.notebook._process, run.notebook.deadline = Halving(), float("inf")  # type: ignore[assignment]
    run.notebook.parked[0] = Parked("parked", child=Halving(wrong))  # type: ignore[arg-type]
    run._graphs.begin_answer(lambda: None)
    run._go(0, exercise.visible_cases())
    verdict = run._try(0)
    assert sorted(early + late) == sorted(set(early + late))
    assert bool(early) == bool(patience)

    def halves(x: float) -> float:
        return 9.0 if x == wrong else x / 2

    assert verdict == Grading(exercise, TryHere(exercise, halves), 3).verdict()
    assert verdict.passed == (wrong is None)


def test_what_is_shown_in_a_students_words_comes_before_any_hidden_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same order applies to an answer that is a stub at its check and is defined later."""

    def stub(number: float) -> float:
        raise NotImplementedError

    children = [Answering(lambda x: x + 1 if x > 0 else x - 1), Answering(stub), Halving()]
    seen: list[tuple[str, str, bool]] = []
    go = Trial.go

    def noting(trial: Trial, child: Any, cases: Any, warn: Any, *, seals: bool) -> None:
        kinds = {"hidden" if case.hidden else case.aspect for case in cases} or {""}
        seen.append((trial._exercise.name, min(kinds), seals))
        go(trial, child, cases, warn, seals=seals)

    monkeypatch.setattr(Trial, "go", noting)
    supply = Notebooks()
    supply.can_fork = True
    data = {"grade": True, "solution": False}
    checks = [
        new_code_cell(f"check({name})", metadata={"nbgrader": data | {"grade_id": f"check-{name}"}})
        for name in EXERCISES
    ]
    nb = new_notebook(cells=[*checks, new_code_cell("def half(x): return x / 2")])
    run = NotebookRun(nb, EXERCISES, supply)  # type: ignore[arg-type]
    aside = lambda index: Parked("parked", child=children.pop(0))  # type: ignore[arg-type] # noqa: E731
    monkeypatch.setattr(run.notebook, "_set_aside", aside)
    verdicts = run.run()
    assert [verdict.status for verdict in verdicts.values()] == ["passed", "passed"]
    assert [row for row in seen if row[1]] == [
        ("after", "rare", False),
        ("half", "rare", False),  # the stub
        ("half", "rare", False),
        ("after", "hidden", True),
        ("half", "random", True),
    ]


def test_each_case_is_told_whether_it_was_tried_and_what_was_found() -> None:
    exercise = EXERCISES["half"]
    assert exercise.random is not None
    drawn = exercise.random.cases(7)

    def half(number: float) -> float:
        return {4: 2.0, -4: 9.0}.get(number, number / 2)

    cases = (*exercise.cases, *drawn[:2])  # the third model is not tried
    outcomes = {outcome.case: outcome for outcome in run_cases(exercise, half, cases)}
    reports = case_reports(exercise, drawn, outcomes, do_here)
    assert [(each.name, each.kind, each.state) for each in reports] == [
        ("four", "shown", "held"),
        ("minus four", "shown", "failed"),
        ("random 0", "random", "held"),
        ("random 1", "random", "held"),
        ("random 2", "random", "not tried"),
    ]
    assert reports[1] == CaseReport(
        "minus four", "negative numbers", "shown", "failed", "wrong-value",
        "`half` should give -2.0.",
    )  # fmt: skip
    assert reports_in([each.to_json() for each in reports]) == reports
    hidden = case_reports(EXERCISES["after"], (), {}, do_here)[-1]
    assert (hidden.name, hidden.kind, hidden.state) == ("nine", "hidden", "not tried")


@pytest.mark.parametrize(
    "rows", [None, "rows", [3], [["a"]], [["a", "b", "secret", "held", "", ""]]]
)
def test_what_is_no_list_of_cases_is_not_read(rows: Any) -> None:
    with pytest.raises(ValueError, match="no"):
        reports_in(rows)


def test_what_the_judge_does_meanwhile_is_no_time_of_the_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Quick(Slow):
        def step(self, head: dict[str, Any], *_: Any, **more: Any) -> tuple[dict, list[bytes]]:
            given.append(more["patience"])
            more["meanwhile"]()
            stream = io.BytesIO()
            Outcome(f"case {head['number']}").write(stream)
            return {"done": "case"}, [stream.getvalue()]

    def look(*_: Any) -> None:
        seconds.move(0.9)

    seconds = HandClock()
    monkeypatch.setattr("autograder.boxed.answer_trial.CLOCK", SuspendAwareClock(seconds))

    given: list[float] = []
    monkeypatch.setattr("autograder.boxed.answer_trial.look_at", look)
    patience = Timeouts(case_wall=600.0, trial=100.0)
    trial = Trial(EXERCISES["after"], patience, lambda case, outcome: None)
    cases = EXERCISES["after"].cases[:3]
    trial.go(Quick(), cases[:2], [].append)  # type: ignore[arg-type]
    trial.go(Quick(), cases[2:], [].append)  # type: ignore[arg-type]
    assert given == [100.0, 100.0, 100.0]


@pytest.mark.parametrize(
    ("share", "given"), [(0.0, [100.0, 60.0, 20.0]), (0.5, [100.0, 80.0, 60.0])]
)
def test_a_wait_for_a_processor_is_no_time_of_the_answers(
    share: float, given: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Busy(Slow):
        def step(self, head: dict[str, Any], *_: Any, **more: Any) -> tuple[dict, list[bytes]]:
            found.append(more["patience"])
            for _ in range(40):
                seconds.move(1.0)
                awake.now()
            stream = io.BytesIO()
            Outcome(f"case {head['number']}").write(stream)
            return {"done": "case"}, [stream.getvalue()]

        def queued(self) -> float:
            return share * seconds()

    seconds, found = HandClock(), list[float]()
    awake = SuspendAwareClock(seconds)
    monkeypatch.setattr("autograder.boxed.answer_trial.CLOCK", awake)
    trial = Trial(EXERCISES["after"], Timeouts(case_wall=600.0, trial=100.0), lambda *_: None)
    trial.go(Busy(), EXERCISES["after"].cases[:2], [].append)  # type: ignore[arg-type]
    trial.go(Busy(), EXERCISES["after"].cases[2:3], [].append)  # type: ignore[arg-type]
    assert found == given
