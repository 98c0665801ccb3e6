"""Converts the pages of ``docs/``, which are written for GitHub, to input for Sphinx.

Four things differ in the book:

* A part between ``<!-- in the book: NAME -->`` and ``<!-- end -->`` is replaced by a part generated
  from the chapters, such as the list of error messages. GitHub shows the part itself.
* A ``<picture>`` follows the reader's system. Its two images follow the switch of the theme.
* A link to a file outside ``docs/`` would lead out of the book. It becomes a link to the repository
  if ``pyproject.toml`` gives the address (``Repository`` in ``[project.urls]``, with an owner
  instead of ``OWNER``), and plain text otherwise. `Links` changes links to notebooks, because it
  knows the chapters of the book.
* ``docs/sample/`` has a chapter with its outputs, for readers without an installation. The book has
  the chapter itself, so it leaves out the sample, and links to it lead to the chapter.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from autograder.builder.paths import ROOT

DOCS = ROOT / "docs"
SAMPLE = DOCS / "sample"

_PART = re.compile(r"^<!-- in the book: (?P<name>\w+) -->\n.*?^<!-- end -->$", re.M | re.S)
_DARK = re.compile(r"<source [^>]*prefers-color-scheme: dark[^>]* srcset=\"([^\"]+)\"")
_IMAGE = re.compile(r"<img ([^>]*?)src=\"([^\"]+)\"([^>]*?)/?>")
_TOKEN = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,}).*?^[ \t]*(?P=fence)[ \t]*$"
    r"|(?P<picture><picture>.*?</picture>)"
    r"|\[(?P<text>(?:[^\]\[]|\[[^\]\[]*\])*)\]\((?P<to>[^)\s]+)\)"
    r"|`+[^`]+`+",
    re.M | re.S,
)
"""Code, which is kept unchanged, or a picture or link outside of code."""


def pages() -> list[Path]:
    """The pages of ``docs/`` that are also in the book."""
    return [path for path in sorted(DOCS.rglob("*.md")) if not path.is_relative_to(SAMPLE)]


def read_all() -> dict[str, str]:
    """The text of every page as GitHub shows it, by its path in ``docs/``."""
    return {
        path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8").strip() + "\n"
        for path in pages()
    }


def for_the_book(name: str, text: str, parts: Mapping[str, str], address: str = "") -> str:
    """A page as input for Sphinx.

    Args:
        name: the path of the page in ``docs/``.
        text: its text as GitHub shows it.
        parts: the text of each part that is generated from the chapters.
        address: the address of the repository, if it is known.
    """
    text = _PART.sub(lambda found: parts[found["name"]], text)

    def change(found: re.Match[str]) -> str:
        if found["picture"]:
            return _image_for_each_theme(found[0])
        return _link(found, name, address) if found["to"] else found[0]

    return _TOKEN.sub(change, text)


def _image_for_each_theme(picture: str) -> str:
    """Two images in one line of text; the theme's style sheet shows one of them."""
    dark, image = _DARK.search(picture), _IMAGE.search(picture)
    if not dark or not image:
        return picture
    before, light, after = image.groups()
    shown = {"only-light": light, "only-dark": dark[1]}
    return "".join(
        f'<img class="{theme}" {before}src="{at}"{after}>' for theme, at in shown.items()
    )


def _link(found: re.Match[str], name: str, address: str) -> str:
    """Convert a link of a page for the book."""
    to, hash_sign, anchor = found["to"].partition("#")
    if not to or ":" in to or to.endswith(".ipynb"):
        return found[0]
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(name), to))
    text = found["text"]
    if path.startswith("docs/sample/"):
        return f"[{text}]({posixpath.basename(path).removesuffix('.md')}.ipynb)"
    if path.startswith("docs/"):
        folder = (ROOT / path).is_dir()
        return f"[{text}]({to.removesuffix('/')}/index.md)" if folder else found[0]
    return f"[{text}]({address}/blob/main/{path}{hash_sign}{anchor})" if address else text


@cache
def repository() -> str:
    """The address of the repository; empty as long as ``pyproject.toml`` names no owner."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    address: str = tomllib.loads(text)["project"].get("urls", {}).get("Repository", "")
    return "" if "/OWNER/" in address else address.removesuffix("/")
