"""The notebook that shows the way through the course, and how far a learner has come."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.builder.metadata import NOTEBOOK
from autograder.workspace.given import INDEX, title_of
from autograder.workspace_root import STATE

TEXT = """\
# torch.fx by doing

This folder is yours. Open a chapter by its link, or in the list on the left. What you write stays
here; `fxcourse update` brings new versions of the chapters and keeps your work.

To go on with an exercise on another day, run the first code cell of its chapter, then the cells of
the exercise. You do not have to run the whole chapter again.

{chapters}

Run the next cell to see how far you are. It also says where to go on."""

SOURCE = "from autograder import progress\n\nprogress()"


def refresh(folder: Path) -> Path:
    """Write the index, or what it shows. Cells that a learner has added stay.

    Returns:
        The index; one that cannot be read is left as it is.
    """
    path = folder / f"{INDEX}.ipynb"
    if not path.exists():
        notebook = new_notebook(metadata=NOTEBOOK)
    else:
        try:
            notebook = nbformat.read(path, as_version=4)
        except Exception:  # whatever has become of the file
            return path
    known = {cell.get("id"): cell for cell in notebook.cells}
    if "map" not in known:
        notebook.cells.insert(0, new_markdown_cell("", id="map"))
    if "progress" not in known:
        place = [cell.get("id") for cell in notebook.cells].index("map") + 1
        notebook.cells.insert(place, new_code_cell(SOURCE, id="progress"))
    for cell in notebook.cells:
        if cell.get("id") == "map":
            cell.source = TEXT.format(chapters=_links(folder))
        if cell.get("id") == "progress" and cell.cell_type == "code":
            cell.outputs = [_shown()]
    nbformat.write(notebook, path)
    return path


def _links(folder: Path) -> str:
    """A list of the chapters, each with its title."""
    given = sorted((folder / STATE / "given").glob("*.ipynb"))
    rows = []
    for path in given:
        title = title_of(nbformat.read(path, as_version=4)) or path.stem
        optional = path.stem.partition("_")[0][2:] != ""
        indent, more = ("    ", " (optional)") if optional else ("", "")
        rows.append(f"{indent}* [{title}]({path.name}){more}")
    return "\n".join(rows)


def _shown() -> NotebookNode:
    """What `progress()` shows now."""
    from autograder.api import progress_so_far

    shown: NotebookNode = new_output("display_data", progress_so_far()._repr_mimebundle_())
    return shown
