"""How Python is started again: without the folder in which a command was started."""

from __future__ import annotations

import sys


def python_command(*arguments: str) -> list[str]:
    """The command line of another Python.

    No file in the current folder takes the place of a library, such as a learner's ``torch.py``.
    """
    return [sys.executable, "-P", *arguments]
