"""JupyterLab's file manager, which updates the index when it is opened.

The index is not rewritten after each pass, because JupyterLab asks its user about a file that
changes while it is open.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from autograder.workspace import index
from autograder.workspace.given import INDEX
from autograder.workspace.location import is_workspace


class Contents(AsyncLargeFileManager):
    """Jupyter's own file manager, with an index that is up to date."""

    async def get(self, path: str, content: bool = True, *more: Any, **options: Any) -> Any:
        """Read a file or folder; update the index before reading it."""
        folder = Path(self.root_dir)
        if content and path.strip("/") == f"{INDEX}.ipynb" and is_workspace(folder):
            with contextlib.suppress(OSError):  # the index then shows an earlier state
                index.refresh(folder)
        return await super().get(path, content, *more, **options)  # type: ignore[no-untyped-call]
