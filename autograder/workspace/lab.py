"""JupyterLab for a learner: opens their workspace, without an instructor's tools."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.environment.child import python_command
from autograder.lessons.course_map import chapters
from autograder.workspace.given import INDEX
from autograder.workspace.location import ENV
from autograder.workspace.overview import overview_so_far

STARTUP = Path(__file__).parent / "kernel_startup.py"
"""Each kernel runs it, unless the learner has their own startup file."""

SETTINGS = Path(__file__).parent / "jupyter"
"""JupyterLab's settings: no menus of nbgrader, no news; unused kernels end."""


def command(folder: Path, options: Sequence[str] = ()) -> list[str]:
    """The command that opens JupyterLab on a workspace.

    Args:
        folder: the workspace.
        options: JupyterLab's own, such as ``--no-browser``.
    """
    first = f"/lab/tree/{first_notebook(folder)}.ipynb"
    return python_command(
        "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", f"--LabApp.default_url={first}",
        *options,
    )  # fmt: skip


def first_notebook(folder: Path) -> str:
    """The stem of the notebook that opens: the first chapter, or the index after the first pass.

    Args:
        folder: the workspace.
    """
    standing = overview_so_far(folder).standing
    first = chapters()[0].name
    begins = not standing.is_begun and (folder / f"{first}.ipynb").exists()
    return first if begins else INDEX


def environment(folder: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for JupyterLab and its kernels.

    Args:
        folder: the workspace.
        environ: the environment to extend.
    """
    paths = [str(SETTINGS), environ.get("JUPYTER_CONFIG_PATH", "")]
    found = os.pathsep.join(filter(None, paths))
    startup = environ.get("PYTHONSTARTUP") or str(STARTUP)
    ours = {"JUPYTER_CONFIG_PATH": found, "PYTHONSTARTUP": startup, ENV: str(folder)}
    return {**environ, **ours}
