"""The cases and wrong answers of an exercise that repeat others.

``python -m tests.checks.repeats NAME`` tries each wrong answer on each case, which takes up to a
minute. For each case it prints the wrong answers that no other case catches, or ``repeats``. For
each wrong answer that fails on the same cases as one before it, and breaks the same clauses, it
prints that one. A person decides what goes: the simplest case of a requirement stays, even if a
harder one catches the same answers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from autograder.exercises import EXERCISES
from tests.checks.examination import finding_on
from tests.exercises import Answer, answers_to, clauses_of

Caught = Mapping[Answer, frozenset[str]]
"""The names of the cases on which each wrong answer gets the finding meant for it."""


def caught_answers(name: str) -> dict[Answer, frozenset[str]]:
    """The cases that catch each wrong answer to an exercise."""
    cases = [case.name for case in EXERCISES[name].cases]
    return {
        answer: frozenset(case for case in cases if finding_on(answer, case))
        for answer in answers_to(name)
        if answer.finding is not None
    }


def about_cases(name: str, caught: Caught) -> Iterator[str]:
    """A line for each case: the wrong answers that no other case catches."""
    for case in EXERCISES[name].cases:
        alone = [answer.style for answer, cases in caught.items() if cases == {case.name}]
        yield f"case {case.name!r}: {'; '.join(alone) or 'repeats'}"


def about_answers(caught: Caught) -> Iterator[str]:
    """A line for each wrong answer that repeats one before it."""
    seen: dict[object, Answer] = {}
    for answer, cases in caught.items():
        first = seen.setdefault((cases, clauses_of(answer)), answer)
        if first is not answer:
            yield f"answer {answer.style!r}: repeats {first.style!r}"


def lines(name: str) -> Iterator[str]:
    """All lines about an exercise."""
    caught = caught_answers(name)
    yield from about_cases(name, caught)
    yield from about_answers(caught)


if __name__ == "__main__":
    for exercise in sys.argv[1:]:
        print(exercise, *lines(exercise), sep="\n")
