"""Check of a file with an answer: the card for a terminal, and a page for a browser."""

from __future__ import annotations

import ast
import difflib
import linecache
import sys
import types
from pathlib import Path

from autograder.api import exercise_called, verdict_on
from autograder.cards.card import card_html, card_text
from autograder.cards.card_text import parts_text
from autograder.cards.debrief import DebriefCard
from autograder.cards.hints import Hints
from autograder.cards.wording import Place, picture_of, picture_title
from autograder.core.exercise import Exercise
from autograder.core.limits import Limits, OutOfTime, bounded_output, time_limit
from autograder.core.verdict import Finding, Status, Verdict
from autograder.drawing.draw import draw
from autograder.drawing.html import bounded, escaped
from autograder.judge.advice import advice_for
from autograder.judge.error_text import came_from, error_text
from autograder.learner.debrief import has_debrief
from autograder.learner.stale_cell import stopping_call
from autograder.lessons import debriefs
from autograder.lessons.record_status import is_settled
from autograder.runner.interruption import interruption_record
from autograder.watch.job import Job, Result
from autograder.workspace import progress_file

LOADING = Limits(cpu=10.0, wall=60.0)
"""Limits for the code of a file outside of the answer."""

_NEAR = 0.8
_COLORS = """\
:root{color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--jp-content-font-color1:#e4e8ee;
--jp-layout-color1:#14171c;--jp-layout-color2:#20252c;--jp-border-color2:#444c57}}
body{font-family:system-ui,sans-serif;margin:24px;background:var(--jp-layout-color1,#ffffff);
color:var(--jp-content-font-color1,#1d2430)}"""


def do(job: Job) -> str | None:
    """Check a file, and write the result.

    Returns:
        The page with the picture, or ``None`` if there is nothing to draw.
    """
    exercise, file = exercise_called(job.exercise), Path(job.file)
    with bounded_output(LOADING.printed) as printed:
        loaded = load(file, exercise)
    verdict = loaded
    if not isinstance(verdict, Verdict):
        answer = vars(loaded)[exercise.name]
        stops = stopping_call(exercise.name, answer)
        if stops is not None:
            verdict = _nothing(exercise.name, "failed", stops.message, stops.advice)
        else:
            verdict = verdict_on(exercise, answer, hidden=False)
    place = _place(file.name, job.keys)
    card = card_text(verdict, exercise, debrief=has_debrief(exercise), place=place, most=job.lines)
    if printed.getvalue().strip():
        lines = "\n".join(f"    {line}" for line in bounded(printed.getvalue(), 40).split("\n"))
        card += f"\nThe file printed:\n{lines}"
    passed = verdict.passed or is_settled(progress_file.verdicts().get(exercise.name))
    other = repr(DebriefCard(exercise.name, debriefs()[exercise.name])) if (
        passed and has_debrief(exercise)
    ) else ""  # fmt: skip
    hints = [repr(Hints(exercise, i)) for i in range(1, len(exercise.hints) + 1)]
    parts = parts_text(verdict, exercise)
    Result(verdict.status, card, hints, other, parts).write(Path(job.result))
    return page_of(verdict, exercise)


def _place(file: str, keys: bool) -> Place:
    """The sentences of a card about the file and the keys."""
    passed, compare, hint = "", "", ""
    if keys:
        passed = "Press n for the next exercise."
        compare = "Press c to compare it with other right answers."
        hint = " If you are stuck, press h for a hint."
    stub = f"`{{name}}` still raises `NotImplementedError`. Write your answer in {file}, and save."
    again = "Change your code, and save."
    return Place(passed, compare, stub + hint, again + hint)


# ------------------------------------------------------------------ loading


def load(file: Path, exercise: Exercise) -> types.ModuleType | Verdict:
    """Run a file as Python does, and check that it defines the answer.

    Returns:
        The module; a verdict if there is no answer to check.
    """
    name = exercise.name
    try:
        source = file.read_bytes()
    except OSError as error:
        return _nothing(name, "failed", f"{file.name} cannot be read ({error.strerror}).", "")
    module = types.ModuleType("__main__")
    module.__file__ = str(file)
    sys.modules["__main__"] = module  # as in a notebook, so that functions are found by name
    text = source.decode("utf-8", errors="replace")
    # The card must show the code that runs now, even if the file is saved again before that.
    linecache.cache[str(file)] = (len(text), None, text.splitlines(keepends=True), str(file))
    try:
        code = compile(source, str(file), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return _no_python(name, file, error)
    try:
        with time_limit(LOADING):
            exec(code, vars(module))
    except OutOfTime as error:
        return _endless(name, file, error)
    except BaseException as error:  # even `exit()`
        record = interruption_record(error)
        message = f"{file.name} raised {error_text(record)} when it was run.{came_from(record)}"
        look = advice_for(exercise, record, "call") or (
            "The check calls your answer itself. Code without indentation runs on every save, "
            "before the check."
        )
        return _nothing(name, "crashed", message, look)
    return module if name in vars(module) else _undefined(name, file, text)


def _no_python(name: str, file: Path, error: Exception) -> Verdict:
    where = reason = ""
    if isinstance(error, SyntaxError):
        line = (error.text or "").strip()[:200]
        where = f", at line {error.lineno}: `{line}`" if line else f", at line {error.lineno}"
        reason = f" ({error.msg})"
    message = f"{file.name} is not valid Python{where}{reason}. None of it was run."
    return _nothing(name, "crashed", message, "Fix that line, and save.")


def _endless(name: str, file: Path, error: BaseException) -> Verdict:
    record = interruption_record(error)
    at = f" It was at line {record['line']}: `{record['text']}`." if record["line"] else ""
    message = f"{file.name} did not end, so your answer was not tested.{at}"
    return _nothing(name, "crashed", message, "Which loop or call outside of functions never ends?")


def _undefined(name: str, file: Path, text: str) -> Verdict:
    body = ast.parse(text).body
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = [node.name for node in body if isinstance(node, kinds)]
    near = difflib.get_close_matches(name, defined, 1, _NEAR)
    if near:
        message = f"{file.name} defines `{near[0]}`, but this exercise asks for `{name}`."
        return _nothing(name, "failed", message, "Compare the two names, letter by letter.")
    return _nothing(
        name, "failed", f"{file.name} does not define `{name}`.",
        f"Define `{name}` without indentation, not inside another function or an `if`.",
    )  # fmt: skip


def _nothing(name: str, status: Status, message: str, look: str) -> Verdict:
    return Verdict(name, status, 0.0, (Finding("file", message, look),), defined=False)


# ------------------------------------------------------------------ the page


def page_of(verdict: Verdict, exercise: Exercise) -> str | None:
    """A page with a picture of the card's case, or of the first model that the check uses."""
    picture = title = None
    nodes = verdict.findings[0].nodes if verdict.findings else ()
    try:
        with bounded_output(0):
            if verdict.example is not None and verdict.status != "passed":
                picture = picture_of(verdict.example, nodes)
                title = picture_title(verdict.example)
            if picture is None:
                model = exercise.visible_cases()[0].make(0).model
                picture = draw(model) if model is not None else None
                title = "The first model of the check"
            drawn = picture.html() if picture is not None else ""
    except Exception:  # even if the model cannot be drawn, the learner must get the card
        drawn = ""
    if not drawn:
        return None
    heading = f"{escaped(exercise.name)} · {escaped(title)}"
    card = card_html(verdict, exercise) if verdict.status != "not attempted" else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{heading}</title>'
        f"<style>{_COLORS}</style></head><body><main><h1>{heading}</h1>{drawn}{card}</main>"
        "</body></html>\n"
    )


def write_page(page: str, path: Path) -> None:
    """Write the page, or remove the old one if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError:
        path.unlink(missing_ok=True)
