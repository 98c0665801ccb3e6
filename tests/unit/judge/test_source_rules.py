"""Where a tool is forbidden, the text of an answer is looked at, and is never run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autograder.exercises import EXERCISES
from autograder.judge import judge
from autograder.judge.answer_text import Source, source_of_answer
from autograder.judge.source_rules import NoText, forbidden_uses, source_findings
from autograder.runner import run_cases

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
}


@pytest.mark.parametrize("style", USES)
def test_use_is_found(style: str) -> None:
    assert forbidden_uses([USES[style]], "f", FORBIDDEN)


@pytest.mark.parametrize("style", [style for style in USES if style != "a decorator"])
def test_use_is_found_across_cells(style: str) -> None:
    first, _, rest = USES[style].partition("\ndef f")
    cells = [first, f"def f{rest}"] if rest else [first]
    assert forbidden_uses(["print(1)\n!ls", *cells, "f(1"], "f", FORBIDDEN)


@pytest.mark.parametrize("style", HARMLESS)
def test_mention_is_no_use(style: str) -> None:
    assert forbidden_uses([HARMLESS[style]], "f", FORBIDDEN) == []


@pytest.mark.parametrize("cell", ["", "g = 1", "from helper import f", "exec('def f(n): pass')"])
def test_answer_without_text_is_told_so(cell: str) -> None:
    with pytest.raises(NoText):
        forbidden_uses([cell], "f", FORBIDDEN)
    (finding,) = source_findings(EXERCISES["inputs_of"], Source((cell,), "f"))
    assert finding.code == "no-text"
    assert "No cell of the notebook defines" in finding.message


def test_text_is_not_looked_at_where_nothing_is_forbidden() -> None:
    assert source_findings(EXERCISES["add_to_mul"], Source(("",), "add_to_mul")) == []


def test_odd_text_does_no_harm() -> None:
    odd = ["(" * 10_000, "\0", "x = " + "-" * 100_000 + "1", "if" * 1000, "é\n\ud800"]
    assert forbidden_uses([*odd, "def f(n):\n    return n.args"], "f", FORBIDDEN) == []


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
@pytest.mark.parametrize("read", ["args", "all_input_nodes"])
def test_an_answer_is_found_in_its_text(style: str, read: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.py"
    path.write_text(STYLES[style].replace("READ", read))
    module: dict[str, Any] = {"__name__": "answers"}
    exec(compile(path.read_text(), str(path), "exec"), module)
    source = source_of_answer(module["inputs_of"])
    assert source is not None
    codes = [finding.code for finding in source_findings(EXERCISES["inputs_of"], source)]
    assert codes == ([] if read == "args" else ["forbidden"])


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


def test_exercises_that_forbid_say_so() -> None:
    """Every attribute whose use is noted is a word that texts are looked at for."""
    for exercise in EXERCISES.values():
        names = {row[1] for row in exercise.cases[0].make(0).forbidden}
        noted_only = {"__init__", "create_proxy"}  # to be used, not to be left alone
        assert names - noted_only <= set(exercise.forbidden_words), exercise.name
