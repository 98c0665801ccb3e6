"""A learner's kernel uses PyTorch as shipped: before, during and after a check.

The exception is a task that forbids some attributes: `runner.forbidden` watches these.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from autograder.builder.paths import ROOT

_CODE = """
import copy
import torch
from torch import fx, nn
from torch.nn.modules import module

MODULES = [fx, fx._symbolic_trace, fx.graph, fx.graph_module, fx.interpreter, fx.node, fx.proxy]
MODULES += [module, copy]

CLASSES = [each for one in MODULES for each in vars(one).values() if isinstance(each, type)]
OWN = [each for each in CLASSES if each.__module__.partition(".")[0] in ("torch", "copy")]
PLACES = [*map(vars, MODULES + OWN), copy._deepcopy_dispatch]

def differences():
    rows = [(then, now, name) for then, now in zip(before, PLACES) for name in then]
    return {name for then, now, name in rows if now.get(name) is not then[name]}

before, during = [dict(place) for place in PLACES], []

def look(result):
    during.append(differences())
    return result

from autograder import grade

{answer}
verdict = grade(name, answer)
assert during and not any(during), during
assert not differences(), differences()
print(verdict.status)
"""

_ANSWERS = {
    "a right answer": """
import operator
name = "add_to_mul"
def answer(model):
    gm = look(fx.symbolic_trace(model))
    for node in gm.graph.nodes:
        called = node.op == "call_function" and node.target in (operator.add, torch.add)
        if (called or (node.op == "call_method" and node.target == "add")):
            kwargs = dict(node.kwargs)
            if kwargs.pop("alpha", 1) == 1:
                node.target = torch.mul if called else "mul"
                node.kwargs = kwargs
    gm.recompile()
    return look(gm)
""",
    "an answer that raises": """
name = "relu_to_gelu"
def answer(model):
    look(fx.symbolic_trace(model))
    raise RuntimeError("no")
""",
    "an answer that checks itself": """
name = "relu_to_gelu"
def answer(model):
    if not during:
        grade(name, lambda model: look(fx.symbolic_trace(model)))
    return look(fx.symbolic_trace(model))
""",
}


@pytest.mark.parametrize("kind", _ANSWERS)
def test_nothing_of_pytorch_is_replaced_for_a_check(kind: str) -> None:
    code = _CODE.replace("{answer}", _ANSWERS[kind])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (done.stdout == "passed\n") == (kind == "a right answer")
