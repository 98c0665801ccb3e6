"""Reads from the HTML of built pages the files that they load, their links, and hidden text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADS = {"src", "srcset", "poster", "data", "background", "action", "formaction"}
_IN_CSS = re.compile(r"(?:@import\s*[\"']|url\(\s*[\"']?)(?!data:|#)([^\"')]+)")
_VOID = {
    "area",
    "base",
    "br",
    "col",
    "embed",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "wbr",
}


@dataclass
class Page(HTMLParser):
    """One page.

    Attributes:
        loads: addresses that the browser loads without a click.
        links: link targets.
        ids: its anchors.
        seen: the text that is visible before a fold is opened.
        folded: the text in folds.
    """

    loads: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    seen: str = ""
    folded: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []
        self._folds = 0
        self._summary = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and tag != "meta":
                self.ids.add(value or "")
            elif name == "href" and tag == "a":
                self.links.append(value or "")
            elif name == "href" and tag == "link" and ("rel", "canonical") not in attrs:
                self.loads.append(value or "")
            elif name in _LOADS:
                self.loads.append(value or "")
            elif name == "style":
                self.loads += styles_load(value or "")
        if tag == "details" and ("open", "") not in attrs and ("open", None) not in attrs:
            self._folds += 1
        self._summary += tag == "summary"
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._folds -= tag == "details" and self._folds > 0
        self._summary -= tag == "summary"
        if tag in self._open:
            del self._open[len(self._open) - 1 - self._open[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["style"]:
            self.loads += styles_load(data)
        elif self._open[-1:] == ["script"]:
            return
        elif self._folds and not self._summary:
            self.folded += data
        else:
            self.seen += data


def styles_load(css: str) -> list[str]:
    """The addresses that a style sheet loads."""
    return _IN_CSS.findall(css)


@cache
def read(path: Path) -> Page:
    """Parse a page of a book."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def pages(folder: Path) -> list[Path]:
    """The pages of a book, without the theme's own files."""
    return sorted(path for path in folder.rglob("*.html") if "_static" not in path.parts)


def from_elsewhere(folder: Path) -> Iterator[str]:
    """The addresses on other hosts that a book loads."""
    for path in pages(folder):
        yield from (f"{path.name}: {at}" for at in read(path).loads if _is_elsewhere(at))
    for path in sorted(folder.rglob("*.css")):
        loaded = styles_load(path.read_text(encoding="utf-8"))
        yield from (f"{path.name}: {at}" for at in loaded if _is_elsewhere(at))


def broken(folder: Path) -> Iterator[str]:
    """The links in a book to a missing file or anchor."""
    for path in pages(folder):
        for at in {*read(path).links, *read(path).loads}:
            parts = urlsplit(at)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file():
                yield f"{path.name}: {at}: no such file"
            elif anchor and target.suffix == ".html" and anchor not in read(target).ids:
                yield f"{path.name}: {at}: no such anchor"


def _is_elsewhere(address: str) -> bool:
    return urlsplit(address).scheme in ("http", "https") or address.startswith("//")
