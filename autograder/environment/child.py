"""The command that starts another Python, without the current folder among its modules."""

from __future__ import annotations

import sys


def python_command(*arguments: str) -> list[str]:
    """The command line of another Python.

    A file in the current folder, such as a learner's ``torch.py``, cannot shadow a library.
    """
    return [sys.executable, "-P", *arguments]
