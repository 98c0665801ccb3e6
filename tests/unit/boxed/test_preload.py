"""What a process for notebooks has got ready before a student's code runs in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.boxed import late_imports, preload
from autograder.boxed.common_imports import FOR_CARDS
from autograder.builder.paths import ROOT
from autograder.classroom.fork_servers import imports_of

BACKWARDS = """
import os
from autograder.boxed.preload import get_ready
get_ready({"imports": ["torch._dynamo"]}, [])

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd

compiled = torch.compile(
    torch.nn.Linear(2, 2),
    backend=aot_autograd(fw_compiler=lambda gm, inputs: make_boxed_func(gm.forward)),
)
compiled(torch.ones(2, 2)).sum().backward()  # as a cell of a notebook may do
child = os.fork()
if child == 0:
    try:
        torch.ones(1, requires_grad=True).sum().backward()
    except RuntimeError:
        os._exit(1)
    os._exit(0)
print("exit", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_check_can_run_a_backward_pass_after_a_cell_did() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BACKWARDS], cwd=ROOT, text=True, capture_output=True, check=False
    )
    assert done.stdout.endswith("exit 0\n"), done.stderr


COMMON = """
from autograder.boxed import common_imports
common_imports.begin()

import importlib, torch._dynamo
for name in common_imports.FOR_CARDS:
    try:
        importlib.import_module(name)
    except ImportError:
        print("none")
"""


def test_nothing_for_graphics_cards_is_there_whatever_build_of_pytorch_this_is() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMMON], cwd=ROOT, text=True, capture_output=True, check=False
    )
    assert done.stdout == "none\n" * len(FOR_CARDS), done.stderr


WITHOUT = """
import sys
from autograder.boxed import late_imports
import torch

late_imports.import_torchvision()
late_imports.import_late()
align = sys.modules["torchvision.ops.roi_align"]
print([name for name in sys.modules if name.startswith("torch._dynamo")])
if {early}:
    late_imports.import_dynamo()
supported = align.is_compile_supported("cpu")
from torch._dynamo import utils

print(supported == utils.is_compile_supported("cpu"))
print((align.is_compile_supported is utils.is_compile_supported) == {early})
"""


@pytest.mark.parametrize("early", [True, False])
def test_torchvision_comes_without_the_compiler_and_finds_it_later(early: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(early=early)], cwd=ROOT, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.stdout == "[]\nTrue\nTrue\n", done.stderr


def test_torchvision_that_has_more_of_the_compiler_comes_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, tried = f"{late_imports.DYNAMO}.utils", list[bool]()

    def load(module: str) -> None:
        assert module == "torchvision"
        tried.append(name in sys.modules)
        if tried[-1]:
            raise ImportError("cannot import name 'graph_break_reasons'")

    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(late_imports.importlib, "import_module", load)
    late_imports.import_torchvision()
    assert tried == [True, False]


@pytest.mark.parametrize(
    ("cell", "brings"),
    [
        ("import torch\nfrom torch import fx, nn\nfrom torch.fx.proxy import Proxy", False),
        ("import torch.nn.functional as F\nimport torchvision.models", False),
        ("import torch\n# as `torch.export` does\nx = torch.ones(1)", False),
        ("import torch\ntorch.export.export(model, (x,))", True),
        ("import torch\ntorch.compile(model)", True),
        ("from torch.fx.experimental.proxy_tensor import make_fx", True),
        ("from functorch.compile import make_boxed_func", True),
    ],
)
def test_the_compiler_is_there_early_where_cells_bring_it(cell: str, brings: bool) -> None:
    nb = nbformat.writes(new_notebook(cells=[new_code_cell(cell)]))
    assert late_imports.brings_dynamo(imports_of(nb)) == brings


REHEARSED = """
import os
from autograder.boxed import late_imports
import torch

late_imports.start_autograd()
late_imports.import_late()
before = torch.get_rng_state()
late_imports.rehearse()
assert torch.equal(before, torch.get_rng_state()) and torch.is_grad_enabled()
print("threads", len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_a_rehearsal_starts_no_thread_and_leaves_nothing_changed() -> None:
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", REHEARSED], cwd=ROOT, text=True, capture_output=True, env=alone,
        check=False,
    )  # fmt: skip
    assert done.stdout == "threads 1\n", done.stderr


def test_what_drawing_imports_late_is_there_before_there_is_a_box() -> None:
    """In a box no file can be read: a picture would be an error."""
    late = {
        f"autograder.drawing.{found.group(1)}"
        for path in (ROOT / "autograder" / "drawing").glob("*.py")
        for found in re.finditer(
            r"^ +from autograder\.drawing(?:\.| import )(\w+)", path.read_text("utf-8"), re.M
        )
    }
    assert {"autograder.drawing.shapes", "autograder.drawing.svg_pen"} <= late
    assert late <= set(preload._ALWAYS)
