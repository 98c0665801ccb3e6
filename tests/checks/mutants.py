"""Finds mutants of the solutions that pass.

``python -m tests.checks.mutants --seconds 60 NAME...`` prints them.

A mutant is a solution with one edit. A mutant that passes either means the same as the solution,
or it is a wrong answer that no case catches. Only a reader of the contract can tell. A wrong one
becomes a wrong answer in the exercise's ``answers.py``, and then gets a case.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import multiprocessing
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import torch

from autograder.builder.outputs.references import solutions_of, solve_sources
from autograder.core.exercise import Exercise
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import Limits, bounded_output
from autograder.core.outcome import Outcome
from autograder.exercises import EXERCISES
from autograder.grading import Grading, TryHere
from autograder.judge import findings_of, judge
from autograder.runner import run
from autograder.speed import fx_tracing

SECONDS_FOR_ONE = 120.0
"""Seconds before the process of a mutant is killed."""

FOR_ONE_CASE = Limits(cpu=5.0, wall=30.0)
"""Limits for one case: many mutants never end, and need less time than a slow answer may take."""

SEED = 1
"""Seed for the random models and the order of the mutants, the same in every run."""

Change = Callable[[Any], ast.AST | None]
"""Changes a node in place, or returns a replacement."""

Edit = tuple[str, Change]
"""A short description of a change, and the change."""


@dataclass(frozen=True)
class Mutant:
    """A solution with one edit.

    Attributes:
        what: a short description of the change.
        text: the whole text.
    """

    what: str
    text: str

    def difference(self, source: str) -> list[str]:
        """The removed and added lines of the solution."""
        lines = difflib.unified_diff(plain(source).splitlines(), self.text.splitlines(), n=0)
        return [line for line in list(lines)[2:] if not line.startswith("@@")]


def plain(source: str) -> str:
    """Normalize a text: remove comments and unify its style."""
    return ast.unparse(ast.parse(source))


def mutants(source: str) -> list[Mutant]:
    """All mutants of a text that compile, each text once."""
    tree = ast.parse(source)
    passed_over = _annotations(tree)
    seen, found = {plain(source)}, []
    for i, node in enumerate(ast.walk(tree)):
        for what, edit in edits(node) if node not in passed_over else ():
            text = _edited(tree, i, edit)
            if text is not None and text not in seen:
                seen.add(text)
                found.append(Mutant(what, text))
    return found


def _annotations(tree: ast.Module) -> set[ast.AST]:
    """The nodes of all annotations; they are not edited, because no case could notice."""
    fields = ("annotation", "returns")
    roots = [getattr(node, field, None) for node in ast.walk(tree) for field in fields]
    return {node for root in roots if root is not None for node in ast.walk(root)}


class _Exchange(ast.NodeTransformer):
    """Replaces one node with another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else super().visit(node)


def _edited(tree: ast.Module, i: int, edit: Change) -> str | None:
    """The text of a copy in which node `i` is edited; None if it does not compile."""
    other = copy.deepcopy(tree)
    node = list(ast.walk(other))[i]
    new = edit(node)
    if new is not None:
        _Exchange(node, new).visit(other)
    try:
        text = ast.unparse(ast.fix_missing_locations(other))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an edit may compare with a literal by `is`
            compile(text, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return None
    return text


# ------------------------------------------------------------------ edits


def edits(node: ast.AST) -> Iterator[Edit]:
    """All edits of one node, without edits of the nodes inside it."""
    yield from _dropped_statements(node)
    yield from _OF_CLASS.get(type(node), _none)(node)


def _none(node: Any) -> Iterator[Edit]:
    return iter(())


_SIMPLE = (
    ast.Expr, ast.AugAssign, ast.Assign, ast.If, ast.For, ast.Raise, ast.Delete, ast.Continue,
    ast.Break,
)  # fmt: skip
"""The statements that an edit removes."""


def _dropped_statements(node: Any) -> Iterator[Edit]:
    for field in ("body", "orelse", "finalbody"):
        body = getattr(node, field, None)
        for i, statement in enumerate(body if isinstance(body, list) else ()):
            text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if isinstance(statement, _SIMPLE) and not text:
                yield "drop a statement", _at(i, ast.Pass(), field)


def _at(i: int, new: ast.AST | None, field: str) -> Change:
    """Replace an element of a list, or remove it."""

    def edit(node: Any) -> None:
        getattr(node, field)[i : i + 1] = [] if new is None else [copy.deepcopy(new)]

    return edit


def _set(field: str, value: Any) -> Change:
    return lambda node: setattr(node, field, copy.deepcopy(value))


def _become(new: ast.AST) -> Change:
    return lambda node: copy.deepcopy(new)


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
"""Replacements of comparisons. `<` becomes `<=`: cases may miss the boundary."""


def _compare(node: ast.Compare) -> Iterator[Edit]:
    for i, op in enumerate(node.ops):
        yield "another comparison", _at(i, _OPPOSITE[type(op)](), "ops")
    left = node.left
    if isinstance(left, ast.Call) and ast.unparse(left.func) == "type":
        if type(node.ops[0]) in (ast.Is, ast.In):
            given = [*left.args, node.comparators[0]]
            yield "subclasses too", _become(ast.Call(ast.Name("isinstance", ast.Load()), given, []))


def _condition(node: ast.BoolOp) -> Iterator[Edit]:
    yield "and/or", _set("op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    for i in range(len(node.values)):
        rest = node.values[:i] + node.values[i + 1 :]
        alone = len(rest) == 1
        yield "drop an operand", _become(rest[0]) if alone else _set("values", rest)


def _test(node: ast.If | ast.IfExp | ast.While) -> Iterator[Edit]:
    for value in (False,) if isinstance(node, ast.While) else (False, True):
        yield f"always {value}", _set("test", ast.Constant(value))


def _not(node: ast.UnaryOp) -> Iterator[Edit]:
    if isinstance(node.op, ast.Not):
        yield "drop not", _become(node.operand)


def _constant(node: ast.Constant) -> Iterator[Edit]:
    value = node.value
    if isinstance(value, bool):
        yield "another constant", _set("value", not value)
    elif isinstance(value, int):
        yield "another constant", _set("value", value + 1)
        yield "another constant", _set("value", value - 1)
    elif isinstance(value, float):
        yield "another constant", _set("value", 1.5 * value + 0.1)


def _call(node: ast.Call) -> Iterator[Edit]:
    for i in range(len(node.keywords)):
        yield "drop a keyword", _at(i, None, "keywords")
    if len(node.args) > 1:
        yield "drop the last argument", _at(len(node.args) - 1, None, "args")
        yield "swap arguments", _set("args", [node.args[1], node.args[0], *node.args[2:]])
    if node.args and not isinstance(node.args[0], ast.Starred):
        yield "drop a call", _become(node.args[0])
    if isinstance(node.func, ast.Attribute):
        yield "drop a method", _become(node.func.value)
    if ast.unparse(node.func) == "isinstance" and len(node.args) == 2:
        several = isinstance(node.args[1], ast.Tuple)
        given = ast.Call(ast.Name("type", ast.Load()), node.args[:1], [])
        exact = ast.Compare(given, [ast.In() if several else ast.Is()], node.args[1:])
        yield "no subclasses", _become(exact)


def _comprehension(node: ast.comprehension) -> Iterator[Edit]:
    for i in range(len(node.ifs)):
        yield "drop if", _at(i, None, "ifs")


_RELATED = {
    "args": "kwargs", "kwargs": "args", "values": "keys",
    "inserting_before": "inserting_after", "inserting_after": "inserting_before",
    "all": "any", "any": "all", "min": "max", "max": "min",
}  # fmt: skip
"""Names that are easily confused."""


def _attribute(node: ast.Attribute) -> Iterator[Edit]:
    if node.attr in _RELATED:
        yield "another attribute", _set("attr", _RELATED[node.attr])


def _name(node: ast.Name) -> Iterator[Edit]:
    if node.id in ("all", "any", "min", "max"):
        yield "another function", _set("id", _RELATED[node.id])


def _with(node: ast.With) -> Iterator[Edit]:
    yield "drop with", _become(ast.If(ast.Constant(True), node.body, []))


def _collection(node: ast.Tuple | ast.List | ast.Set) -> Iterator[Edit]:
    if len(node.elts) > 1 and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        for i in range(len(node.elts)):
            yield "drop an element", _at(i, None, "elts")


_OTHER: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


def _operation(node: ast.BinOp) -> Iterator[Edit]:
    yield "swap operands", _become(ast.BinOp(node.right, node.op, node.left))
    if type(node.op) in _OTHER:
        yield "another operator", _set("op", _OTHER[type(node.op)]())


_OF_CLASS: dict[type[ast.AST], Callable[[Any], Iterator[Edit]]] = {
    ast.Compare: _compare, ast.BoolOp: _condition, ast.UnaryOp: _not,
    ast.If: _test, ast.IfExp: _test, ast.While: _test,
    ast.Constant: _constant, ast.Call: _call, ast.comprehension: _comprehension,
    ast.Attribute: _attribute, ast.BinOp: _operation, ast.Name: _name, ast.With: _with,
    ast.Tuple: _collection, ast.List: _collection, ast.Set: _collection,
}  # fmt: skip


# ------------------------------------------------------------------ trying them


def caught_by(exercise: Exercise, text: str, names: dict[str, Any]) -> str:
    """The case that catches an answer and its finding; ``""`` if the answer passes.

    Args:
        exercise: the exercise.
        text: the answer's text.
        names: the definitions of its chapter.
    """
    space = dict(names)
    try:
        exec(compile(text, "<mutant>", "exec"), space)
        answer, outcomes = space[exercise.name], []
    except Exception as error:
        return f"its definition: {type(error).__name__}"
    for case in exercise.cases:
        outcome = run(exercise, answer, case, limits=FOR_ONE_CASE)
        with preserve_global_state(), bounded_output(0):  # as in `judge`
            found = findings_of(exercise, case, outcome)
        if found:
            return f"{case.name}: {found[0].code}"
        outcomes.append(outcome)
    return _caught_at_random(exercise, answer, outcomes)


def _caught_at_random(exercise: Exercise, answer: Any, outcomes: list[Outcome]) -> str:
    """The finding on all cases together, or on random models, after each case passed alone."""
    verdict = judge(exercise, outcomes)
    if verdict.passed:
        grading = Grading(exercise, TryHere(exercise, answer), seed=SEED)
        verdict = grading.on_random_models(verdict, outcomes, exercise.cases)
    if verdict.passed:
        return ""
    return verdict.findings[0].code if verdict.findings else verdict.status


def try_in_fork(exercise: Exercise, text: str, names: dict[str, Any]) -> str:
    """Run `caught_by` in a separate process, which keeps an answer's side effects out of this one.

    The process is forked, because importing PyTorch takes longer than trying a mutant.
    """
    context = multiprocessing.get_context("fork")
    mine, other = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(other, exercise, text, names), daemon=True)
    process.start()
    other.close()
    try:
        return str(mine.recv()) if mine.poll(SECONDS_FOR_ONE) else "it does not end"
    except EOFError:
        return "its process ended"
    finally:
        process.kill()
        process.join()
        mine.close()


def _send(to: Connection, exercise: Exercise, text: str, names: dict[str, Any]) -> None:
    """Send the result of `caught_by`, and exit before leftover code of the answer can run."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    torch.set_num_threads(1)  # the parent's other threads do not exist here
    try:
        said = caught_by(exercise, text, names)
    except BaseException as error:  # an answer may raise anything, at any time
        said = type(error).__name__
    to.send(said)
    os._exit(0)


@dataclass
class Tally:
    """Counts of the mutants of one solution."""

    name: str
    of: int
    tried: int = 0
    survived: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        tried = f"{self.tried} of {self.of} mutants tried"
        return f"== {self.name}: {tried}, {self.survived} survived, {self.seconds:.0f} s"


def survivors(exercise: Exercise, seconds: float, say: Callable[[str], None] = print) -> Tally:
    """Try the mutants of an exercise's solution, and report those that pass.

    Args:
        exercise: the exercise.
        seconds: time after which no other mutant is started.
        say: receives each mutant that passes, as the lines that differ.
    """
    source = solve_sources(exercise.chapter)[exercise.name]
    names = solutions_of(exercise.chapter)
    todo = mutants(source)
    random.Random(SEED).shuffle(todo)  # a short run gets edits of all kinds
    tally, began = Tally(exercise.name, len(todo)), time.monotonic()
    for mutant in todo:
        if time.monotonic() - began > seconds:
            break
        tally.tried += 1
        if not try_in_fork(exercise, mutant.text, names):
            tally.survived += 1
            lines = [f"{exercise.name}: {mutant.what}", *mutant.difference(source)]
            say("\n    ".join(lines))
    tally.seconds = time.monotonic() - began
    return tally


def main(words: Sequence[str] | None = None) -> None:
    """Print the mutants that pass, and a line for each exercise."""
    wanted = _arguments(words)
    if unknown := [name for name in wanted.names if name not in EXERCISES]:
        sys.exit(f"There is no exercise {unknown[0]!r}.")
    fx_tracing.install()
    for name in wanted.names or EXERCISES:
        tally = survivors(EXERCISES[name], wanted.seconds, lambda text: print(text, flush=True))
        print(tally, flush=True)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.checks.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="exercises; all by default")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="how long each exercise may take (60)"
    )
    return parser.parse_args(words)


if __name__ == "__main__":
    main()
