"""The patches apply only to the PyTorch for which they were written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from autograder.builder.paths import ROOT
from autograder.speed import fx_tracing

_OTHER_TEXT = """
from autograder.speed import fx_tracing
module = fx_tracing.PATCHED[{index}]
other = {folder!r} + "/other.py"
with open(module.__file__, encoding="utf-8") as read, open(other, "w", encoding="utf-8") as write:
    write.write(read.read() + "# A later version.")
module.__file__ = other
"""


def test_the_locked_pytorch_is_the_one_that_is_replaced() -> None:
    """For a new PyTorch, compare each function in `patches` with the original; set the digest."""
    assert fx_tracing.source_digest(fx_tracing.PATCHED) == fx_tracing.WRITTEN_FOR
    assert fx_tracing.patches() != ()


def test_boxes_replace_nothing_in_another_pytorch(tmp_path: Path) -> None:
    code = _OTHER_TEXT.format(index=-1, folder=str(tmp_path))
    code += "assert fx_tracing.patches() == ()\nfx_tracing.install()"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
