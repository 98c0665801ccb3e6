"""The chapters in this version of the course, ready for a workspace."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_markdown_cell

from autograder.builder.outputs.origin import without_origin
from autograder.environment import extras
from autograder.lessons.course_map import is_deep_dive
from autograder.workspace.cells import Notebooks
from autograder.workspace.location import CLONE, is_own_clone

IN_CLONE = CLONE / "course"
"""The notebooks of a clone of the project."""

INSTALLED = Path(sysconfig.get_path("data")) / "share" / "fxcourse" / "course"
"""The notebooks that come with an installation from a wheel."""

INDEX = "index"
"""The stem of the index notebook."""


class NoNotebooks(Exception):
    """There are no notebooks to work in; the message gives the fix."""


def source() -> Path:
    """The folder with the notebooks of this version.

    Raises:
        NoNotebooks: there are none.
    """
    for folder in (IN_CLONE, INSTALLED):
        if any(folder.glob("*.ipynb")):
            return folder
    raise NoNotebooks(
        f"There are no notebooks in {IN_CLONE}, and none were installed. In a clone of the "
        "project, run 'fxcourse build'. Otherwise install the course again."
    )


def chapters(folder: Path) -> Notebooks:
    """The chapters in course order, each with links to the chapters next to it.

    Args:
        folder: the folder with the notebooks; see `source`.
    """
    paths = sorted(folder.glob("*.ipynb"))
    notebooks = {path.stem: _untouched(path) for path in paths}
    titles = {name: title_of(nb) for name, nb in notebooks.items()}
    for name, notebook in notebooks.items():
        notebook.cells.append(_way_on(name, titles))
    return notebooks


def chapter(name: str) -> NotebookNode | None:
    """One chapter without links to others; None if this version has none of this name."""
    path = source() / f"{name}.ipynb"
    return _untouched(path) if path.is_file() else None


def worked_in_clone() -> Notebooks:
    """The notebooks in a clone's ``course`` that contain work; none outside of one's own clone."""
    if source() != IN_CLONE or not _can_build() or not is_own_clone():
        return {}
    from autograder.builder.outputs.generate import worked_in

    found = [path for path in sorted(IN_CLONE.glob("*.ipynb")) if worked_in(path)]
    return {path.stem: nbformat.read(path, as_version=4) for path in found}


def _untouched(path: Path) -> NotebookNode:
    """A notebook as released, even if the clone's own copy contains work."""
    if path.parent == IN_CLONE and _can_build():
        from autograder.builder.notebook_forms import build
        from autograder.builder.outputs.generate import worked_in

        if worked_in(path):
            return build(CLONE / "solutions" / f"{path.stem}.py")
    notebook: NotebookNode = nbformat.read(path, as_version=4)
    for cell in notebook.cells[:1]:
        cell.source = without_origin(cell.source)
    return notebook


def _can_build() -> bool:
    """Whether chapters can be built here: from their sources, with an instructor's packages."""
    needed = ("nbgrader", "jupytext")
    return (CLONE / "solutions").is_dir() and all(map(extras.is_installed, needed))


def title_of(notebook: NotebookNode) -> str:
    """A chapter's title: the first heading, such as ``3 · Direct manipulation``."""
    for cell in notebook.cells:
        found = re.search(r"^# (.+)$", cell.source, re.M)
        if cell.cell_type == "markdown" and found:
            return found[1].strip()
    return ""


def _way_on(name: str, titles: dict[str, str]) -> NotebookNode:
    """The last cell of a chapter, with links to other chapters. Deep dives are optional."""
    names = list(titles)
    place = names.index(name)
    before, after = names[:place], names[place + 1 :]
    main = [each for each in after if not is_deep_dive(each)]
    dives = after[: after.index(main[0])] if main else after
    ways = [("Before", before[-1:]), ("Optional", dives[:1]), ("Next", main[:1])]
    links = [f"{word}: [{titles[each]}]({each}.ipynb)" for word, some in ways for each in some]
    links.insert(len(before[-1:]), f"[All chapters]({INDEX}.ipynb)")
    cell: NotebookNode = new_markdown_cell(" — ".join(links), id="way-on")
    return cell
