"""Shows a card or a table in a notebook or in a terminal."""

from __future__ import annotations

from typing import Any

from autograder.environment import notebook_kernel
from autograder.environment.characters import printable


def show(thing: Any) -> None:
    """Display a rich object in a notebook; print its text form elsewhere."""
    if in_notebook():
        from IPython.display import display

        display(thing)
    else:
        print(printable(str(thing)))


def in_notebook() -> bool:
    """Whether the code runs in a notebook's cell."""
    return notebook_kernel.shell() is not None
