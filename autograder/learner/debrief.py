"""Help for an exercise after failures and after a pass: hints, a solution, a debrief."""

from __future__ import annotations

import ast
import hashlib
import linecache
import marshal
from typing import Any

from autograder.cards.folds import NOTED, Fold, debrief_fold, hint_folds, solution_fold
from autograder.core.code_objects import codes_of
from autograder.core.exercise import Exercise
from autograder.core.verdict import Verdict
from autograder.environment import notebook_kernel
from autograder.learner.next_links import next_links
from autograder.lessons import Debrief, debriefs
from autograder.lessons.record_status import is_settled
from autograder.workspace import progress_file

TRIES = 3
"""After this many different answers have failed, a learner may see a solution."""

_solutions_are_on = True


def offer_solutions(on: bool) -> None:
    """Turn solutions before a pass on or off in this notebook, for example in a class."""
    global _solutions_are_on
    _solutions_are_on = on


def has_debrief(exercise: Exercise) -> bool:
    """Whether an exercise has a debrief to show after a pass."""
    return exercise.name in debriefs()


def show_debrief(exercise: Exercise) -> None:
    """Show the debrief of an exercise that is passed or seen; otherwise, say how to get it."""
    name = exercise.name
    if not has_debrief(exercise):
        # A package that a class makes for its students contains no debriefs.
        print(f"There is no debrief of {name}." if debriefs() else "Your class has no debriefs.")
    elif not is_settled(progress_file.verdicts().get(name)):
        print(f"The debrief of {name} opens after you have passed it: run check({name}) first.")
    else:
        _show(exercise)


def show_solution(exercise: Exercise) -> None:
    """Show the solution of an exercise to a learner who has tried; otherwise, say how to get it."""
    name = exercise.name
    if is_settled(progress_file.verdicts().get(name)) and has_debrief(exercise):
        _show(exercise)
    elif not _has_solution(exercise):
        print(f"The solution of {name} is not shown here before you have passed it.")
    elif (failed := len(progress_file.failures(name))) < _tries(exercise):
        print(
            f"The solution of {name} opens after {_tries(exercise)} failed checks of different "
            f'code. So far: {failed}. hint("{name}") shows the hints.'
        )
    else:
        progress_file.note_seen(name)
        _show(exercise, NOTED)


def help_after(verdict: Verdict, exercise: Exercise, answer: Any) -> tuple[list[Fold], bool]:
    """The folds of a card, and whether a solution is among them.

    A fold opens without the kernel, so its content is decided now, by the number of failures. An
    answer that fails again unchanged counts once. A solution in a fold counts as seen.

    Args:
        verdict: on an answer that was tried.
        exercise: its exercise.
        answer: the answer.
    """
    if progress_file.is_grading() or notebook_kernel.is_automatic():
        return [], False
    if verdict.passed:
        return [debrief_fold(debriefs()[exercise.name])] if has_debrief(exercise) else [], False
    if verdict.status not in ("failed", "crashed"):
        return [], False
    progress_file.note_failure(exercise.name, _digest(answer))
    failed = len(progress_file.failures(exercise.name))
    folds = hint_folds(exercise, max(1, failed))
    if not _has_solution(exercise) or failed < _tries(exercise):
        return folds, False
    progress_file.note_seen(exercise.name)
    return [*folds, solution_fold(debriefs()[exercise.name])], True


def _has_solution(exercise: Exercise) -> bool:
    """Whether a learner may see a solution before a pass."""
    return _solutions_are_on and has_debrief(exercise) and not progress_file.is_grading()


def _tries(exercise: Exercise) -> int:
    """Number of different answers that must fail before a solution; all hints come first."""
    return max(TRIES, len(exercise.hints))


def _show(exercise: Exercise, note: str = "") -> None:
    from autograder.cards.debrief import DebriefCard
    from autograder.cards.display import show

    told: Debrief = debriefs()[exercise.name]
    show(DebriefCard(exercise.name, told, next_links(exercise), note))


def _digest(answer: Any) -> str:
    """A digest of the definitions in an answer's cell, without comments, docstrings and layout."""
    code = next(codes_of(answer), None)
    if code is None:
        return ""
    # Since Python 3.13, "<string>" names the text of `python -c` as well as the code of any `exec`.
    lines = linecache.getlines(code.co_filename) if code.co_filename != "<string>" else []
    try:
        tree = _Definitions().visit(ast.parse("".join(lines)))
    except (SyntaxError, ValueError):
        tree = ast.Module([], [])
    # Python does not keep the text of a cell with `%%time`.
    data = ast.dump(tree).encode() if tree.body else marshal.dumps(code)
    return hashlib.sha256(data).hexdigest()[:12]


class _Definitions(ast.NodeTransformer):
    """Removes docstrings, and calls outside of functions such as that of `check`."""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        node.body = [each for each in node.body if not isinstance(each, ast.Expr)]
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else node
