"""A student's feedback as one page of HTML: complete in itself, without a network and scripts."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder.cards.wording import number, points
from autograder.classroom.feedback_page.contents import Contents
from autograder.classroom.feedback_page.shared_styles import with_shared_styles
from autograder.drawing.html import clean


def page(contents: Contents) -> str:
    """The page."""
    html: str = _template().render(c=contents, h=contents.handed)
    return with_shared_styles(html)


@cache
def _template() -> Any:
    """The template, which escapes all that is no `Markup`."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_clean,
        trim_blocks=True,
    )
    environment.filters |= {"number": number, "points": points}
    return environment.get_template("feedback.html")


def _clean(value: Any) -> Any:
    """What a template puts into the page, without what changes how text is read."""
    return clean(value) if type(value) is str else value
