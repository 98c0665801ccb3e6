r"""Reads the submissions of a chapter: `tests/exercises/chNN_title/submissions.toml`.

The table of an exercise has an entry for each student; the students are the same in all chapters:
`CLASS`. An entry is the style of a right or wrong answer, or a table::

    [retarget]
    ada = "new nodes, then erased"
    dan = { style = "keyword arguments dropped", loses = ["arguments"] }
    gina.text = "def retarget(model, *others):\n    return model.graph"

Such a table has these keys:

* `text`: the answer itself;
* `style`: the style of the answer, which may be edited. `replace` and `by` replace a piece of its
  code. With `fitted_to` (``"classes"``, ``"graphs"`` or ``"seeds"``), it works only for the cases
  of the check cell, and returns `otherwise` for all others. With `wrapper`, it is renamed to
  `honest`, and the wrapper is the answer;
* `loses`: the aspects that the answer loses, or ``"everything"``.

An answer earns all points, and an answer of `finn` or `gina` none, unless `loses` is given. Three
more tables are optional:

* `[does]`: by student, the special feature of the submission, if `CLASS` does not describe it;
* `[cells]`: by student, the cells that the student adds at the end of the notebook;
* `[accidents]`: by a function in `accidents`, its arguments. The accident happens to the right
  answers of `ada`, or of the student `answers_of`; to all of them, or `only` to these.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from autograder.exercises import of_chapter
from tests.support.submissions import ALL, NOTHING, Submission, accidents, all_but
from tests.support.submissions.answer_text import (
    changed,
    fitted_to_classes,
    fitted_to_graphs,
    fitted_to_seeds,
    text_of,
    wrapped,
)
from tests.support.submissions.edits import add

FOLDER = Path(__file__).parents[2] / "exercises"

CLASS = {
    "ada": "all right",
    "bert": "all right, in other ways",
    "dan": "right in part",
    "eva": "fitted to the visible cases",
    "finn": "wrong kinds",
    "gina": "exceptions",
}
"""The special feature of each student's answers; `cleo` never answers."""

_ALL_RIGHT = ("ada", "bert")
_EARN_NOTHING = ("finn", "gina")

Table = dict[str, Any]


class SubmissionsError(LookupError):
    """A `submissions.toml` that does not have the form above."""


@contextmanager
def _reading(place: str) -> Iterator[None]:
    """Add to an error the place in the file."""
    try:
        yield
    except LookupError as error:
        raise SubmissionsError(f"{place}: {error.args[0]}") from error


def all_submissions() -> list[Submission]:
    """All submissions of the class, student by student."""
    chapters = [path.parent.name.removeprefix("ch") for path in FOLDER.glob("*/submissions.toml")]
    found = [submission for chapter in chapters for submission in submissions_of(chapter)]
    return sorted(found, key=lambda submission: (submission.student, submission.chapter))


def submission_of(student: str, chapter: str) -> Submission:
    """A student's submission of a chapter."""
    return next(each for each in submissions_of(chapter) if each.student == student)


@cache
def submissions_of(chapter: str) -> tuple[Submission, ...]:
    """The submissions of a chapter.

    Raises:
        SubmissionsError: the file of the chapter does not have the form above.
    """
    path = FOLDER / f"ch{chapter}" / "submissions.toml"
    with _reading(f"{path.parent.name}/{path.name}"):
        return read(chapter, path.read_text(encoding="utf-8"))


def read(chapter: str, text: str) -> tuple[Submission, ...]:
    """Read the submissions of a chapter from the text of its file.

    Raises:
        SubmissionsError: the text does not have the form above.
    """
    try:
        tables: dict[str, Table] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SubmissionsError(str(error)) from error
    does, cells, happened = (tables.pop(key, {}) for key in ("does", "cells", "accidents"))
    names = [exercise.name for exercise in of_chapter(chapter)]
    _must_be_known(tables, names, "exercise")
    for given in (does, cells, *tables.values()):
        _must_be_known(given, CLASS, "student")
    answers, earns = _answers(tables)
    found = [Submission("cleo", chapter, "the notebook as it was given out")]
    for student, usual in CLASS.items():
        edits = tuple(add(source) for source in cells.get(student, ()))
        if answers[student] or edits:
            special = does.get(student, usual)
            given = answers[student], edits, earns[student]
            found.append(Submission(student, chapter, special, *given))
    for name, given in happened.items():
        with _reading(f"accidents.{name}"):
            found.append(_accident(name, dict(given), chapter, names, answers))
    return tuple(found)


def _answers(
    tables: Mapping[str, Table],
) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, Fraction]]]:
    """The texts of all answers and the shares that they earn, by student and exercise."""
    answers: dict[str, dict[str, str]] = {student: {} for student in CLASS}
    earns: dict[str, dict[str, Fraction]] = {student: {} for student in CLASS}
    for exercise, row in tables.items():
        for student, given in row.items():
            with _reading(f"{exercise}.{student}"):
                if not isinstance(given, str | dict):
                    raise SubmissionsError("an answer is a style or a table")
                answer = {"style": given} if isinstance(given, str) else dict(given)
                earns[student][exercise] = _share(exercise, student, answer.pop("loses", None))
                answers[student][exercise] = _text(exercise, answer)
    return answers, earns


def _must_be_known(given: Iterable[str], known: Iterable[str], kind: str) -> None:
    known = list(known)
    for name in given:
        if name not in known:
            raise SubmissionsError(f"there is no {kind} '{name}', only {', '.join(known)}")


def _share(exercise: str, student: str, loses: object) -> Fraction:
    """The share of an exercise's points that an answer earns."""
    if loses is None:
        return NOTHING if student in _EARN_NOTHING else ALL
    if loses == "everything":
        return NOTHING
    if not isinstance(loses, list):
        raise SubmissionsError("'loses' is a list of aspects, or \"everything\"")
    return all_but(exercise, *loses)


def _fitted(exercise: str, style: str, fitted_to: str, otherwise: str) -> str:
    by_kind = {"classes": fitted_to_classes, "graphs": fitted_to_graphs, "seeds": fitted_to_seeds}
    _must_be_known([fitted_to], by_kind, "way to be fitted to")
    return by_kind[fitted_to](exercise, style, otherwise)


_FORMS: Mapping[tuple[str, ...], Callable[..., str]] = {
    ("text",): lambda exercise, text: text,
    ("style",): text_of,
    ("style", "replace", "by"): changed,
    ("style", "fitted_to", "otherwise"): _fitted,
    ("style", "wrapper"): wrapped,
}
"""The possible sets of keys of an answer's table, with the functions that make its text."""


def _text(exercise: str, given: Table) -> str:
    """The text of an answer."""
    for keys, make in _FORMS.items():
        if set(keys) == set(given):
            if not all(isinstance(value, str) for value in given.values()):
                raise SubmissionsError(f"{', '.join(keys)} must be text")
            return make(exercise, *(given[key] for key in keys))
    forms = "; ".join(", ".join(keys) for keys in _FORMS)
    raise SubmissionsError(f"it has {', '.join(given)}, and an answer has one of: {forms}")


_ACCIDENTS = dict(
    inspect.getmembers(
        accidents,
        lambda each: inspect.isfunction(each) and each.__module__ == accidents.__name__,
    )
)


def _accident(
    name: str, given: Table, chapter: str, names: list[str], answers: Mapping[str, dict[str, str]]
) -> Submission:
    """The submission after an accident.

    Args:
        name: the name of the accident.
        given: its table.
        chapter: the chapter's name.
        names: the chapter's exercises.
        answers: all answers, by student and exercise.
    """
    _must_be_known([name], _ACCIDENTS, "accident")
    student = given.pop("answers_of", _ALL_RIGHT[0])
    _must_be_known([student], _ALL_RIGHT, "student with right answers")
    only = given.pop("only", list(answers[student]))
    _must_be_known(only, answers[student], f"answer of {student} to")
    happened_to = {key: text for key, text in answers[student].items() if key in only}
    wanted = list(inspect.signature(_ACCIDENTS[name]).parameters)[2:]
    if set(given) != set(wanted):
        keys = ", ".join(given) or "nothing"
        raise SubmissionsError(f"it needs {', '.join(wanted) or 'nothing'}, and has {keys}")
    for key in {"on", "other"} & set(given):
        on = given[key] if isinstance(given[key], list) else [given[key]]
        _must_be_known(on, names, "exercise")
    try:
        return _ACCIDENTS[name](chapter, happened_to, **given)
    except KeyError as error:
        raise SubmissionsError(f"it needs an answer to {error.args[0]}") from error
