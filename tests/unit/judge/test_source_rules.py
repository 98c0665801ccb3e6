"""The check for forbidden tools reads an answer's text, and never runs it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from autograder.cards.card_text import card_text
from autograder.core.verdict import Verdict
from autograder.exercises import EXERCISES
from autograder.grading import Grading, TryHere
from autograder.judge import judge
from autograder.judge.answer_text import Source, source_of_answer
from autograder.judge.source_rules import Reading, read, reading_of, source_findings
from autograder.runner import run_cases
from autograder.submission.check_result import checks_of
from tests.exercises import answers_to, exercises_with

FORBIDDEN = ("all_input_nodes", "_input_nodes")

USES = {
    "an attribute": "def f(node):\n    return node.all_input_nodes",
    "a descriptor": "def f(n):\n    return list(torch._C._NodeBase._input_nodes.__get__(n))",
    "the getter of a property": "f = fx.Node.all_input_nodes.fget",
    "a name as text": "def f(n):\n    return getattr(n, '_input_nodes')",
    "attrgetter": "def f(n):\n    return operator.attrgetter('graph.all_input_nodes')(n)",
    "a dictionary of attributes": "def f(n):\n    return vars(fx.Node)['all_input_nodes'](n)",
    "text put together": "def f(n):\n    return getattr(n, 'all_' + 'input' + '_nodes')",
    "text in text": "def f(n):\n    return getattr(n, f'{\"all\"}_input_nodes')",
    "a helper": "def g(n):\n    return n.all_input_nodes\ndef f(n):\n    return g(n)",
    "a helper's helper": (
        "class A:\n    def of(self, n):\n        return h(n)\n"
        "h = lambda n: n._input_nodes\ndef f(n):\n    return A().of(n)"
    ),
    "a default": "def f(n, read=lambda n: n.all_input_nodes):\n    return read(n)",
    "a decorator": "def d(f):\n    return lambda n: n.all_input_nodes\n@d\ndef f(n):\n    pass",
    "a table": "ways = {'x': lambda n: n.all_input_nodes}\ndef f(n):\n    return ways['x'](n)",
    "a table filled later": (
        "ways = {}\nways['x'] = lambda n: n.all_input_nodes\ndef f(n):\n    return ways['x'](n)"
    ),
    "another name for it": "def g(n):\n    return n.all_input_nodes\nf = g",
    "what looks like one's own attribute": (
        "class A:\n    def of(self):\n        return self._input_nodes\n"
        "def f(n):\n    return A.of(n)"
    ),
    "within if": "if True:\n    def f(n):\n        return n.all_input_nodes",
    "under a magic": "%%time\ndef f(n):\n    return n.all_input_nodes",
    "eval": "def f(n):\n    return eval('n.all_' 'input_nodes')",
    "a class pattern": (
        "def f(n):\n    match n:\n        case fx.Node(all_input_nodes=xs):\n            return xs"
    ),
    "another name for what is imported": (
        "from somewhere import all_input_nodes as read\ndef f(n):\n    return read(n)"
    ),
    "the garbage collector": "import gc\ndef f(n):\n    return gc.get_referents(n)[0]",
    "its classes": "import inspect\ndef f(n):\n    return inspect.getmro(type(n))[1]",
    "its classes, imported": "from inspect import getmro\ndef f(n):\n    return getmro(type(n))[1]",
    "what a copy is made of": "def f(n):\n    return n.__reduce_ex__(2)[2][name(n)]",
    "a function of the garbage collector": (
        "from gc import get_referents as read\ndef f(n):\n    return read(n)[0]"
    ),
    "the class below": "def f(n):\n    return getattr(fx.Node.__base__, name(n))",
}

HARMLESS = {
    "an import that also names it": (
        "from torch.fx import Graph, all_input_nodes\ndef f(n):\n    return Graph, n.args"
    ),
    "a docstring": "def f(n):\n    '''Without `all_input_nodes`.'''\n    return n.args",
    "a docstring of one word": "def f(n):\n    'all_input_nodes'\n    return n.args",
    "a comment": "def f(n):\n    return n.args  # not all_input_nodes",
    "a message": "def f(n):\n    raise ValueError('all_input_nodes is forbidden')",
    "one's own attribute": (
        "class A:\n    def __init__(self):\n        self._input_nodes = []\n"
        "    def of(self, n):\n        return self._input_nodes\ndef f(n):\n    return A().of(n)"
    ),
    "one's own function of that name": (
        "def all_input_nodes(n):\n    return n.args\ndef f(n):\n    return all_input_nodes(n)"
    ),
    "a function that is not called": "def g(n):\n    return n.all_input_nodes\ndef f(n):\n    pass",
    "a local name of another cell's": (
        "inputs = node.all_input_nodes\ndef f(n):\n    inputs = []\n    return inputs"
    ),
    "a first try": "def f(n):\n    return n.all_input_nodes\ndef f(n):\n    return n.args",
    "eval mode": "def f(n):\n    model.eval()\n    return n.args",
    "modules of a model": "def f(n):\n    return [*model.modules(), re.compile('x')]",
    "getattr": "def f(n):\n    return getattr(n, 'args', None)",
    "attrgetter": "from operator import attrgetter\ndef f(n):\n    return attrgetter('args')(n)",
    "a class pattern": (
        "def f(n):\n    match n:\n        case fx.Node(args=found):\n            return found"
    ),
    "known imports": (
        "import torch, operator\nfrom torch.fx.node import map_arg\nfrom dataclasses import *\n"
        "def f(n):\n    return operator.add(map_arg(n.args, torch.relu), astuple)"
    ),
    "one's own getattr": "def getattr(n, a):\n    return a\ndef f(n):\n    return getattr(n, n)",
}

NOT_FOLLOWED = {
    "compile": "def f(n):\n    return FunctionType(compile(TEXT, 'x', 'eval').co_consts[0], {})(n)",
    "types.FunctionType": "import types\ndef f(n):\n    return types.FunctionType(n, {})",
    "FunctionType": "from types import FunctionType as F\ndef f(n):\n    return F(n, {})",
    "exec": "def g(n):\n    exec(TEXT)\ndef f(n):\n    return g(n)",
    "builtins.exec": "import builtins\ndef f(n):\n    builtins.exec(TEXT)",
    "__code__": "def f(n):\n    pass\nf.__code__ = g",
    "getattr": "def f(n):\n    return getattr(n, name(n))",
    "another name for getattr": "def f(n, read=getattr):\n    return read(n, name(n))",
    "attrgetter": "import operator as o\ndef f(n):\n    return o.attrgetter(name(n))(n)",
    "sys.modules": "import sys\ndef f(n):\n    return sys.modules['x'].y(n)",
    "modules from sys": "from sys import modules\ndef f(n):\n    return modules['x'].y(n)",
    "ctypes": "import ctypes\ndef f(n):\n    return ctypes.c_int(n)",
    "a file beside": "import helper\ndef f(n):\n    return helper.of(n)",
    "a file beside, within": "def f(n):\n    from helper import of\n    return of(n)",
    "a relative import": "from .helper import of\ndef f(n):\n    return of(n)",
    "all of a file beside": "from helper import *\ndef f(n):\n    return of(n)",
    "the answer in a file beside": "from helper import f",
    "all of it, the answer too": "from helper import *",
    "no text": "",
    "no text for it": "g = 1",
    "text that is run": "exec('def f(n): pass')",
}
"""Answers that are neither clean nor proven to be forbidden."""


@pytest.mark.parametrize("style", USES)
def test_use_is_found(style: str) -> None:
    assert read([USES[style]], "f", FORBIDDEN).forbidden


@pytest.mark.parametrize("style", [style for style in USES if style != "a decorator"])
def test_use_is_found_across_cells(style: str) -> None:
    first, _, rest = USES[style].partition("\ndef f")
    cells = [first, f"def f{rest}"] if rest else [first]
    assert read(["print(1)\n!ls", *cells, "f(1"], "f", FORBIDDEN).forbidden


@pytest.mark.parametrize("style", HARMLESS)
def test_mention_is_no_use(style: str) -> None:
    assert read([HARMLESS[style]], "f", FORBIDDEN) == Reading()


@pytest.mark.parametrize("style", NOT_FOLLOWED)
def test_what_cannot_be_followed_is_named_and_not_forbidden(style: str) -> None:
    reading = read([NOT_FOLLOWED[style]], "f", FORBIDDEN)
    assert reading.unread and not reading.forbidden


def test_names_of_what_cannot_be_followed_are_bounded() -> None:
    cells = [f"import {'x' * 500}{i}\ny{i} = {'x' * 500}{i}" for i in range(20)]
    reading = read(
        [*cells, f"def f(n):\n    return {', '.join(f'y{i}' for i in range(20))}"], "f", ()
    )
    assert len(reading.unread) == 4 and max(map(len, reading.unread)) == 60


def test_text_is_not_looked_at_where_nothing_is_forbidden() -> None:
    assert reading_of(EXERCISES["add_to_mul"], Source(("",), "add_to_mul")) == Reading()


def test_odd_text_does_no_harm() -> None:
    odd = ["(" * 10_000, "\0", "x = " + "-" * 100_000 + "1", "if" * 1000, "é\n\ud800"]
    assert read([*odd, "def f(n):\n    return n.args"], "f", FORBIDDEN) == Reading()


DECORATED = """\
import functools

def as_list(function):
    @functools.wraps(function)
    def wrapper(node):
        return list(function(node))
    return wrapper

@as_list
def inputs_of(node):
    yield from node.READ
"""
WITHOUT_DEF = "inputs_of = lambda node: list(node.READ)"
MADE = """\
def make():
    def inner(node):
        return node.READ
    return inner

inputs_of = make()
"""
DECOY = """\
def other(node):
    return node.READ

def honest(node):
    return node.args

other.__wrapped__ = honest
inputs_of = other
"""
STYLES = {"decorated": DECORATED, "a lambda": WITHOUT_DEF, "made": MADE, "a decoy": DECOY}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", ["args", "all_input_nodes"])
def test_an_answer_is_found_in_its_text(style: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.py"
    path.write_text(STYLES[style].replace("READ", name))
    module: dict[str, Any] = {"__name__": "answers"}
    exec(compile(path.read_text(), str(path), "exec"), module)
    source = source_of_answer(module["inputs_of"])
    assert source is not None
    exercise = EXERCISES["inputs_of"]
    reading = reading_of(exercise, source)
    codes = [finding.code for finding in source_findings(exercise, reading)]
    assert codes == ([] if name == "args" else ["forbidden"])
    assert not reading.unread


def _right(node):  # type: ignore[no-untyped-def]
    from torch import fx

    found: dict[fx.Node, None] = {}
    fx.node.map_arg((node.args, node.kwargs), lambda n: found.setdefault(n))
    return list(found)


def test_text_takes_what_was_earned() -> None:
    exercise = EXERCISES["inputs_of"]
    cases = exercise.cases[:3]
    outcomes = run_cases(exercise, _right, cases)
    assert judge(exercise, outcomes, cases, source=source_of_answer(_right)).passed
    cheat = Source((USES["a descriptor"],), "f")
    verdict = judge(exercise, outcomes, cases, source=cheat)
    assert (verdict.status, verdict.score) == ("failed", 0.0)
    assert not any(share.held for share in verdict.shares)
    assert verdict.findings[0].code == "forbidden"
    assert "`_input_nodes`, which this exercise forbids" in verdict.findings[0].message


def test_what_cannot_be_followed_costs_nothing_and_the_card_says_so() -> None:
    exercise = EXERCISES["inputs_of"]
    source = Source((NOT_FOLLOWED["compile"],), "f")
    grading = Grading(exercise, TryHere(exercise, _right), count=1, source=source)
    verdict = grading.verdict(exercise.cases[:3])
    assert verdict.passed and verdict.score == 1.0 and grading.drawn
    card = " ".join(card_text(verdict, exercise).split())
    assert "(`FunctionType`, `compile`): that costs no points" in card


BYPASSES = {
    "made by compile": (
        "def inputs_of(node):\n    code = compile(TEXT, torch.fx.node.__file__, 'eval')\n"
        "    return types.FunctionType(code.co_consts[0], {})(node)"
    ),
    "a file beside": "from helper import read\ndef inputs_of(node):\n    return read(node)",
    "a class pattern": (
        "def inputs_of(node):\n    match node:\n        case fx.Node(all_input_nodes=found):\n"
        "            return found"
    ),
    "compiled elimination": (
        "exec(compile(TEXT, torch.fx.node.__file__, 'exec'), names := {})\nclean = names['clean']\n"
        "def dead_nodes(model):\n    return clean(model)"
    ),
    "compiled tracing": (
        "trace = types.FunctionType(compile(TEXT, '', 'eval'), vars(fx))\n"
        "def build_by_hand(proj, shift):\n    return trace()"
    ),
}


@pytest.mark.parametrize("way", BYPASSES)
def test_a_way_around_is_forbidden_or_named_to_the_person_who_grades(way: str) -> None:
    (name,) = re.findall(r"^def (\w+)", BYPASSES[way], re.M)
    reading = reading_of(EXERCISES[name], Source((BYPASSES[way],), name))
    (check,) = checks_of([Verdict(name, "passed", 1.0, unread=reading.unread)])
    assert bool(reading.forbidden) != bool(check.not_followed())
    assert bool(reading.forbidden) == (way == "a class pattern")


CLEAN = [
    name
    for name, exercise in EXERCISES.items()
    if exercise.forbidden_words or name in exercises_with("TEXTS_ARE_CLEAN")
]


@pytest.mark.parametrize("name", CLEAN)
def test_right_answers_are_clean(name: str) -> None:
    right = [answer for answer in answers_to(name) if answer.finding is None]
    assert len(right) >= 3
    for answer in right:
        source = source_of_answer(answer.write)
        assert source is not None
        unmarked = Source(tuple(without_marks(source.cells)), source.name)
        assert reading_of(EXERCISES[name], unmarked) == Reading(), answer.style


def without_marks(cells: tuple[str, ...]) -> list[str]:
    """The text of answers without the decorators that register them."""
    return [re.sub(r"^@(right|wrong)\((?:[^()]|\n)*\)\n", "", cell, flags=re.M) for cell in cells]


def test_exercises_that_forbid_say_so() -> None:
    """The search of texts covers every attribute whose use is recorded."""
    for exercise in EXERCISES.values():
        names = {row[1] for row in exercise.cases[0].make(0).forbidden}
        noted_only = {"__init__", "create_proxy"}  # required by the task, not forbidden
        assert names - noted_only <= set(exercise.forbidden_words), exercise.name
