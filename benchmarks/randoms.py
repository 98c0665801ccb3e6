"""Measures random models: wrong answers that they find alone, size, time, and false alarms.

Each exercise has a process of its own, like a learner's kernel: the time of a trace grows with the
number of module classes, and each of the thousands of models is a class.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from autograder.core.exercise import Exercise, RandomCases
from autograder.core.verdict import Verdict
from autograder.exercises import EXERCISES
from autograder.grading import Grading, TryHere, fails
from autograder.judge import judge
from autograder.runner import run
from autograder.speed import fx_tracing
from tests.exercises import Answer, answers_to, beyond

fx_tracing.install()

MODELS = int(os.environ.get("BENCH_MODELS", "2000"))
"""Number of random models on which each right answer is tried."""

BATCH = 50
"""Number of random models that exist at the same time."""

MORE = 300
"""Number of further models for an answer that passed an exercise's own number of them."""


@dataclass(frozen=True)
class Found:
    """The result of one wrong answer on random models alone.

    Attributes:
        exercise: the exercise.
        style: the style of the answer.
        found: whether it failed on a model.
        nodes: size of the model that is shown; ``None`` if it cannot be traced, or none is shown.
        seconds: time until the card.
        otherwise: if it passed: its failures on `MORE` further models, or why it cannot fail.
    """

    exercise: str
    style: str
    found: bool
    nodes: int | None
    seconds: float
    otherwise: str = ""


def random_models(exercise: Exercise) -> RandomCases:
    """The random models of an exercise; it must have some."""
    assert exercise.random is not None
    return exercise.random


def look(name: str) -> list[Found]:
    """Try the wrong answers to an exercise on its random models alone."""
    exercise = EXERCISES[name]
    random_models(exercise).cases()
    return [_look(exercise, a) for a in answers_to(name) if a.finding is not None]


def _look(exercise: Exercise, answer: Answer) -> Found:
    start = time.process_time()
    verdict = alone(exercise, answer)
    seconds = time.process_time() - start
    nodes = len(verdict.example.before) if verdict.example and verdict.example.before else None
    otherwise = _otherwise(exercise, answer) if verdict.passed else ""
    return Found(answer.exercise, answer.style, not verdict.passed, nodes, seconds, otherwise)


def _otherwise(exercise: Exercise, answer: Answer) -> str:
    """The rate at which an answer fails on further models; if never, the reason if known."""
    broken = 0
    for seed in range(1, 1 + MORE // BATCH):
        for case in random_models(exercise).cases(seed=seed, count=BATCH):
            broken += fails(exercise, case, run(exercise, answer.write, case))
        gc.collect()
    return f"1 in {MORE / broken:.0f} models" if broken else beyond(answer) or "UNEXPLAINED"


def alone(exercise: Exercise, answer: Answer) -> Verdict:
    """The verdict of random models, assuming that all other cases pass."""
    held = Verdict(exercise.name, "passed", 1.0)
    attempt = TryHere(exercise, answer.write)
    return Grading(exercise, attempt, shrink=True).on_random_models(held, [], ())


def alarms(name: str) -> tuple[str, int, list[str]]:
    """Try right answers on random models.

    Returns:
        The exercise, the number of its right answers, and a line for each false alarm.
    """
    exercise = EXERCISES[name]
    right = [answer for answer in answers_to(name) if answer.finding is None]
    found = []
    for seed in range(-(-MODELS // BATCH)):
        for case in random_models(exercise).cases(seed=99 + seed, count=BATCH):
            for answer in right:
                verdict = judge(exercise, [run(exercise, answer.write, case)], (case,))
                if not verdict.passed:
                    words = verdict.findings[0].message if verdict.findings else verdict.status
                    found.append(f"{answer}, seed {99 + seed}, {case.name}: {words}")
        gc.collect()
    return name, len(right), found


def report(console: Console) -> None:
    """Print the wrong answers that random models find alone, then their false alarms."""
    names = [name for name, exercise in EXERCISES.items() if exercise.random]
    with ProcessPoolExecutor(
        mp_context=multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        _print_found(console, [row for rows in pool.map(look, names) for row in rows])
        _print_alarms(console, [pool.submit(alarms, name) for name in names])


def _print_alarms(console: Console, waiting: list[Future[tuple[str, int, list[str]]]]) -> None:
    answers, complaints = 0, list[str]()
    for done in as_completed(waiting):
        name, right, found = done.result()
        answers, complaints = answers + right, complaints + found
        console.print(f"  {name}: {len(found)} false alarms, {right} right answers")
    console.print(
        f"false alarms: {len(complaints)} over {MODELS} models for each of {answers} right "
        "answers (aim: 0)"
    )
    for words in complaints[:20]:
        console.print(f"  {words}", markup=False)


def _print_found(console: Console, results: Iterable[Found]) -> None:
    rows: dict[str, list[Found]] = defaultdict(list)
    for result in results:
        rows[result.exercise].append(result)
    table = Table("exercise", "found", "nodes shown", "s to the card", "not found")
    for name, own in rows.items():
        hits = [row for row in own if row.found]
        missed = "\n".join(f"{row.style}: {row.otherwise}" for row in own if not row.found)
        found = f"{len(hits)} of {len(own)}"
        table.add_row(name, found, _median(r.nodes for r in hits), _median(
            round(r.seconds, 2) for r in hits
        ), missed)  # fmt: skip
    console.print(table)
    everything = [row for own in rows.values() for row in own]
    hits = [row for row in everything if row.found]
    rare = sum(row.otherwise.startswith("1 in") for row in everything)
    console.print(
        f"wrong answers found by random models alone: {len(hits)} of {len(everything)} = "
        f"{len(hits) / len(everything):.0%} (aim: 90 %)"
    )
    console.print(
        f"median size of the shown model: {_median(r.nodes for r in hits)} nodes (aim: 6)"
    )
    console.print(
        f"found by some of {MORE} further models: {rare} of {len(everything) - len(hits)}"
    )
    console.print(f"median time to the card: {_median(round(r.seconds, 2) for r in hits)} s")


def _median(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{statistics.median(known):g}" if known else "-"
