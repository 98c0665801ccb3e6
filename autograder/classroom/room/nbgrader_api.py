"""nbgrader's own interface to a classroom, with the classroom's settings."""

from __future__ import annotations

import logging
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.classroom.room.scripts_path import find_scripts


def api(folder: Path) -> NbGraderAPI:
    """Connect nbgrader to the classroom in this folder."""
    find_scripts()
    config = Config(PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config())
    config.CourseDirectory.root = str(folder)
    logging.getLogger("traitlets").setLevel(logging.WARNING)
    return NbGraderAPI(CourseDirectory(config=config), config=config)
