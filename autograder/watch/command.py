"""`fxcourse watch`: from a chapter's name to a session in the terminal."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

from rich.console import Console

from autograder import workspace_root
from autograder.watch.checker import Checker, heavy_modules
from autograder.watch.files import exercises_of, give_out
from autograder.watch.keys import keys
from autograder.watch.session import Session
from autograder.workspace import update


def watch(chapter: str, folder: Path) -> None:
    """Give out a chapter's exercises as files, and show a card on every save.

    Args:
        chapter: the chapter, such as ``03``.
        folder: the workspace; it is made if there is none.

    Raises:
        CannotUpdate: there is no such chapter, or the folder cannot be written to.
        NoNotebooks: there is nothing to give out.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    console = Console(soft_wrap=True, highlight=False)
    update.open_workspace(folder)
    # What is passed here is noted where the workspace's notebooks note it.
    os.environ[workspace_root.ENV] = str(folder)
    for name in ("SIGTERM", "SIGHUP"):  # the terminal was closed: leave as with Ctrl-C
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)
    exercises = exercises_of(folder, update.chapter_called(folder, chapter))
    news = give_out(folder, exercises)
    for sentence in news:
        console.print(sentence, style="yellow", markup=False)
    with (
        contextlib.suppress(KeyboardInterrupt),
        Checker(heavy_modules(exercises[0].given)) as checker,
        keys() as read,
    ):
        Session(exercises, console, checker, read).run()
    console.print("Your files stay where they are. The same command goes on from here.")
