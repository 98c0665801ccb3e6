"""A learner's check takes less time, and leaves PyTorch as it found it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.builder.paths import ROOT
from autograder.core import quick_tracing
from autograder.runner.procedures import PROCEDURES
from autograder.runner.quickly import COMPILED

_BEGIN = """
import copy
import torch
from torch import fx, nn
from autograder import grade
from autograder.runner.quickly import _CHANGES as changes

seen = []

def look():
    seen.append([change.now is change.after for change in changes])

def relu_to_gelu(model):
    look()
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        called = node.op == "call_module" and type(gm.get_submodule(node.target)) is nn.ReLU
        if called or (node.op == "call_method" and node.target == "relu"):
            look()
    return gm

assert len(changes) > 12
"""

_CASES = {
    "a check": """
verdict = grade("relu_to_gelu", relu_to_gelu)
assert seen and all(map(all, seen)), seen
assert all(change.now is change.before for change in changes)
assert verdict.status == "failed"
""",
    "an answer that checks itself": """
first = relu_to_gelu
def relu_to_gelu(model):
    if len(seen) == 0:
        grade("relu_to_gelu", first)
        look()
    return first(model)
grade("relu_to_gelu", relu_to_gelu)
assert all(map(all, seen)) and len(seen) > 2
assert all(change.now is change.before for change in changes)
""",
    "a stop": """
def relu_to_gelu(model):
    look()
    raise KeyboardInterrupt
try:
    grade("relu_to_gelu", relu_to_gelu)
except KeyboardInterrupt:
    pass
assert all(map(all, seen)) and seen
assert all(change.now is change.before for change in changes)
""",
    "a PyTorch that was mended before the first check": """
stock = fx.Tracer.create_arg
calls = []
def mended(self, a):
    calls.append(a)
    return stock(self, a)
fx.Tracer.create_arg = mended
grade("relu_to_gelu", relu_to_gelu)
assert seen and not any(map(any, seen))
assert calls and fx.Tracer.create_arg is mended
""",
    "an answer that mends PyTorch": """
def mine(self, *args, **kwargs):
    return self._call_impl(*args, **kwargs)
def relu_to_gelu(model):
    nn.Module.__call__ = mine
    return fx.symbolic_trace(model)
grade("relu_to_gelu", relu_to_gelu)
assert nn.Module.__call__ is mine
others = [c for c in changes if (c.owner, c.name) != (nn.Module, "__call__")]
assert all(change.now is change.before for change in others) and len(others) == len(changes) - 1
""",
    "what is compiled": """
def CountingBackend(*args):
    look()
grade("CountingBackend", CountingBackend)
assert seen and not any(map(any, seen))
""",
}


@pytest.mark.parametrize("case", _CASES)
def test_pytorch_is_changed_while_answers_are_tried_and_not_afterwards(case: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _BEGIN + _CASES[case]],
        cwd=ROOT, text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


_OTHER_TEXT = """
from autograder.core import quick_tracing
module = quick_tracing.REPLACED[{index}]
other = {folder!r} + "/other.py"
with open(module.__file__, encoding="utf-8") as read, open(other, "w", encoding="utf-8") as write:
    write.write(read.read() + "# A later version.")
module.__file__ = other
"""

_TAKEN_AWAY = """
from torch.fx import _symbolic_trace
del _symbolic_trace._autowrap_check
"""

_NOTHING_REPLACED = """
import copy, torch
from torch import fx, nn
places = [nn.Module, fx.Tracer, fx.Graph, fx.graph, fx.graph_module, fx.interpreter]
before = [dict(vars(place)) for place in places], dict(copy._deepcopy_dispatch)
from autograder.core import quick_tracing
from autograder.runner import quickly
with quickly.quickly("transform"):
    assert ([dict(vars(place)) for place in places], dict(copy._deepcopy_dispatch)) == before
assert quickly._CHANGES == ()
print("at its own pace")
"""


def test_the_locked_pytorch_is_the_one_that_is_replaced() -> None:
    """If PyTorch is new here: compare each function in `changes` with its original, then set the
    digest."""
    assert quick_tracing.source_digest(quick_tracing.REPLACED) == quick_tracing.WRITTEN_FOR
    assert quick_tracing.changes() != ()


def test_boxes_replace_nothing_in_another_pytorch(tmp_path: Path) -> None:
    code = _OTHER_TEXT.format(index=-1, folder=str(tmp_path))
    code += "assert quick_tracing.changes() == ()\nquick_tracing.install()"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.parametrize("other", ["another text", "something was taken away"])
def test_another_version_of_pytorch_has_its_own_pace(other: str, tmp_path: Path) -> None:
    text = _OTHER_TEXT.format(index=0, folder=str(tmp_path))
    code = (text if other == "another text" else _TAKEN_AWAY) + _NOTHING_REPLACED
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.stdout == "at its own pace\n", done.stderr


def test_procedures_that_compile_are_there() -> None:
    assert COMPILED < set(PROCEDURES)
