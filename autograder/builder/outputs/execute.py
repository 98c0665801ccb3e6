"""Runs a notebook as a proof: a cell that does not behave as declared is an error."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert.filters import strip_ansi
from nbformat.notebooknode import NotebookNode

from autograder.builder.solution_regions import without_markers


class ExecutionFailed(Exception):
    """A cell did not behave as declared.

    Attributes:
        index: the cell's index in the notebook.
    """

    def __init__(self, index: int, message: str) -> None:
        self.index = index
        super().__init__(message)


def execute(
    notebook: NotebookNode,
    timeout: float = 300,
    cwd: str | Path | None = None,
    unsolved: bool = False,
) -> NotebookNode:
    """Run a notebook in a fresh kernel.

    Every cell must succeed, including the check cells. A cell that declares an exception must
    raise exactly that one.

    Args:
        notebook: in source form, or in released form if `unsolved` is set.
        timeout: seconds for one cell.
        cwd: the working directory; by default a temporary folder.
        unsolved: checks may fail; every other cell must still behave as declared.

    Returns:
        A copy with outputs.

    Raises:
        ExecutionFailed: a cell raised, did not raise, took too long or ended the kernel.
    """
    run = copy.deepcopy(notebook)
    for cell in run.cells:
        if _expected(cell) is None and "tags" in cell.metadata and not unsolved:
            del cell.metadata["tags"]
    if cwd is None:
        # Windows cannot remove a folder that a kernel has just left.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            _run(run, timeout, folder)
    else:
        _run(run, timeout, str(cwd))
    for index, cell in enumerate(run.cells):
        _check_error(index, cell)
    for cell, original in zip(run.cells, notebook.cells, strict=True):
        cell.metadata = copy.deepcopy(original.metadata)
    return run


def solved(notebook: NotebookNode) -> NotebookNode:
    """An executed notebook for readers, without the lines that only mark a region."""
    shown = copy.deepcopy(notebook)
    for cell in shown.cells:
        cell.source = without_markers(cell.source)
    return shown


def _run(notebook: NotebookNode, timeout: float, folder: str) -> None:
    reached = [0]

    def client() -> NotebookClient:
        return NotebookClient(
            notebook,
            timeout=timeout,
            kernel_name="python3",
            record_timing=False,
            extra_arguments=["--log-level=ERROR"],  # else each kernel warns about its transport
            resources={"metadata": {"path": folder}},
            on_cell_execute=lambda cell, cell_index: reached.append(cell_index),
        )

    try:
        _execute(client)
    except CellExecutionError as error:
        said = f"{error.ename}: {error.evalue}\n{_traceback(notebook.cells[reached[-1]])}"
        raise ExecutionFailed(reached[-1], said.strip()) from None
    except CellTimeoutError:
        said = f"The cell did not end within {timeout:g} seconds."
        raise ExecutionFailed(reached[-1], said) from None
    except DeadKernelError:
        raise ExecutionFailed(reached[-1], "The kernel died in this cell.") from None


def _execute(client: Callable[[], NotebookClient], tries: int = 3) -> None:
    """Execute a notebook, and try another kernel if one dies before it replies.

    Each kernel gets ports that are free. If several start at a time, another may take them first.
    """
    try:
        client().execute()
    except RuntimeError as error:
        if "before replying" not in str(error) or tries == 1:
            raise
        _execute(client, tries - 1)


def _traceback(cell: NotebookNode) -> str:
    errors = [output for output in cell.outputs if output.output_type == "error"]
    text: str = strip_ansi("\n".join(line for error in errors for line in error.traceback))
    return text


def _expected(cell: NotebookNode) -> str | None:
    name: str | None = cell.metadata.get("fxcourse", {}).get("raises")
    return name


def _check_error(index: int, cell: NotebookNode) -> None:
    expected = _expected(cell)
    if expected is None:
        return
    raised = [output.ename for output in cell.outputs if output.output_type == "error"]
    if raised != [expected]:
        got = f"it raised {raised[0]}" if raised else "it raised nothing"
        raise ExecutionFailed(index, f"The cell is meant to raise {expected}, but {got}.")
