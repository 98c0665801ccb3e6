"""HTML templates that escape all values inserted into them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder.drawing.html import clean


def environment(folder: Path, *, trim_blocks: bool = False) -> Environment:
    """The Jinja environment for the templates of a folder.

    A value is escaped, unless it is `Markup`, and loses control characters. A name that the
    template did not get is an error.

    Args:
        folder: contains the templates.
        trim_blocks: remove the line break after a block's tag.
    """
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_clean,
        trim_blocks=trim_blocks,
    )


def _clean(value: Any) -> Any:
    return clean(value) if type(value) is str else value
