"""Markdown pages as GitHub renders them: link targets and anchors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import mistune

_IN_HTML = re.compile(r"\b(?:href|src|srcset)=[\"']([^\"' ]+)")
_ANCHOR = re.compile(r"\b(?:id|name)=[\"']([^\"']+)")
_NO_PART_OF_A_SLUG = re.compile(r"[^\w\- ]")
_NEEDS_SPHINX = re.compile(r"^ *(?:```+\{|:::)|^\([\w.-]+\)=$|\{(?:ref|doc|term)\}`", re.M)

_read = mistune.create_markdown(renderer="ast", plugins=["table"])


@dataclass
class GitHubPage:
    """A page.

    Attributes:
        links: the addresses of its links and pictures.
        anchors: the anchors that a link can name.
    """

    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)


@cache
def page(path: Path) -> GitHubPage:
    """A page in markdown."""
    found = GitHubPage()
    for token in _tokens(_read(path.read_text(encoding="utf-8"))):
        if token["type"] in ("link", "image"):
            found.links.append(token["attrs"]["url"])
        elif token["type"] in ("block_html", "inline_html"):
            found.links += _IN_HTML.findall(token["raw"])
            found.anchors.update(_ANCHOR.findall(token["raw"]))
        elif token["type"] == "heading":
            found.anchors.add(_unique(slug(_text(token)), found.anchors))
    return found


def slug(title: str) -> str:
    """The anchor that GitHub gives a heading."""
    return _NO_PART_OF_A_SLUG.sub("", title.lower()).replace(" ", "-")


def broken(path: Path, root: Path) -> Iterator[str]:
    """The relative links of a page without a target in the repository."""
    for link in page(path).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.is_relative_to(root) or not target.exists():
            yield f"{path.relative_to(root)}: {link}: no such file"
        elif parts.fragment and target.suffix == ".md":
            if unquote(parts.fragment) not in page(target).anchors:
                yield f"{path.relative_to(root)}: {link}: no such heading"


def only_for_sphinx(text: str) -> list[str]:
    """Sphinx directives, labels and roles in a text, which GitHub does not render."""
    return _NEEDS_SPHINX.findall(text)


def _tokens(tokens: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for token in tokens:
        yield token
        yield from _tokens(token.get("children", []))


def _text(token: dict[str, Any]) -> str:
    return token.get("raw", "") + "".join(map(_text, token.get("children", [])))


def _unique(wanted: str, taken: set[str]) -> str:
    """A unique anchor for a heading: the second ``example`` is ``example-1``."""
    number, anchor = 0, wanted
    while anchor in taken:
        number += 1
        anchor = f"{wanted}-{number}"
    return anchor
