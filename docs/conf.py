"""How Sphinx makes the book. `fxcourse book` puts the pages together and runs it."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from autograder.book.headings import title_alone

project = "torch.fx by doing"
author = "the fxcourse authors"
copyright = "2026, the fxcourse authors. Text: CC BY 4.0, code: BSD-3-Clause"
language = "en"

extensions = ["myst_nb"]
exclude_patterns: list[str] = []

# Chapters are executed before: `fxcourse solutions` does it, and stops at a cell that fails.
nb_execution_mode = "off"
nb_merge_streams = True
# Alerts are GitHub's boxes, such as `> [!NOTE]`. No formulas: no page loads a library for them.
myst_enable_extensions = ["colon_fence", "alert"]
myst_heading_anchors = 4

suppress_warnings = [
    "mystnb.mime_priority",  # a catalogue has no place for outputs, which are HTML
    "misc.highlighting_failure",  # what FX adds to a message is no part of IPython's tracebacks
]

html_theme = "pydata_sphinx_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_js_files = ["book.js"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}

# A page that is in no folder has no contents of its folder to show.
html_sidebars: dict[str, list[str]] = {"*": []}

# One catalogue a page, for `fxcourse book --catalogues`; translations go into docs/locale.
gettext_compact = False
gettext_uuid = False
gettext_location = True
locale_dirs = [str(Path(__file__).parent / "locale")]


def setup(app: Sphinx) -> None:
    """Show titles alone in a page's list of contents; Sphinx has collected it at priority 500."""
    app.connect("doctree-read", _leave_out_effort, priority=900)


def _leave_out_effort(app: Sphinx, doctree: nodes.document) -> None:
    """Remove stars, minutes and points from the contents of the page that was read."""
    for text in list(app.env.tocs[app.env.docname].findall(nodes.Text)):
        text.parent.replace(text, nodes.Text(title_alone(text)))
