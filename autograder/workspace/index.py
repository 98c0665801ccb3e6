"""The index: the notebook with the chapters of the course and the learner's progress."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.builder.metadata import NOTEBOOK
from autograder.workspace.given import INDEX
from autograder.workspace.overview import overview_so_far
from autograder.workspace.update import write_whole

TITLE = "# torch.fx by doing"
SOURCE = "from autograder import overview\n\noverview()"


def refresh(folder: Path) -> Path:
    """Write the index, or its output if that has changed. Cells that the learner added stay.

    Returns:
        The index; one that cannot be read is left unchanged.
    """
    path = folder / f"{INDEX}.ipynb"
    if not path.exists():
        notebook = new_notebook(metadata=NOTEBOOK)
    else:
        try:
            notebook = nbformat.read(path, as_version=4)
        except Exception:  # the file is damaged
            return path
    before = nbformat.writes(notebook)
    known = {cell.get("id") for cell in notebook.cells}
    if "map" not in known:
        notebook.cells.insert(0, new_markdown_cell(TITLE, id="map"))
    if "progress" not in known:
        place = [cell.get("id") for cell in notebook.cells].index("map") + 1
        notebook.cells.insert(place, new_code_cell(SOURCE, id="progress"))
    for cell in notebook.cells:
        if cell.get("id") == "map":
            cell.source = TITLE
        if cell.get("id") == "progress" and cell.cell_type == "code":
            _bring_up_to_date(cell, folder)
    if not path.exists() or nbformat.writes(notebook) != before:
        write_whole(path, notebook)
    return path


def _bring_up_to_date(cell: NotebookNode, folder: Path) -> None:
    """Update the output of the cell. Its code is folded, because the output is the page."""
    cell.source = SOURCE
    cell.metadata["jupyter"] = {"source_hidden": True}
    shown = replace(overview_so_far(folder), live=True)._repr_mimebundle_()
    if [output.get("data") for output in cell.outputs] != [shown]:
        cell.outputs = [new_output("display_data", shown)]
