"""The kernel that runs this code, and whether a person uses it."""

from __future__ import annotations

from typing import Any


def ipython() -> Any:
    """IPython's shell in a notebook or a terminal; ``None`` elsewhere."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()


def shell() -> Any:
    """IPython's shell in the kernel of a notebook; ``None`` elsewhere."""
    found = ipython()
    return found if hasattr(found, "kernel") else None


def is_automatic() -> bool:
    """Whether a program runs this cell, such as nbconvert, nbgrader or the course's builder.

    Such a program declares that it cannot answer `input()`. JupyterLab and VS Code can.
    """
    content = request().get("content") or {}
    return content.get("allow_stdin") is False


def request() -> dict[str, Any]:
    """The message that asked to run the present cell; empty outside a notebook."""
    found = shell()
    return (found.kernel.get_parent() or {}) if found is not None else {}


def replace_output(cell: dict[str, Any], text: str) -> None:
    """Replace the output of a cell that has run before.

    A frontend finds the cell by its request. It ignores this message if it has forgotten the
    request, because the cell has run again or the page was reloaded.

    Args:
        cell: the `request` that ran the cell; if it is empty, nothing happens.
        text: whole lines.
    """
    found = shell()
    if found is None or not cell:
        return
    kernel = found.kernel
    messages: dict[str, dict[str, Any]] = {
        "clear_output": {"wait": True},
        "stream": {"name": "stdout", "text": text},
    }
    for kind, content in messages.items():
        kernel.session.send(kernel.iopub_socket, kind, content, parent=cell, ident=kind.encode())
