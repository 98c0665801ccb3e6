"""Makes a workspace, updates it, and resets parts of it. Nothing in it is ever lost."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.builder.outputs.trust import is_trusted, sign
from autograder.workspace import assignment, given, location, progress_file
from autograder.workspace.carry import Carried, carry
from autograder.workspace.cells import Notebooks, grade_id, is_answer, name_of, text_of
from autograder.workspace.location import KEPT, MARK, STATE, is_assignment, is_workspace

GIVEN = "given"
"""The folder, within the state folder, with the chapters as released."""


class CannotUpdate(Exception):
    """A workspace cannot be made or changed; the message gives the fix."""


@dataclass(frozen=True)
class Row:
    """Result of an update for one notebook.

    Attributes:
        name: its stem.
        state: whether it is new, changed, unchanged, removed from the course, or could not be read
            and was not changed.
        answers: number of the learner's answers in it.
        own: number of the learner's own cells in it.
        came: number of the course's cells that are new or have a new text.
        went: number of the course's cells that were removed.
        kept: the copy of the earlier file, if there is one.

    The remaining number counts cells that both the learner and the course have changed.
    """

    name: str
    state: Literal["new", "updated", "as before", "gone", "unreadable"]
    answers: int = 0
    own: int = 0
    beside: int = 0
    came: int = 0
    went: int = 0
    kept: Path | None = None


def open_workspace(folder: Path) -> list[Row]:
    """Make a workspace if there is none, and add the chapters that are missing.

    Chapters that exist are not changed. In a clone, work in the folder ``course`` is copied into a
    new workspace.

    Args:
        folder: the folder of the workspace.

    Returns:
        The chapters that were added.

    Raises:
        CannotUpdate: the folder cannot be used.
        NoNotebooks: there are no chapters to add.
    """
    new = given.chapters(given.source())
    if not is_workspace(folder):
        _make(folder)
        worked = given.worked_in_clone()
        if worked:
            return _bring(folder, worked, {}, new)
    missing = {name: nb for name, nb in new.items() if not _path(folder, name).exists()}
    for name, notebook in missing.items():
        write_whole(_path(folder, name), notebook)
        write_whole(_given_path(folder, name), notebook)
    return [Row(name, "new") for name in missing]


def is_behind(folder: Path) -> bool:
    """Whether the course has changed since the workspace got its chapters."""
    now = given.chapters(given.source())
    then = _read_all(folder / STATE / GIVEN)[0]
    return any(name not in then or _differ(nb, then[name]) for name, nb in now.items())


def update(folder: Path, earlier: Path | None = None) -> list[Row]:
    """Update a workspace or an assignment, and carry over all of the learner's work.

    Args:
        folder: the workspace, or the folder of an assignment.
        earlier: a folder with notebooks of an earlier version, whose work is carried over, too.

    Raises:
        CannotUpdate: there is no workspace, or it cannot be written to.
        NoNotebooks: there are no chapters to update to.
    """
    if earlier is None and is_assignment(folder):
        return _update_assignment(folder)
    new = given.chapters(given.source())
    if not is_workspace(folder):
        _make(folder)
    mine, unreadable = _read_all(folder, but=given.INDEX)
    was, _ = _read_all(folder / STATE / GIVEN)
    mine = {name: nb for name, nb in mine.items() if name in was or name in new}
    unreadable &= {*was, *new}
    if earlier is not None:
        others, bad = _read_all(earlier, but=given.INDEX)
        if not others and not bad:
            raise CannotUpdate(f"There are no notebooks in {earlier}. Name the folder they are in.")
        _bring_record(earlier, folder)
        began = [name for name in others if name in mine and _differ(mine[name], was.get(name))]
        if began:
            raise CannotUpdate(
                f"There is work in {began[0]}.ipynb in this workspace, and in that of {earlier}. "
                "Take a new folder: fxcourse update NEW --from OLD."
            )
        mine, was = {**mine, **others}, {k: v for k, v in was.items() if k not in others}
        unreadable |= bad
    rows = _bring(folder, mine, was, {n: nb for n, nb in new.items() if n not in unreadable})
    return rows + [Row(name, "unreadable") for name in sorted(unreadable)]


def reset(folder: Path, chapter: str, exercise: str) -> Path | None:
    """Restore the cell of an exercise as released.

    Args:
        folder: the workspace, or the folder of an assignment.
        chapter: the chapter's stem, or its beginning, such as ``03``.
        exercise: the exercise's name.

    Returns:
        The copy of the notebook before the reset; None if the cell was as released.

    Raises:
        CannotUpdate: the chapter, exercise or cell does not exist.
    """
    name = chapter_called(folder, chapter)
    path = _path(folder, name)
    try:
        mine = nbformat.read(path, as_version=4)
    except Exception as error:
        raise CannotUpdate(f"{path} cannot be read as a notebook ({error}).") from None
    was = as_released(folder, name)
    stubs = {grade_id(cell): cell for cell in was.cells if is_answer(cell)}
    if exercise not in stubs:
        raise CannotUpdate(
            f"There is no exercise {exercise} in {name}. It has {', '.join(stubs) or 'none'}."
        )
    place = next((i for i, c in enumerate(mine.cells) if grade_id(c) == exercise), None)
    if place is not None and text_of(mine.cells[place]) == text_of(stubs[exercise]):
        return None
    kept = _keep_first(folder, path)
    if place is None:
        names = [name_of(cell) for cell in was.cells]
        before = set(names[: names.index(name_of(stubs[exercise]))])
        places = [i for i, c in enumerate(mine.cells) if name_of(c) in before]
        place = places[-1] + 1 if places else 0
        mine.cells.insert(place, stubs[exercise])
    mine.cells[place] = stubs[exercise]
    write_whole(path, mine)
    return kept


def as_released(folder: Path, name: str) -> NotebookNode:
    """A chapter of a workspace or an assignment, without the learner's work.

    Raises:
        CannotUpdate: there is none that can be read.
    """
    if is_assignment(folder):
        notebook = assignment.released(folder, name)
        if notebook is None:
            raise CannotUpdate(
                f"{name}.ipynb was found neither in nbgrader's exchange nor in this installation."
            )
        return notebook
    path = _given_path(folder, name)
    try:
        return nbformat.read(path, as_version=4)  # type: ignore[no-any-return]
    except Exception as error:  # the file may contain anything
        raise CannotUpdate(f"{path} cannot be read ({error}). Run 'fxcourse update'.") from None


def chapter_names(folder: Path) -> list[str]:
    """The stems of the chapters in a workspace or an assignment, in order."""
    if is_assignment(folder):
        return sorted(location.chapters_in(folder))
    return sorted(path.stem for path in (folder / STATE / GIVEN).glob("*.ipynb"))


def chapter_called(folder: Path, said: str) -> str:
    """The stem of a chapter in a workspace or an assignment, from its stem or its beginning.

    Raises:
        CannotUpdate: no chapter matches, or several do.
    """
    names = chapter_names(folder)
    if not names:
        raise CannotUpdate(f"There is no chapter in {folder}.")
    stem = said.removesuffix(".ipynb")
    stem = f"0{stem}" if stem[:1].isdigit() and not stem[1:2].isdigit() else stem
    found = [name for name in names if stem in (name, name.partition("_")[0])]
    found = found or [name for name in names if stem and name.startswith(stem)]
    if len(found) == 1:
        return found[0]
    which = f"is {', or '.join(found)}" if found else f"is in no notebook: {', '.join(names)}"
    raise CannotUpdate(f"'{said}' {which}. Name one chapter, such as 03.")


# ------------------------------------------------------------------ files


def _make(folder: Path) -> None:
    try:
        location.make_private(folder)
        (folder / STATE / GIVEN).mkdir(parents=True, exist_ok=True)
        mark = folder / STATE / MARK
        mark.write_text(json.dumps({"layout": 1}) + "\n", encoding="utf-8")
    except OSError as error:
        raise CannotUpdate(
            f"A workspace cannot be made in {folder} ({error.strerror}). Name a folder of your "
            "own, in which you may write, such as: fxcourse lab my-course"
        ) from None
    if given.IN_CLONE.is_dir() and location.is_own_clone():
        _bring_record(given.IN_CLONE, folder)


def _bring_record(earlier: Path, folder: Path) -> None:
    """Copy an earlier record, if the workspace has none yet."""
    old, new = earlier / progress_file.OLD_NAME, progress_file.in_workspace(folder).path
    if not new.exists() and old.is_file():
        shutil.copyfile(old, new)


def _update_assignment(folder: Path) -> list[Row]:
    """Update the notebooks of an assignment. Copies of the earlier ones go to the state folder."""
    rows = []
    for name in sorted(location.chapters_in(folder)):
        path = _path(folder, name)
        try:
            mine = nbformat.read(path, as_version=4)
        except Exception:  # an editor, or git, has damaged the file
            rows.append(Row(name, "unreadable"))
            continue
        new = as_released(folder, name)
        was = assignment.as_fetched(name, mine, new)
        carried = carry({name: mine}, {name: was}, {name: new})[name]
        is_new = _differ(carried.notebook, mine)
        kept = _keep_first(folder, path) if is_new else None
        if is_new:
            write_whole(path, carried.notebook)
        came, went = _changes(mine, carried.notebook)
        answers, own = _answers(carried.notebook, new), _own_cells(carried.notebook, new)
        state: Literal["updated", "as before"] = "updated" if is_new else "as before"
        rows.append(Row(name, state, answers, own, carried.beside, came, went, kept))
    return rows


def _bring(
    folder: Path, mine: Notebooks, was: Mapping[str, NotebookNode], new: Notebooks
) -> list[Row]:
    """Write the chapters of a new version with the learner's work, and keep replaced files."""
    stamp = datetime.now()
    carried = carry(mine, was, new)
    try:
        rows = [
            _put(folder, name, carried[name], mine.get(name), was.get(name), new[name], stamp)
            for name in new
        ]
        gone = [name for name in mine if name not in new]
        return rows + [_let_go(folder, name, carried.get(name), stamp) for name in gone]
    except OSError as error:
        raise CannotUpdate(
            f"{error.filename or folder} cannot be written ({error.strerror}). Your notebooks "
            f"are unchanged, or in {folder / KEPT}. Fix this, and run the command again."
        ) from None


def _put(
    folder: Path,
    name: str,
    carried: Carried,
    mine: NotebookNode | None,
    was: NotebookNode | None,
    new: NotebookNode,
    stamp: datetime,
) -> Row:
    """Write one chapter of the new version."""
    path = _path(folder, name)
    came, went = _changes(was, new)
    is_new = not path.exists()
    text = _text(carried.notebook)
    kept = None
    if path.exists() and path.read_text(encoding="utf-8") != text:
        touched = mine is None or was is None or _text(mine) != _text(was)
        kept = _keep(folder, path, stamp) if touched else None
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_whole(path, carried.notebook)
    write_whole(_given_path(folder, name), new)
    state: Literal["new", "updated", "as before"]
    state = "new" if is_new else "updated" if came or went or kept else "as before"
    return Row(
        name, state, _answers(carried.notebook, new), _own_cells(carried.notebook, new),
        carried.beside, came, went, kept,
    )  # fmt: skip


def _let_go(folder: Path, name: str, left: Carried | None, stamp: datetime) -> Row:
    """Remove a notebook that is no longer in the course, or leave it to the learner.

    Args:
        folder: the workspace.
        name: the notebook's stem.
        left: the work in it that has no place in the new version, if there is any.
        stamp: the start of this update.
    """
    path = _path(folder, name)
    kept = None
    if path.exists() and left is None:
        kept = _keep(folder, path, stamp)
        path.unlink()
    _given_path(folder, name).unlink(missing_ok=True)
    return Row(name, "gone", own=left.own if left else 0, kept=kept)


def _changes(was: NotebookNode | None, new: NotebookNode) -> tuple[int, int]:
    """The number of cells that the course has added, and of those that it has removed."""
    if was is None:
        return 0, 0
    then, now = Counter(map(_what, was.cells)), Counter(map(_what, new.cells))
    return (now - then).total(), (then - now).total()


def _what(cell: NotebookNode) -> tuple[str, str]:
    return cell.cell_type, text_of(cell)


def _differ(one: NotebookNode, other: NotebookNode | None) -> bool:
    return other is None or list(map(_what, one.cells)) != list(map(_what, other.cells))


def _answers(notebook: NotebookNode, new: NotebookNode) -> int:
    stubs = {grade_id(cell): text_of(cell) for cell in new.cells if is_answer(cell)}
    return sum(is_answer(c) and text_of(c) != stubs.get(grade_id(c)) for c in notebook.cells)


def _own_cells(notebook: NotebookNode, new: NotebookNode) -> int:
    names = {name_of(cell) for cell in new.cells}
    return sum(name_of(cell) not in names for cell in notebook.cells)


def _keep_first(folder: Path, path: Path) -> Path:
    """Copy a file before it is changed; stop if that is not possible."""
    try:
        return _keep(folder, path)
    except OSError as error:
        raise CannotUpdate(
            f"A copy of {path.name} cannot be written ({error.filename}: {error.strerror}). The "
            "notebook was not changed."
        ) from None


def _keep(folder: Path, path: Path, stamp: datetime | None = None) -> Path:
    """Copy a file that will be replaced. Nothing is added to an assignment: it is handed in."""
    home = folder
    if is_assignment(folder):
        home = location.state_folder()
        location.make_private(home)
    place = home / KEPT / (stamp or datetime.now()).strftime("%Y-%m-%d-%H%M%S-%f")
    place.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy2(path, place))


def _read_all(folder: Path, but: str = "") -> tuple[Notebooks, set[str]]:
    """The notebooks in a folder, and the names of those that cannot be read."""
    notebooks: Notebooks = {}
    unreadable = set()
    for path in sorted(folder.glob("*.ipynb")):
        if path.stem == but:
            continue
        try:
            notebooks[path.stem] = nbformat.read(path, as_version=4)
        except Exception:  # an editor, or git, has damaged the file
            unreadable.add(path.stem)
    return notebooks, unreadable


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.ipynb"


def _given_path(folder: Path, name: str) -> Path:
    return folder / STATE / GIVEN / f"{name}.ipynb"


def _text(notebook: NotebookNode) -> str:
    return str(nbformat.writes(notebook)).rstrip("\n") + "\n"


def write_whole(path: Path, notebook: NotebookNode) -> None:
    """Write a notebook completely or not at all, and keep JupyterLab's trust in it."""
    trusted = is_trusted(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(_text(notebook), encoding="utf-8", newline="\n")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    if trusted:
        sign(path)
