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

WAITS = """
import sys, importlib
from contextlib import suppress
from importlib.machinery import EXTENSION_SUFFIXES
from autograder.boxed.common_imports import BEFORE, MEANWHILE
from autograder.core.quick_imports import quick_imports

def compiled():
    found = ((name, getattr(module, "__file__", "")) for name, module in sys.modules.items())
    return {name for name, path in found if str(path).endswith(tuple(EXTENSION_SUFFIXES))}

with quick_imports():
    for name in BEFORE:
        with suppress(ImportError):
            importlib.import_module(name)
    there = compiled()
    for name in MEANWHILE:
        importlib.import_module(name)
print(*sorted(compiled() - there))
"""


def said(program: str) -> str:
    """What a program prints that runs in a process of its own."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="boxes need Linux")
def test_libraries_are_there_before_pytorch_is_imported() -> None:
    """What PyTorch asks for is what was loaded: it would else be loaded one after the other."""
    said(LOADED)


@pytest.mark.skipif(
    sys.platform != "linux" or sys.version_info[:2] != (3, 11),
    reason="boxes need Linux, and the standard library's modules differ from version to version",
)
def test_nothing_that_is_imported_meanwhile_waits_for_pytorchs_libraries() -> None:
    """A compiled module would: what is printed here is missing in `BEFORE`."""
    assert said(WAITS) == ""
