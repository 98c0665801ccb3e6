"""The settings with which a class is graded, read once from its configuration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, LimitOutput
from traitlets import Bool, Enum, Float, Integer, Unicode
from traitlets.config import Config, LoggingConfigurable

from autograder.classroom.records.pools import Pools
from autograder.sandbox.resource_limits import MIB, Bounds
from autograder.sandbox.walls import AUTO, SETTINGS, Wall
from autograder.submission.contract import GradingConfig, PreloadSpec, Timeouts
from autograder.submission.source_cells import SourceCell


class WallSetting(Enum[str]):
    """A setting of `walls.choose`; earlier versions had ``True`` and ``False``."""

    def validate(self, obj: object, value: object) -> str:
        """The setting as a word."""
        if isinstance(value, bool):
            return AUTO if value else Wall.NONE.value
        return str(super().validate(obj, value))


class ExecuteChecks(LoggingConfigurable):
    """The settings `c.ExecuteChecks.…` of an ``nbgrader_config.py``.

    The name of the class is their section there. nbgrader's step of the same name inherits them, so
    nbgrader knows them too.
    """

    syllabus = Unicode("autograder.exercises", help="The module whose `EXERCISES` are graded.").tag(
        config=True
    )
    secret = Unicode("", help="The seeds of all random models come from it. Keep it secret.").tag(
        config=True
    )
    sandbox = WallSetting(
        SETTINGS,
        AUTO,
        help="The sandbox in which notebooks run: auto, namespaces, landlock or none. With none, a "
        "student's cell can read the class's secret and the gradebook, and write with your "
        "permissions.",
    ).tag(config=True)
    proof = Bool(
        True, help="Grade a notebook with known marks first, and stop if one of them differs."
    ).tag(config=True)
    cell_cpu = Float(30.0, help="Processor seconds of a cell.").tag(config=True)
    cell_wall = Float(60.0, help="Seconds of waiting for a cell.").tag(config=True)
    case_cpu = Float(10.0, help="Processor seconds of an answer on one case.").tag(config=True)
    case_wall = Float(60.0, help="Seconds of waiting for an answer on one case.").tag(config=True)
    trial = Float(
        240.0,
        help="Seconds of waiting for an answer on all cases. After that it earns nothing.",
    ).tag(config=True)
    notebook = Float(
        1800.0, help="Seconds of waiting for a notebook. Cells after that do not run."
    ).tag(config=True)
    restarts = Integer(10, help="Processes that one notebook may use up.").tag(config=True)
    memory = Integer(2048, help="MiB of memory that one notebook may use.").tag(config=True)


@dataclass(frozen=True)
class GradingSettings:
    """The settings for grading a class, from its configuration.

    Attributes:
        course: nbgrader's paths of the class.
        syllabus: the module whose `EXERCISES` are graded.
        secret: the source of the seeds of all random models.
        sandbox: the sandbox in which notebooks run, one of `walls.SETTINGS`.
        proof: whether a notebook with known points is graded first.
        timeouts: the time limits of the parts of a notebook.
        bounds: the resource limits of one notebook.
        max_lines: the number of lines of printed text that a cell keeps.
        max_traceback: the number of lines of a traceback that a cell keeps.
    """

    course: CourseDirectory
    syllabus: str
    secret: str
    sandbox: str
    proof: bool
    timeouts: Timeouts
    bounds: Bounds
    max_lines: int
    max_traceback: int

    @classmethod
    def of(cls, config: Config) -> GradingSettings:
        """Read the settings of a class."""
        checks, limit = ExecuteChecks(config=config), LimitOutput(config=config)
        return cls(
            CourseDirectory(config=config), checks.syllabus, checks.secret, checks.sandbox,
            checks.proof, _timeouts(checks, config),
            Bounds(memory=checks.memory * MIB, wall=checks.notebook),
            limit.max_lines, limit.max_traceback,
        )  # fmt: skip

    @property
    def room(self) -> Path:
        """The folder of the class."""
        return Path(self.course.root)

    @property
    def pools(self) -> Pools:
        """The pools from which the class's random models come."""
        return Pools(self.room, self.secret)

    def source(self, assignment: str) -> Path:
        """The folder with an assignment's source."""
        return Path(self.course.format_path(self.course.source_directory, ".", assignment))

    def for_chapter(
        self, preload: PreloadSpec, source_cells: dict[str, SourceCell], only: str = ""
    ) -> GradingConfig:
        """The configuration for grading a chapter's submissions."""
        return GradingConfig(
            preload.name, source_cells, preload, self.timeouts, self.sandbox != Wall.NONE,
            only, self.proof, self.max_lines, self.max_traceback, self.sandbox,
        )  # fmt: skip


def _timeouts(checks: ExecuteChecks, config: Config) -> Timeouts:
    """The limits of `ExecuteChecks`; nbgrader's ``c.Execute.timeout`` applies to cells."""
    cell_cpu, cell_wall = checks.cell_cpu, checks.cell_wall
    timeout = Execute(config=config).timeout or 0.0
    if "timeout" in config.Execute and timeout > 0.0:  # nbgrader's -1 means no limit
        cell_cpu = cell_cpu if "cell_cpu" in config.ExecuteChecks else timeout
        cell_wall = cell_wall if "cell_wall" in config.ExecuteChecks else timeout
    return Timeouts(
        cell_cpu, cell_wall, checks.case_cpu, checks.case_wall, checks.trial, checks.notebook,
        checks.restarts,
    )  # fmt: skip
