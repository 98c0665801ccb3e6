"""What fork servers begin with is imported in as little time as it takes."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOADED = """
import sys
from autograder.boxed.common_imports import LIBRARIES, load_libraries

load_libraries()
with open("/proc/self/maps") as file:
    maps = file.read()
assert "torch" not in sys.modules
missing = [name for name in LIBRARIES if name not in maps]
assert not missing, missing
import torch

assert torch.ones(2).sum() == 2
"""


@pytest.mark.skipif(sys.platform != "linux", reason="boxes need Linux")
def test_libraries_are_there_before_pytorch_is_imported() -> None:
    """What PyTorch asks for is what was loaded: it would else be loaded one after the other."""
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
