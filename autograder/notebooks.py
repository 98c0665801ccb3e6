"""Where a learner's notebooks lie: in the clone, or in a folder that is made for them."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

CLONE = Path(__file__).resolve().parents[1] / "course"
"""The notebooks of a clone of the project."""

INSTALLED = Path(sysconfig.get_path("data")) / "share" / "fxcourse" / "course"
"""The notebooks that come with an installation from a wheel."""

FOLDER = "torch-fx-course"
"""The folder that is made for a learner's notebooks where there is no clone."""


class NoNotebooks(Exception):
    """There are no notebooks to work in; the message says what to do."""


def folder(where: Path) -> tuple[Path, list[str]]:
    """The folder with the notebooks to work in.

    In a clone it is ``course``. Otherwise the notebooks that were installed are copied to a folder
    of the learner's own. A notebook that is there already is kept as it is.

    Args:
        where: the folder in which that folder is made.

    Returns:
        The folder, and the names of the notebooks that were copied.

    Raises:
        NoNotebooks: there are none, or they cannot be copied.
    """
    if any(CLONE.glob("*.ipynb")):
        return CLONE, []
    sources = sorted(INSTALLED.glob("*.ipynb"))
    if not sources:
        raise NoNotebooks(
            f"There are no notebooks in {CLONE}, and none were installed. In a clone of the "
            "project, run 'fxcourse build'. Otherwise install the course again."
        )
    own = where / FOLDER
    missing = [path for path in sources if not (own / path.name).exists()]
    try:
        own.mkdir(exist_ok=True)
        for path in missing:
            shutil.copyfile(path, own / path.name)
    except OSError as error:
        raise NoNotebooks(
            f"The notebooks cannot be copied to {own} ({error.strerror}). Run this command in a "
            "folder of your own, in which you may write."
        ) from None
    return own, [path.name for path in missing]
