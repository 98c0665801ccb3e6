"""The options of a run of `fxcourse grade`, and the listener to which it reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from traitlets.config import Config

from autograder.classroom.room.honoured_settings import refused
from autograder.classroom.room.nbgrader_api import api
from autograder.environment.errors import ClassroomError
from autograder.sandbox.walls import AUTO
from autograder.submission.result import Result


@dataclass(frozen=True)
class GradingOptions:
    """The options of one run.

    Attributes:
        chapters: the chapters; by default, all that have been released.
        students: the students to grade; all by default.
        jobs: the number of submissions to grade at the same time.
        sandbox: the sandbox in which notebooks run, one of `walls.SETTINGS`; with ``auto``, as the
            classroom's configuration says.
        force: grade submissions again even if they have not changed.
        db_url: the gradebook, if not the one in the classroom's configuration.
        cluster: the address of a Dask scheduler whose workers grade.
        settings: settings of `ExecuteChecks`, in addition to the classroom's configuration.
        dry_run: report the scores that would change, and write nothing.
    """

    chapters: Sequence[str] | None = None
    students: Sequence[str] | None = None
    jobs: int = 1
    sandbox: str = AUTO
    force: bool = False
    db_url: str | None = None
    cluster: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    dry_run: bool = False

    def config(self, room: Path) -> Config:
        """The configuration of a classroom, with these options.

        Raises:
            ClassroomError: it contains a setting that our grading does not support.
        """
        config: Config = api(room).config
        config.ExecuteChecks.update(self.settings)
        if self.sandbox != AUTO:
            config.ExecuteChecks.sandbox = self.sandbox
        if self.db_url:
            config.CourseDirectory.db_url = self.db_url
        if why_not := refused(config):
            raise ClassroomError(why_not)
        return config


def _nothing(*_: object) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Listener:
    """Functions that a run calls.

    Attributes:
        say: called for each submission, with its result, the number of results, and the total.
        warn: called before grading, with sentences for the instructor.
        expect: called with the number of submissions, as soon as it is known.
    """

    say: Callable[[Result, int, int], None] = _nothing
    warn: Callable[[str], None] = _nothing
    expect: Callable[[int], None] = _nothing
