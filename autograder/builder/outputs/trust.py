"""Keeps JupyterLab's trust in notebooks that commands write; without it, pictures are hidden."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import nbformat
from nbformat.sign import NotebookNotary


def is_trusted(path: Path) -> bool:
    """Whether a file may be signed again after rewriting: it is new, or it was trusted before."""
    if not path.exists():
        return True
    with _ignore_unusable_files():
        return bool(NotebookNotary().check_signature(nbformat.read(path, as_version=4)))
    return False


def sign(path: Path) -> None:
    """Trust the outputs in a notebook's file, as JupyterLab does when a person saves it."""
    with _ignore_unusable_files():
        NotebookNotary().sign(nbformat.read(path, as_version=4))


def _ignore_unusable_files() -> contextlib.suppress:
    """Ignore a home folder that is not writable and files that are not notebooks."""
    return contextlib.suppress(OSError, ValueError, sqlite3.Error, nbformat.ValidationError)
