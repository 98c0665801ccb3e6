"""Runs lines of a chapter's author on a learner's values: a prediction's proof, a drill's line."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from typing import Any

from autograder.core.global_state import preserve_global_state
from autograder.environment import notebook_kernel


def run_on_copy(code: str, names: Mapping[str, Any], label: str) -> dict[str, Any]:
    """Run lines that see the names of a notebook, and change neither them nor PyTorch's state.

    Objects are not copied: the lines must not change them. What they print or display is not shown.

    Args:
        code: the lines.
        names: those of the notebook.
        label: stands for a file in tracebacks.

    Returns:
        The names after the lines.

    Raises:
        Exception: whatever the lines raise.
    """
    own = dict(names)
    with preserve_global_state(), _without_output():
        exec(compile(code, f"<{label}>", "exec"), own)
    return own


def _without_output() -> contextlib.AbstractContextManager[Any]:
    """Drop what is printed and displayed, such as the error that `fails` shows."""
    if notebook_kernel.shell() is None:
        return contextlib.redirect_stdout(io.StringIO())
    from IPython.utils.capture import capture_output

    dropped: contextlib.AbstractContextManager[Any] = capture_output(stderr=False)
    return dropped
