"""A film of a pass: its steps as a picture with a button each, and as text where no scripts run.

The text is in the page. A script puts the picture over it, in a shadow root, so that styles and
names cannot leak. Stepping needs no kernel, so it also works in a notebook that was saved.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from autograder.core.node_label import shorten
from autograder.drawing.graph_film import (
    STYLE,
    WIDEST,
    controls,
    count_of,
    film_text,
    picture,
    place_of,
    rows_left_out,
    sentences_of,
    still_lines,
)
from autograder.drawing.graph_steps import GraphFilm
from autograder.drawing.html import block, escaped, rich, sheet

MOST_CHARACTERS = 40_000
"""Maximum length of a film as HTML. If it is longer, it gets fewer steps."""

TITLE = "Step by step"

_CODE = re.compile("`([^`]*)`")

_SCRIPT = """<script>(function (script) {
  var film = script.previousElementSibling;
  var data = film && film.querySelector("script[type='application/json']");
  if (!data || film.shadowRoot || !film.attachShadow) return;
  var root = film.attachShadow({mode: "open"});
  root.innerHTML = JSON.parse(data.textContent);
  var said = film.querySelector("ol").children, parts = root.querySelectorAll("[data-f]");
  function show(step) {
    var title = "<strong>Step " + (step + 1) + " of " + said.length + ",</strong> ";
    root.querySelector("[role=status]").innerHTML = title + said[step].innerHTML;
    parts.forEach(function (part) {
      var here = part.getAttribute("data-f").split(",").some(function (range) {
        var ends = range.split("-");
        return +ends[0] <= step && step <= +ends[1];
      });
      part.style.display = here ? "" : "none";
    });
  }
  root.addEventListener("change", function (event) { show(+event.target.value); });
  show(0);
})(document.currentScript);</script>"""


class Film:
    """A film, ready to be displayed.

    Args:
        film: its steps.
    """

    def __init__(self, film: GraphFilm) -> None:
        self.film = film

    def __repr__(self) -> str:
        return f"{TITLE}\n{film_text(self.film)}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        title = f"<strong>{TITLE}</strong>"
        return {"text/html": sheet(title + film_html(self.film)), "text/plain": repr(self)}


def film_html(film: GraphFilm) -> str:
    """A film as HTML, of at most `MOST_CHARACTERS` characters."""
    html = _whole_html(film)
    while len(html) > MOST_CHARACTERS and len(film.steps) > 1:
        film = replace(film, steps=film.steps[: len(film.steps) * 2 // 3])
        html = _whole_html(film)
    return html


def _whole_html(film: GraphFilm) -> str:
    notes = "".join(
        f"<p>{rich(note)}</p>" for note in (count_of(film), rows_left_out(film), film.note) if note
    )
    if not film.steps:
        return notes
    items = "".join(f"<li>{_item(film, i)}</li>" for i in range(len(film.steps)))
    still = block("\n".join(still_lines(film)), lines=80)
    inside = (
        f'<style>{STYLE}</style>{controls(film)}<p role="status"></p>'
        f'<div role="group" aria-label="The graph after this step" tabindex="0">'
        f"{picture(film)}</div>"
        "<details><summary>All steps as text</summary><slot></slot></details>"
    )
    data = json.dumps(inside).replace("<", "\\u003c")
    # JupyterLab would take the arrow keys for its own shortcuts.
    return (
        '<div data-lm-suppress-shortcuts="true">'
        f'<ol>{items}</ol><div slot="still">{still}</div>'
        f'<script type="application/json">{data}</script></div>{_SCRIPT}{notes}'
    )


def _item(film: GraphFilm, index: int) -> str:
    """A step of the list, which the picture shows, too."""
    text = film.steps[index].text
    line = f": <code>{escaped(shorten(text, WIDEST))}</code>" if text else ""
    said = [_CODE.sub(r"<code>\1</code>", escaped(each)) for each in sentences_of(film, index)]
    return "<br>".join([f"<strong>{place_of(film, index)}</strong>{line}", *said])
