"""One process runs the graphs of all answers of a notebook; no answer pays for another."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from autograder.boxed.remote_graphs import MAX_GRAPH_PROCESSES, RemoteGraphRunner
from autograder.core.exercise import Case
from autograder.core.limits import OutOfTime
from autograder.core.outcome import Outcome
from autograder.core.process_exit import ExitReason, ProcessExit
from autograder.exercises import EXERCISES
from autograder.sandbox.client import ProcessLost

CASE: Case = EXERCISES["add_to_mul"].cases[0]
DONE, REFUSED, LOST, LATE = "done", "refused", "lost", "late"


class Scripted:
    """A process that performs these steps in order, and is then lost."""

    def __init__(self, *steps: str) -> None:
        self.steps, self.closed = list(steps), False

    def step(
        self,
        head: dict[str, Any],
        blobs: list[bytes],
        *,
        patience: float,
        meanwhile: Callable[[], None] | None,
    ) -> Any:
        if meanwhile is not None:
            meanwhile()
        what = self.steps.pop(0) if self.steps else LOST
        if what == LOST:
            raise ProcessLost(ProcessExit(ExitReason.OUT_OF_MEMORY))
        if what == LATE:
            raise OutOfTime
        result = Outcome("", value={"not admitted": "too large"} if what == REFUSED else 7)
        stream = io.BytesIO()
        result.write(stream)
        return {}, [stream.getvalue()]

    def close(self) -> None:
        self.closed = True


class Supply:
    """Supply these processes in order."""

    can_fork = True

    def __init__(self, *processes: Scripted) -> None:
        self.left, self.given = list(processes), 0

    def process(self, entry: str) -> Any:
        assert entry == "graphs"
        self.given += 1
        return self.left.pop(0)


def ask(graphs: RemoteGraphRunner) -> str:
    found, _ = graphs("matches", CASE, Outcome(CASE.name), 0, 1)
    return DONE if found == 7 else REFUSED


def test_the_answers_share_a_process() -> None:
    supply = Supply(Scripted(DONE, DONE, DONE))
    graphs = RemoteGraphRunner(supply)
    for _ in range(3):
        graphs.begin_answer()
        assert ask(graphs) == DONE
    assert supply.given == 1


def test_something_is_done_while_each_job_of_an_answer_is_done() -> None:
    done: list[int] = []
    graphs = RemoteGraphRunner(Supply(Scripted(DONE, DONE, DONE)))
    graphs.begin_answer(lambda: done.append(1))
    assert [ask(graphs), ask(graphs)] == [DONE, DONE]
    assert len(done) == 2
    graphs.begin_answer()
    assert ask(graphs) == DONE
    assert len(done) == 2


def test_what_an_answer_has_used_up_costs_no_other_answer() -> None:
    for worn in (Scripted(DONE), Scripted(DONE, REFUSED)):
        graphs = RemoteGraphRunner(Supply(worn, Scripted(DONE)))
        graphs.begin_answer()
        assert ask(graphs) == DONE
        graphs.begin_answer()
        assert ask(graphs) == DONE
        assert worn.closed


def test_an_answer_uses_up_processes_of_its_own_only() -> None:
    supply = Supply(
        Scripted(DONE), *(Scripted() for _ in range(MAX_GRAPH_PROCESSES)), Scripted(DONE)
    )
    graphs = RemoteGraphRunner(supply)
    graphs.begin_answer()
    assert ask(graphs) == DONE
    graphs.begin_answer()
    assert [ask(graphs) for _ in range(MAX_GRAPH_PROCESSES + 2)] == [REFUSED] * (
        MAX_GRAPH_PROCESSES + 2
    )
    assert supply.given == 1 + MAX_GRAPH_PROCESSES
    graphs.begin_answer()
    assert ask(graphs) == DONE


def test_a_job_that_was_given_up_is_not_answered_later() -> None:
    """The old process may still answer, and this must not pass for the next job's answer."""
    worn = Scripted(LATE, DONE)
    graphs = RemoteGraphRunner(Supply(worn, Scripted(REFUSED)))
    graphs.begin_answer()
    with pytest.raises(OutOfTime):
        ask(graphs)
    assert worn.closed
    assert ask(graphs) == REFUSED


def test_a_refusal_of_a_process_that_is_one_s_own_stays() -> None:
    supply = Supply(Scripted(REFUSED, DONE))
    graphs = RemoteGraphRunner(supply)
    graphs.begin_answer()
    assert [ask(graphs), ask(graphs)] == [REFUSED, DONE]
    graphs.close()
    assert supply.given == 1
