"""Runs lines by a chapter's author on a learner's values: a prediction's proof, a drill's line."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from typing import Any

from autograder.core.global_state import preserve_global_state
from autograder.environment import notebook_kernel


def run_on_copy(code: str, names: Mapping[str, Any], label: str) -> dict[str, Any]:
    """Run lines with the names of a notebook, without changing them or PyTorch's state.

    Objects are not copied, so the lines must not change them. Their output is not shown.

    Args:
        code: the lines.
        names: the names of the notebook.
        label: replaces a file name in tracebacks.

    Returns:
        The names after the lines.

    Raises:
        Exception: any exception that the lines raise.
    """
    own = dict(names)
    with preserve_global_state(), _without_output():
        exec(compile(code, f"<{label}>", "exec"), own)
    return own


def _without_output() -> contextlib.AbstractContextManager[Any]:
    """Discard printed and displayed output, such as the error that `fails` shows."""
    if notebook_kernel.shell() is None:
        return contextlib.redirect_stdout(io.StringIO())
    from IPython.utils.capture import capture_output

    dropped: contextlib.AbstractContextManager[Any] = capture_output(stderr=False)
    return dropped
