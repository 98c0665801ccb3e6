"""A fork server for notebooks alone, as tests need it: it knows no exercise."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Iterable
from typing import Any

from autograder.sandbox.client import ForkServer, Image, Process, SubprocessServer
from autograder.sandbox.resource_limits import Bounds

NOTHING: dict[str, Any] = {
    "modules": [],
    "exercises": [],
    "forbidden": base64.b64encode(pickle.dumps([])).decode(),
}


class Notebooks:
    """Forks boxed processes for notebooks; without a box, starts them.

    Args:
        bounds: what one of them may take.
        imports: modules that are there from the beginning.
        boxed: whether there is a box.
    """

    def __init__(
        self, bounds: Bounds, imports: Iterable[str] = ("torch",), *, boxed: bool = True
    ) -> None:
        entries = {
            "student": ("autograder.boxed.student", bounds),
            "graphs": ("autograder.boxed.graph_service", bounds),
        }
        image = Image(entries, {"imports": list(imports)})
        self.can_fork = boxed
        self.source: ForkServer | SubprocessServer = (
            ForkServer(image) if boxed else SubprocessServer(image)
        )
        if isinstance(self.source, ForkServer):
            self.source.wait()
        self.source.configure(NOTHING, [])

    @property
    def pid(self) -> int:
        """The fork server's process."""
        return self.source.pid

    def notebook(self) -> Process:
        """A new process for a notebook."""
        return self.source.process("student")

    def process(self, entry: str) -> Process:
        """A new process of any kind."""
        return self.source.process(entry)

    def close(self) -> None:
        """End all of it."""
        self.source.close()
