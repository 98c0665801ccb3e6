"""Fork servers run slow first-time steps once, and change nothing else."""

from __future__ import annotations

import os
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.builder.paths import ROOT
from autograder.classroom.grading.chapter_preload import imports_of
from autograder.speed import warm_up
from autograder.speed.imports import FOR_CARDS

COMMON = """
from autograder.speed import imports
imports.import_common()

import importlib, torch._dynamo
for name in imports.FOR_CARDS:
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
from autograder.speed import warm_up
import torch

warm_up.import_torchvision()
warm_up.import_late()
align = sys.modules["torchvision.ops.roi_align"]
print([name for name in sys.modules if name.startswith("torch._dynamo")])
if {early}:
    warm_up.import_dynamo()
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
    name, tried = f"{warm_up.DYNAMO}.utils", list[bool]()

    def load(module: str) -> None:
        assert module == "torchvision"
        tried.append(name in sys.modules)
        if tried[-1]:
            raise ImportError("cannot import name 'graph_break_reasons'")

    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(warm_up.importlib, "import_module", load)
    warm_up.import_torchvision()
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
    assert warm_up.brings_dynamo(imports_of(nb)) == brings


REHEARSED = """
import os
from autograder.speed import warm_up
import torch

warm_up.start_autograd()
warm_up.import_late()
before = torch.get_rng_state()
warm_up.rehearse()
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
