"""Removes active content from markdown and raw cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from html import escape
from typing import Any

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.notebooknode import NotebookNode
from pygments.lexers import get_all_lexers

from autograder.submission.sanitize.fields import LINK_IN_FORMULA, PICTURES, valid_picture
from autograder.submission.sanitize.policy import harmless_picture, harmless_url
from autograder.submission.sanitize.reader import Html
from autograder.submission.sanitize.rewrite import stays_inside

_LOADS = re.compile(r"\bimg\b|\burl\b|theme_?css|//|@import", re.I)
"""Constructs by which a diagram loads a picture or a style from elsewhere."""
_HEADING = re.compile(r'<h\d id="([^"]*)"')


def taken_ids(nb: NotebookNode) -> frozenset[str]:
    """The ids by which Formgrader's page finds its fields for points and comments."""
    given = (cell.metadata.get("nbgrader") or {} for cell in nb.cells)
    names = [(own["grade_id"], own.get("grade")) for own in given if own.get("grade_id")]
    points = [name for name, is_graded in names if is_graded]
    return frozenset(
        [*points, *(f"{p}_extra_credit" for p in points), *(f"{name}-comment" for name, _ in names)]
    )


class _CheckingRenderer(IPythonRenderer):
    """Renders markdown like the templates, and checks every part that they do not escape."""

    def __init__(self, taken: frozenset[str]) -> None:
        super().__init__(escape=False)
        self.html = Html(taken=taken)
        self.repaired: list[tuple[str, str]] = []
        self.taken, self.headings = taken, list[str]()
        self.rendered = ""
        self.urls: list[str] = []
        self.calls: list[str] = []
        self.pictures: list[str] = []

    def _check_html(self, raw: str) -> str:
        repaired = self.html.read(raw)
        if repaired != raw:
            self.repaired.append((raw, repaired))
        return raw

    def inline_html(self, html: str) -> str:
        return self._check_html(html)

    def block_html(self, html: str) -> str:
        return self._check_html(html)

    def block_code(self, code: str, info: str | None = None) -> str:
        # Highlighting takes half of a notebook's time, and only adds tags around words.
        language = "" if info is None or info.startswith("mermaid") else info.partition(" ")[0]
        if language.lower() in _languages():
            return f"<pre>{escape(code)}</pre>"
        return super().block_code(code, info)

    def block_mermaidjs(self, code: str) -> str:
        self._check_html(code.strip())
        if _LOADS.search(code):
            self.html.found["a diagram that loads something"] = None
        return super().block_mermaidjs(code)

    def link(self, text: str, url: str, title: str | None = None) -> str:
        if not harmless_url(url):
            self.urls.append(url)
        return super().link(text, url, title)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        if url.startswith("attachment:"):
            self.pictures.append(url.removeprefix("attachment:"))
        elif not harmless_picture(url):
            self.calls.append(url)
        return super().image(text, url.replace("attachment:", "#"), title)

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        # nbconvert uses the text of a heading as its id.
        html = super().heading(text, level, **attrs)
        named = _HEADING.match(html)
        if named and named[1] in self.taken:
            self.headings.append(text)
        return html

    def found(self) -> list[str]:
        """The harmful content, in a few fixed words."""
        links = ["a link that is not safe"] if self.urls else []
        links += ["a picture that is not shown here"] if self.calls else []
        links += ["a heading with the name of a field of the page"] if self.headings else []
        return list(dict.fromkeys([*self.html.found, *links, *self._ends()]))

    def _ends(self) -> Iterator[str]:
        if self.html.is_too_much():
            yield "too many tags"
        elif self.html.closers():
            yield "a tag that was not closed"
        elif not stays_inside(self.rendered):
            yield "tags that do not fit together"


@cache
def _languages() -> frozenset[str]:
    """The languages that the templates highlight, with all of their names."""
    return frozenset(name for _, names, _, _ in get_all_lexers(plugins=False) for name in names)


def _watched(source: str, taken: frozenset[str] = frozenset()) -> _CheckingRenderer | None:
    watch = _CheckingRenderer(taken)
    try:
        watch.rendered = MarkdownWithMath(renderer=watch).render(source)
    except Exception:  # the templates cannot render such a text either
        return None
    return watch


NOT_SHOWN = "(The text of this cell cannot be shown.)"


def clean_markdown(source: str, taken: frozenset[str] = frozenset()) -> tuple[str, list[str]]:
    """Remove active content from markdown, and list what was found; harmless markdown is unchanged.

    Args:
        source: the markdown.
        taken: the ids that the page uses already, and the text must not use.
    """
    # Most cells are the course's own, and equal in every submission.
    return (_clean_often if len(source) < 10_000 else _clean_markdown)(source, taken)


def _clean_markdown(source: str, taken: frozenset[str]) -> tuple[str, list[str]]:
    plain = LINK_IN_FORMULA.sub(r"\\href{#}", source)
    if _takes_too_long(plain):
        return NOT_SHOWN, ["text that takes too long to render"]
    watched = partial(_watched, taken=taken)
    watch = watched(plain)
    found = ["text that cannot be rendered"] if watch is None else watch.found()
    if plain != source:
        found.append("a link that is not safe")
    if watch is None or watch.found():
        attempts = [_fenced(plain), NOT_SHOWN]
        if watch is not None:
            attempts = [*_repaired(plain, watch), *attempts]
        plain = next(text for text in attempts if (w := watched(text)) and not w.found())
    return plain, list(dict.fromkeys(found))


_clean_often = lru_cache(maxsize=1024)(_clean_markdown)


_LONGEST = 50_000_000
_MOST_TEXT = 100_000
"""Most characters of text in a cell, without pictures."""
_PICTURE_IN_TEXT = re.compile(r"data:image/[\w+]{1,20};base64,[A-Za-z0-9+/=]*")


_BLANKS = re.compile(r"(?<![^\S\n])[^\S\n]{300}")


def length_of(source: str) -> int:
    """The number of characters of a cell to be read, without pictures."""
    return len(_PICTURE_IN_TEXT.sub("", source)) if len(source) > 1_000 else len(source)


def _takes_too_long(source: str) -> bool:
    if length_of(source) > _MOST_TEXT or _BLANKS.search(source):
        return True  # nbconvert starts again at each of many spaces
    # After each of these, nbconvert reads to the end of the cell; after "[", of the line.
    begins = sum(source.count(begin) for begin in ("\\begin{", "\\\\[", "\\\\("))
    brackets = sum(line.count("[") * len(line) for line in source.split("\n"))
    return begins * len(source) + brackets > _LONGEST


_MOST = 100
"""Most places that are repaired one by one; a cell with more is shown as plain text."""


def _repaired(source: str, watch: _CheckingRenderer) -> Iterator[str]:
    """Yield repaired sources: first with pictures turned into links, then without them."""
    places = [*watch.repaired, *watch.urls, *watch.calls, *watch.headings]
    if len(places) > _MOST:
        return
    for words in watch.headings:  # a zero-width space gives it another id
        line = re.compile(rf"^([ \t>#*+-]*{re.escape(words)})(?=[ \t#]*$)", re.M)
        source = line.sub(r"\1&#8203;", source)
    for raw, repaired in watch.repaired:
        source = source.replace(raw, repaired)
    closers = "".join(f"</{tag}>" for tag in watch.html.closers())
    end = f"\n\n{closers}" if closers else ""
    as_links = source
    for url in watch.calls:
        picture = re.compile(rf"!(\[[^\[\]\n]{{0,200}}\]\({re.escape(url)})")
        as_links = picture.sub(r"\1", as_links)
    yield _not_shown(as_links, watch.urls) + end
    yield _not_shown(source, [*watch.urls, *watch.calls]) + end


def _not_shown(source: str, urls: list[str]) -> str:
    for url in urls:
        for before in ("(", "<", "]: ", "]:"):
            source = source.replace(f"{before}{url}", f"{before}#not-shown")
    return source


def _fenced(source: str) -> str:
    longest = max(map(len, re.findall(r"`+", source)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}text\n{source}\n{fence}"


_EMPTY_PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
_TAG_BEGINS = re.compile(r"<(?=[A-Za-z/!?])")


def clean_cell(cell: NotebookNode, taken: frozenset[str] = frozenset()) -> str | None:
    """Clean a markdown or raw cell in place.

    Args:
        cell: the cell.
        taken: the ids that the page uses already, see `taken_ids`.

    Returns:
        A sentence about the content that was removed, or ``None`` if the cell was harmless.
    """
    if cell.cell_type == "raw":
        return _clean_raw(cell)
    if cell.cell_type != "markdown":
        return None
    cell.source, found = clean_markdown(cell.source, taken)
    said = [f"What could act in a browser is shown as text: {', '.join(found)}."] if found else []
    return " ".join([*said, *_clean_attachments(cell)]) or None


def _clean_raw(cell: NotebookNode) -> str | None:
    """Escape all HTML of a raw cell: it is not needed, and the templates would insert it."""
    plain, tags = _TAG_BEGINS.subn("&lt;", cell.source)
    cell.source, links = LINK_IN_FORMULA.subn(r"\\href{#}", plain)
    return "What could act in a browser is shown as text." if tags or links else None


def _clean_attachments(cell: NotebookNode) -> Iterator[str]:
    """Keep only pictures. If one is missing, the templates would fail to show the page."""
    given = cell.pop("attachments", None)
    given = given if isinstance(given, dict) else {}
    kept = {}
    for name, bundle in given.items():
        bundle = bundle if isinstance(bundle, dict) else {}
        pictures = {m: p for m in PICTURES if (p := valid_picture(bundle.get(m)))}
        if pictures:
            kept[name] = pictures
    if len(kept) < len(given):
        yield "An attachment that is not a picture was taken out."
    watch = _watched(cell.source) if "attachment:" in cell.source else None
    missing = [name for name in (watch.pictures if watch else []) if name not in kept]
    for name in missing:
        kept[name] = {"image/png": _EMPTY_PICTURE}
    if missing and len(kept) - len(missing) == len(given):
        yield "An attached picture is missing; an empty one is in its place."
    if kept:
        cell["attachments"] = kept
