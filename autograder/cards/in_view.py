"""Brings a card into view: after Shift+Enter, JupyterLab scrolls to the next cell and away from it.

A script in the output does it, because nothing else can. It acts for a few seconds after the check,
so that a notebook that is opened again stays where it is. It does nothing if the learner is at
another cell by then, or runs all cells.
"""

from __future__ import annotations

import time

MOST_SECONDS = 8

_SCRIPT = """<script>(function (script) {
  function show() {
    var card = script.closest(".jp-OutputArea-output"), cell = card && card.closest(".jp-Cell");
    var near = cell ? [cell, cell.nextElementSibling] : [];
    var here = near.some(function (each) {
      return each && each.classList.contains("jp-mod-active");
    });
    if (here && Date.now() < UNTIL) card.scrollIntoView({block: "nearest"});
  }
  [50, 400, 1000].forEach(function (wait) { setTimeout(show, wait); });
})(document.currentScript);</script>"""


def script() -> str:
    """The script for a card that is shown now."""
    return _SCRIPT.replace("UNTIL", str(int((time.time() + MOST_SECONDS) * 1000)))
