"""The pages of ``docs/``, written for GitHub, and turned into what Sphinx reads.

Three things differ in the book:

* A part between ``<!-- in the book: NAME -->`` and ``<!-- end -->`` is replaced by what is made
  from the chapters, such as the list of error messages. GitHub shows the part itself.
* A ``<picture>`` follows the reader's system. Its two images follow the switch of the theme.
* A link to a file outside ``docs/`` would lead out of the book. It becomes a link to the repository
  if ``pyproject.toml`` says where that is (``Repository`` in ``[project.urls]``, with an owner in
  place of ``OWNER``), and plain text otherwise. Links to notebooks are left to `Links`, which knows
  the chapters of the book.
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
"""Code, which is kept as it is, or a picture or link outside of code."""


def read_all(folder: Path = DOCS) -> dict[str, str]:
    """The text of every page as GitHub shows it, by its path in the folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8").strip() + "\n"
        for path in sorted(folder.rglob("*.md"))
    }


def for_the_book(name: str, text: str, parts: Mapping[str, str], address: str = "") -> str:
    """A page as Sphinx reads it.

    Args:
        name: the path of the page in ``docs/``.
        text: its text as GitHub shows it.
        parts: the text of each part that is made from the chapters.
        address: the address of the repository, if it is known.
    """
    text = _PART.sub(lambda found: parts[found["name"]], text)

    def change(found: re.Match[str]) -> str:
        if found["picture"]:
            return _image_for_each_theme(found[0])
        return _link(found, name, address) if found["to"] else found[0]

    return _TOKEN.sub(change, text)


def _image_for_each_theme(picture: str) -> str:
    """A paragraph of two images, of which the theme's style sheet shows one."""
    dark, image = _DARK.search(picture), _IMAGE.search(picture)
    if not dark or not image:
        return picture
    before, light, after = image.groups()
    shown = {"only-light": light, "only-dark": dark[1]}
    images = (f'<img class="{theme}" {before}src="{at}"{after}>' for theme, at in shown.items())
    return "<p>" + "\n".join(images) + "</p>"


def _link(found: re.Match[str], name: str, address: str) -> str:
    """A link of a page as it is in the book."""
    to, hash_sign, anchor = found["to"].partition("#")
    if not to or ":" in to or to.endswith(".ipynb"):
        return found[0]
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(name), to))
    if path.startswith("docs/"):
        return found[0]
    text = found["text"]
    return f"[{text}]({address}/blob/main/{path}{hash_sign}{anchor})" if address else text


@cache
def repository() -> str:
    """The address of the repository; nothing as long as ``pyproject.toml`` names no owner."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    address: str = tomllib.loads(text)["project"].get("urls", {}).get("Repository", "")
    return "" if "/OWNER/" in address else address.removesuffix("/")
