"""nbgrader's step that puts feedback pages into its exchange, even if it cannot deliver all.

A student fetches a page with a secret received when submitting through the exchange. Work that was
submitted in another way has no secret: nbgrader stops at the first such page, with a traceback.
"""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any

from nbgrader.exchange import ExchangeFactory
from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.utils import check_directory
from traitlets import TraitType

from autograder.submission.sanitize import in_a_line

_NEEDED = ("submission_secret.txt", "timestamp.txt")
"""The files that `nbgrader submit` puts next to a notebook, and that its exchange needs."""

INSTEAD = (
    "Give these students the pages in {folder}, or use fxcourse classroom export, "
    "which packs them for Moodle or Canvas."
)
NO_EXCHANGE = (
    "There is no exchange at {root} into which pages can be written. Set c.Exchange.root in "
    "nbgrader_config.py to a folder that everybody can write to. Without an exchange, give "
    "students the pages in {folder}, or use fxcourse classroom export, which packs them for "
    "Moodle or Canvas."
)
NO_PAGES = "There are no feedback pages of {chapter} yet. Generate feedback first."
NOT_BY_EXCHANGE = "Not released, as the work was not handed in through the exchange: {students}. "


class ReleaseFeedback(ExchangeReleaseFeedback):  # type: ignore[misc]  # nbgrader has no types
    """Releases the pages that can be fetched, and lists the students with other pages."""

    def ensure_root(self) -> None:
        """Fail with advice if there is no exchange."""
        if not check_directory(self.root, write=True, execute=True):
            folder = self.coursedir.format_path(self.coursedir.feedback_directory, ".", ".")
            self.fail(NO_EXCHANGE.format(root=self.root, folder=Path(folder)))

    def copy_files(self) -> None:
        """Put pages into the exchange.

        Raises:
            nbgrader.exchange.ExchangeError: the exchange can deliver none of the pages.
        """
        excluded = self.coursedir.student_id_exclude.split(",")
        folders = [one for one in self._folders() if one.parent.name not in excluded]
        if not folders:
            self.fail(NO_PAGES.format(chapter=self.coursedir.assignment_id))
        ready = [one for one in folders if all((one / name).is_file() for name in _NEEDED)]
        if others := [in_a_line(one.parent.name) for one in folders if one not in ready]:
            told = NOT_BY_EXCHANGE.format(students=", ".join(others))
            told += INSTEAD.format(folder=folders[0].parents[1])
            self.log.warning(told) if ready else self.fail(told)
        for folder in ready:
            self.src_path = glob.escape(str(folder))
            super().copy_files()

    def _folders(self) -> list[Path]:
        """The folders with pages: of one student, or of all."""
        asked, root = Path(self.src_path), Path(self.coursedir.root)
        if not asked.is_relative_to(root):  # c.CourseDirectory.feedback_directory is elsewhere
            root = Path(asked.anchor)
        found = [asked] if asked.is_dir() else root.glob(str(asked.relative_to(root)))
        return sorted(folder for folder in found if any(folder.glob("*.html")))


def use() -> None:
    """Make nbgrader use `ReleaseFeedback`, unless a configuration names another exchange.

    A setting in a classroom's file would override one of the whole machine, such as ngshare's.
    """
    trait: TraitType[Any, Any] = ExchangeFactory.release_feedback
    trait.default_value = ReleaseFeedback
