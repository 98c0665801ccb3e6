"""Templates of HTML that escape whatever is put into them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder.drawing.html import clean


def environment(folder: Path, *, trim_blocks: bool = False) -> Environment:
    """What reads the templates of a folder.

    A text is escaped, unless it is `Markup`, and loses what changes how other text is read.
    A name that the template was not given is an error.

    Args:
        folder: where the templates lie.
        trim_blocks: leave out the line break behind a block's tag.
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
