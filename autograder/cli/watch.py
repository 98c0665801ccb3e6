"""`fxcourse watch`: start a session in the terminal for a chapter."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from autograder.cli.terminal import out
from autograder.watch.catalogue import Catalogue
from autograder.watch.checker import Checker, heavy_modules
from autograder.watch.editor import editor_for
from autograder.watch.keys import keys
from autograder.watch.session import Session
from autograder.workspace import location, settings, update


def watch_chapter(chapter: str, folder: Path, edit_cmd: str | None = None) -> None:
    """Write the exercises of a chapter as files, and show a card on every save.

    Args:
        chapter: the chapter, such as ``03``.
        folder: the workspace, which is made if it does not exist, or the folder of an assignment.
            The files of an assignment are in the default workspace, and are not handed in.
        edit_cmd: the command that opens a file in an editor; by default the one in the settings.

    Raises:
        BadEditCommand: the command does not say which file to open.
        CannotUpdate: there is no such chapter, or the folder cannot be written to.
        NoNotebooks: the course has no notebooks.
    """
    home = folder
    if location.is_assignment(folder):
        home = location.usual()
        with contextlib.suppress(OSError):  # writing the files explains it
            location.make_private(home)
    else:
        update.open_workspace(folder)
        # The verdicts go to the record that the workspace's notebooks use.
        os.environ[location.ENV] = str(folder)
    for name in ("SIGTERM", "SIGHUP"):  # the terminal was closed: leave as after Ctrl-C
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)
    editor = editor_for(settings.edit_cmd() if edit_cmd is None else edit_cmd, os.environ)
    catalogue = Catalogue(folder, home)
    exercises = catalogue.chapter(update.chapter_called(folder, chapter))
    news = catalogue.open(exercises)
    with (
        contextlib.suppress(KeyboardInterrupt),
        Checker(heavy_modules(exercises[0].given)) as checker,
        keys() as read,
    ):
        Session(exercises, catalogue, out, checker, read, editor, news=news).run()
    out.print("Your files are kept. The same command continues from here.")
