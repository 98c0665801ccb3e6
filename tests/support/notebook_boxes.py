"""A fork server for notebooks alone, without exercises."""

from __future__ import annotations

import base64
import os
import pickle
from collections.abc import Iterable
from typing import Any

from autograder.sandbox.client import ForkServer, Image, Process, SubprocessServer
from autograder.sandbox.resource_limits import Bounds
from autograder.sandbox.walls import Wall

DEFAULT = Wall(os.environ.get("TEST_WALL", "namespaces"))
NOTHING: dict[str, Any] = {
    "modules": [],
    "exercises": [],
    "forbidden": base64.b64encode(pickle.dumps([])).decode(),
}


class Notebooks:
    """Forks sandboxed processes for notebooks, or starts them without a sandbox.

    Args:
        bounds: the limits of one process.
        imports: modules to import at the start.
        wall: what isolates them.
    """

    def __init__(
        self, bounds: Bounds, imports: Iterable[str] = ("torch",), wall: Wall = DEFAULT
    ) -> None:
        entries = {
            "student": ("autograder.boxed.student", bounds),
            "graphs": ("autograder.boxed.graph_service", bounds),
        }
        image = Image(entries, {"imports": list(imports)})
        self.can_fork = wall is not Wall.NONE
        self.source: ForkServer | SubprocessServer = (
            ForkServer(image, wall) if self.can_fork else SubprocessServer(image)
        )
        if isinstance(self.source, ForkServer):
            self.source.wait()
        self.source.configure(NOTHING, [])

    @property
    def pid(self) -> int:
        """The fork server's process id."""
        return self.source.pid

    def notebook(self) -> Process:
        """Start a process for a notebook."""
        return self.source.process("student")

    def process(self, entry: str) -> Process:
        """Start a process with any entry."""
        return self.source.process(entry)

    def close(self) -> None:
        """End the fork server and its processes."""
        self.source.close()
