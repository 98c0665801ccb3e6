"""The cases that a page shows only after `reveal`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from autograder.cards.shown_source import shown_source
from autograder.cards.wording import long_results, short_facts
from autograder.classroom.lateness.reveals import reveals_of
from autograder.classroom.records.journal import JOURNAL, Journal
from autograder.core.verdict import Example
from autograder.submission.check_result import PrivateCase
from autograder.submission.result import Result

TITLES = {
    "hidden": "A hidden case that your answer fails",
    "random": "The results on the random model",
}
"""By kind of the case, the heading above it."""


def cases_of(room: Path, student: str, chapter: str) -> dict[str, PrivateCase]:
    """The cases that a student's page may show, by exercise; none before a `reveal`."""
    shown = reveals_of(room, chapter)
    if not shown:
        return {}
    hidden = {case for one in shown for case in one.cases}
    path = room / JOURNAL
    result = _results(path, path.stat().st_mtime_ns).get((student, chapter))
    return {
        check.exercise: check.private
        for check in (result.checks if result else ())
        if check.private
        and (check.private.kind == "random" or f"{check.exercise}: {check.private.case}" in hidden)
    }


@lru_cache(maxsize=1)
def _results(path: Path, changed: int) -> Mapping[tuple[str, str], Result]:
    return {(one.student, one.chapter): one for one in Journal(path).results()}


class ShownCase:
    """A case in the form that the page's template needs; the template escapes its texts.

    Args:
        case: the case.
    """

    def __init__(self, case: PrivateCase) -> None:
        inputs = tuple(case.inputs.splitlines())
        example = Example(case.case, case.model, case.call, inputs, case.expected, case.obtained)
        self.title, self.name = TITLES[case.kind], case.case
        self.source = shown_source(case.model) if case.model else ""
        self.facts = [(name, "\n".join(lines)) for name, lines, _ in short_facts(example)]
        self.facts += [(name, "".join(parts)) for name, parts in long_results(example)]
