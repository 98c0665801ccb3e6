"""Scrolls a card into view: after Shift+Enter, JupyterLab scrolls to the next cell instead.

Only a script in the output can do this. It acts for a few seconds after the check, so that a
notebook that is opened again does not scroll. It does nothing if the learner has moved to another
cell, or runs all cells.
"""

from __future__ import annotations

import re
import time

MOST_SECONDS = 8

OPENING_SECONDS = 90
"""Time in which JupyterLab must open the notebook of a link."""

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
    """The script for a card that is displayed now."""
    return _SCRIPT.replace("UNTIL", str(int((time.time() + MOST_SECONDS) * 1000)))


_LINKS = """<script>(function () {
  if (window.fxcourseLinks) return;
  window.fxcourseLinks = true;
  var until = 0, words = "", found = false;
  ["wheel", "keydown", "mousedown"].forEach(function (kind) {
    document.addEventListener(kind, function () { until = 0; }, true);
  });
  document.addEventListener("click", function (event) {
    var link = event.target.closest && event.target.closest("a[href*='#cell-id=']");
    if (!link) return;
    until = Date.now() + OPENS;
    found = false;
    words = link.textContent;
    setTimeout(show, 300);
  }, true);
  function show() {
    if (Date.now() > until) return;
    var cells = Array.from(document.querySelectorAll(".jp-NotebookPanel:not(.lm-mod-hidden) "
      + ".jp-MarkdownCell.jp-mod-selected:not(.jp-mod-active)"));
    var named = cells.filter(function (each) { return each.textContent.includes(words); });
    var cell = named.pop() || (cells.length === 1 ? cells[0] : null);
    if (cell && !found) until = Date.now() + STAYS;
    found = found || Boolean(cell);
    if (cell) cell.scrollIntoView();
    setTimeout(show, 300);
  }
})();</script>"""


def script_for_links() -> str:
    """The script for a page with links to cells.

    JupyterLab selects the cell, and scrolls to it while the cells above it still have estimated
    heights, so that a heading ends above the window. For some seconds, the script scrolls again,
    until the learner does something.
    """
    seconds = {"OPENS": OPENING_SECONDS, "STAYS": MOST_SECONDS}
    return re.sub("|".join(seconds), lambda name: str(seconds[name[0]] * 1000), _LINKS)
