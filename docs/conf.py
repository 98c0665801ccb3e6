"""How Sphinx makes the book. `fxcourse book` puts the pages together and runs it."""

from __future__ import annotations

from pathlib import Path

project = "torch.fx by doing"
author = "the fxcourse authors"
copyright = "2026, the fxcourse authors. Text: CC BY 4.0, code: BSD-3-Clause"
language = "en"

extensions = ["myst_nb"]
exclude_patterns: list[str] = []

# Chapters are executed before: `fxcourse solutions` does it, and stops at a cell that fails.
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["colon_fence"]  # no formulas: no page loads a library for them
myst_heading_anchors = 3

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
    "header_links_before_dropdown": 5,
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}

# Where there is nothing to the left, the page has the room.
_LONELY = ("index", "errors", "questions", "cheat_sheets", "glossary", "bugs_of_today", "hunting")
html_sidebars: dict[str, list[str]] = dict.fromkeys(_LONELY, [])

# One catalogue a page, for `fxcourse book --catalogues`; translations go into docs/locale.
gettext_compact = False
gettext_uuid = False
gettext_location = True
locale_dirs = [str(Path(__file__).parent / "locale")]
