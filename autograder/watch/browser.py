"""Opens a page in the browser of a desktop."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path


def open_page(page: Path) -> bool:
    """Open a page in a browser of the desktop, and never in one that runs in the terminal."""
    desktop = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    try:
        return desktop and webbrowser.open(page.as_uri())
    except (OSError, webbrowser.Error):
        return False
