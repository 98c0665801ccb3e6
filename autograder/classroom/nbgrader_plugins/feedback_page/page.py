"""Renders a student's feedback as one HTML page, which needs neither network nor scripts."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from autograder.cards.wording import number, points
from autograder.classroom.nbgrader_plugins.feedback_page.contents import Contents
from autograder.classroom.nbgrader_plugins.feedback_page.shared_styles import with_shared_styles
from autograder.drawing.html import block, bounded, escaped, rich, wrapped
from autograder.drawing.templates import environment


def page(contents: Contents) -> str:
    """Render the page."""
    html: str = _template().render(c=contents, h=contents.handed)
    return with_shared_styles(html)


@cache
def _template() -> Any:
    """The template, which escapes everything except `Markup`."""
    found = environment(Path(__file__).parent / "templates", trim_blocks=True)
    found.filters |= {"number": number, "points": points}
    found.filters["rich"] = lambda text: Markup(rich(text))
    found.filters["block"] = lambda text: Markup(block(text))
    found.filters["code"] = lambda text: Markup(wrapped(escaped(bounded(text, 24, 1_000))))
    return found.get_template("feedback.html")
