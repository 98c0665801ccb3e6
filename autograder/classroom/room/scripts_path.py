"""Makes the commands of this Python's environment available by name."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def find_scripts() -> None:
    """Put this Python's commands on the path: nbgrader starts `alembic` by its name."""
    scripts = str(Path(sys.executable).parent)
    if scripts not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = scripts + os.pathsep + os.environ.get("PATH", "")
