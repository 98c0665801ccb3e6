"""Modules that a notebook process loads before it runs a student's code."""

from __future__ import annotations

import re
import subprocess
import sys

from autograder.boxed import preload
from autograder.builder.paths import ROOT

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


def test_what_drawing_imports_late_is_there_before_there_is_a_box() -> None:
    """A box cannot read files, so drawing a picture would fail."""
    late = {
        f"autograder.drawing.{found.group(1)}"
        for path in (ROOT / "autograder" / "drawing").glob("*.py")
        for found in re.finditer(
            r"^ +from autograder\.drawing(?:\.| import )(\w+)", path.read_text("utf-8"), re.M
        )
    }
    assert {"autograder.drawing.shapes", "autograder.drawing.svg_pen"} <= late
    assert late <= set(preload._ALWAYS)
