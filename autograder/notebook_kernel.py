"""The kernel that this code runs in, and whether a person uses it."""

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
    found = shell()
    if found is None:
        return False
    content = (found.kernel.get_parent() or {}).get("content") or {}
    return content.get("allow_stdin") is False
