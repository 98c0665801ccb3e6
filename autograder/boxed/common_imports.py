"""What every fork server begins with: imported once, in the process that they are forked from.

A student's process is forked from there, too, so nothing is imported here that says an answer.
"""

from __future__ import annotations

from autograder.boxed.late_imports import import_late, start_autograd
from autograder.core.without_iri_grammar import without_iri_grammar


def begin() -> None:
    """Import what takes the longest."""
    start_autograd()
    import_late()
    import matplotlib.pyplot  # noqa: F401
    import torchvision  # noqa: F401

    with without_iri_grammar():
        import nbformat  # noqa: F401
