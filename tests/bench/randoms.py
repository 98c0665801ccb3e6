"""What random models are worth: what they find alone, how small, how fast; false alarms."""

from __future__ import annotations

import os
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from autograder.exercise import Exercise
from autograder.judge import judge
from autograder.randomly import with_random_models
from autograder.run import run
from autograder.syllabus import EXERCISES
from autograder.verdict import Verdict
from tests.answers import Answer, all_answers

MODELS = int(os.environ.get("BENCH_MODELS", "2000"))
"""How many random models each right answer is tried on."""

WITH = {name: exercise for name, exercise in EXERCISES.items() if exercise.random}


@dataclass(frozen=True)
class Found:
    """What became of one answer on random models alone.

    Attributes:
        exercise: the exercise.
        style: of the answer.
        found: whether a model broke it.
        nodes: of the model that is shown; ``None`` where it cannot be traced, or none is shown.
        seconds: until the card is there.
    """

    exercise: str
    style: str
    found: bool
    nodes: int | None
    seconds: float


def look(place: int) -> Found:
    """Try an answer, by its place in the exam, on the random models of its exercise."""
    answer = all_answers()[place]
    exercise = WITH[answer.exercise]
    exercise.random.cases()
    start = time.process_time()
    verdict = alone(exercise, answer)
    seconds = time.process_time() - start
    nodes = len(verdict.example.before) if verdict.example and verdict.example.before else None
    return Found(answer.exercise, answer.style, not verdict.passed, nodes, seconds)


def alone(exercise: Exercise, answer: Answer) -> Verdict:
    """The verdict of random models, as if all other cases held."""
    held = Verdict(exercise.name, "passed", 1.0)
    return with_random_models(exercise, exercise.random, answer.write, held, [], ())


def alarms(place: int) -> list[str]:
    """The random models that break a right answer, in words."""
    answer = all_answers()[place]
    exercise = WITH[answer.exercise]
    found = []
    for case in exercise.random.cases(seed=99, count=MODELS):
        verdict = judge(exercise, [run(exercise, answer.write, case)], (case,))
        if not verdict.passed:
            words = verdict.findings[0].message if verdict.findings else verdict.status
            found.append(f"{answer}, {case.name}: {words}")
    return found


def places(*, right: bool) -> list[int]:
    """The places of the right, or wrong, answers to exercises with random models."""
    return [
        place
        for place, answer in enumerate(all_answers())
        if answer.exercise in WITH and (answer.finding is None) == right
    ]


def report(console: Console) -> None:
    """Print what random models find alone, then how often they are wrong."""
    with ProcessPoolExecutor() as pool:
        _print_found(console, pool.map(look, places(right=False)))
        right = places(right=True)
        complaints = [words for found in pool.map(alarms, right) for words in found]
    console.print(
        f"false alarms: {len(complaints)} over {MODELS} models for each of {len(right)} right "
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
        missed = "; ".join(row.style for row in own if not row.found)
        found = f"{len(hits)} of {len(own)}"
        table.add_row(name, found, _median(r.nodes for r in hits), _median(
            round(r.seconds, 2) for r in hits
        ), missed)  # fmt: skip
    console.print(table)
    everything = [row for own in rows.values() for row in own]
    hits = [row for row in everything if row.found]
    console.print(
        f"wrong answers found by random models alone: {len(hits)} of {len(everything)} = "
        f"{len(hits) / len(everything):.0%} (aim: 90 %)"
    )
    console.print(
        f"median size of the shown model: {_median(r.nodes for r in hits)} nodes (aim: 6)"
    )
    console.print(f"median time to the card: {_median(round(r.seconds, 2) for r in hits)} s")


def _median(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{statistics.median(known):g}" if known else "-"
