"""Nothing that a student wrote runs in the browser of the person who grades it.

Formgrader and the feedback pages show raw HTML as it is: that of outputs, of markdown, of
diagrams in markdown, and even an execution count. Here HTML is accepted as it stands only if
every parser reads it in the same way and every tag in it is known to be harmless. Other HTML
of outputs is made anew by `bleach`; in markdown, what is not harmless is shown as text.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import tinycss2
from bleach.sanitizer import Cleaner
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_output

# ------------------------------------------------------------------ what is harmless

TAGS = frozenset(
    "a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code col "
    "colgroup dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 "
    "header hr i img ins kbd li main mark nav nobr ol p pre q rp rt ruby s samp section small span "
    "strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr".split()
)
_EMPTY = frozenset("br col hr img wbr".split())
_MAY_STAY_OPEN = frozenset("colgroup dd dt li p rp rt tbody td tfoot th thead tr".split())
ACTIVE = frozenset(
    "animate animatemotion animatetransform annotation-xml applet area audio base basefont bgsound "
    "blink body button canvas command data datalist dialog dir embed fencedframe fieldset "
    "foreignobject form frame frameset head html iframe ilayer image input isindex keygen label "
    "layer legend link listing map marquee math menu menuitem meta meter multicol nextid noembed "
    "noframes noscript object optgroup option output param picture plaintext portal progress "
    "script search select selectedcontent set slot source spacer style svg template textarea title "
    "track video xml xmp".split()
)
"""Tags that do something, or change how what follows is read. Others mean nothing to a browser,
such as `<name>` in a text with a gap to be filled in."""

_FREE = frozenset(
    "align alt bgcolor border cellpadding cellspacing cite color colspan datetime dir face headers "
    "height lang nowrap open reversed rowspan rules scope size span start summary title type "
    "valign value width".split()
)
_CLASSES = re.compile(r"alert|alert-(info|success|warning|danger|block)|dataframe|highlight"
                      r"|language-\w+|table|table-(striped|bordered|hover)|text-(center|left|right)"
                      r"|tex2jax_ignore")  # fmt: skip
_ID = re.compile(r"[A-Za-z][\w.-]{0,79}")
_OUR_IDS = re.compile(
    r"check-|comment|cell-id|notebook|statusmessage$|toc$|mathjax|require$|define$|jquery|mermaid"
    r"|bootstrap|backbone|underscore|document|window|location",
    re.I,
)
_STYLES = frozenset(
    "background background-color border-collapse border-radius border-spacing box-sizing clear "
    "color cursor display empty-cells flex flex-direction flex-wrap float font font-family "
    "font-size font-style font-variant font-weight gap height justify-content letter-spacing "
    "line-height list-style list-style-type max-height max-width min-height min-width overflow "
    "overflow-wrap overflow-x overflow-y table-layout text-align text-decoration "
    "text-decoration-color text-indent text-transform vertical-align white-space width word-break "
    "word-spacing word-wrap".split()
)
_BOXES = re.compile(r"(margin|padding|border)(-(top|right|bottom|left))?(-(color|style|width))?"
                    r"|border-(color|style|width)")  # fmt: skip
_FUNCTIONS = frozenset("rgb rgba hsl hsla var linear-gradient".split())
_PROTOCOLS = frozenset("http https mailto ftp ftps tel".split())
_PAGES = re.compile(r"\.(x?html?|xht|shtml|mhtml?|svgz?|xml|xslt?|swf|hta|pdf|jsp?|wasm)$")
_PICTURE = re.compile(r"data:image/(png|jpeg|jpg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*", re.I)


def harmless_url(url: str, *, picture: bool = False) -> bool:
    """Whether a link may be followed and a picture be loaded.

    Pages that lie beside the notebook are refused: Formgrader would serve them as its own.
    """
    if picture and _PICTURE.fullmatch(url):
        return True
    # nbgrader's templates cut `files/` from the start of a link.
    return all(_leads_nowhere_odd(part, picture) for part in (url, _without_prefix(url)))


def _without_prefix(url: str) -> str:
    return re.sub(r"^/?files/", "", url)


def _leads_nowhere_odd(url: str, picture: bool) -> bool:
    plain = re.sub(r"[^\x21-\x7e]", "", html.unescape(html.unescape(url))).lower()
    before, colon, _ = re.split(r"[/?#\\]", plain, maxsplit=1)[0].partition(":")
    if colon:
        # `http:page.html` is a page beside the notebook, too.
        rest = plain[len(before) + 1 :]
        whole = before in _PROTOCOLS and rest.startswith("//")
        return whole or before in ("mailto", "tel") or (before == "attachment" and picture)
    path = re.split(r"[?#]", unquote(unquote(plain)), maxsplit=1)[0]
    elsewhere = plain.startswith("//") or picture
    return elsewhere or not (_PAGES.search(path.rstrip("/.\\ ")) or ":" in path.split("/")[0])


@lru_cache(maxsize=4096)
def kept_style(style: str) -> str:
    """The declarations of a `style` that neither load anything nor reach outside of their box."""
    return tinycss2.serialize(list(filter(_is_kept, _declarations(style)))).strip()


@lru_cache(maxsize=4096)
def _is_kept_whole(style: str) -> bool:
    return all(map(_is_kept, _declarations(style)))


def _declarations(style: str) -> list[Any]:
    return tinycss2.parse_declaration_list(style, skip_comments=True, skip_whitespace=True)


def _is_kept(item: Any) -> bool:
    if item.type != "declaration":
        return False
    name = item.lower_name
    known = name in _STYLES or _BOXES.fullmatch(name)
    return bool(known) and _harmless_values(item.value, below_zero=name == "vertical-align")


def _harmless_values(values: list[Any], *, below_zero: bool) -> bool:
    for value in values:
        if value.type == "function":
            if value.lower_name not in _FUNCTIONS:
                return False
            if not _harmless_values(value.arguments, below_zero=below_zero):
                return False
        elif value.type in ("number", "percentage", "dimension"):
            if value.value < 0 and not below_zero:
                return False
        elif value.type not in ("ident", "hash", "string", "whitespace", "literal", "comment"):
            return False
    return True


def allowed(tag: str, name: str, value: str) -> bool:
    """Whether a tag may have that attribute; a `style` may if something of it can be kept."""
    name, text = name.lower(), html.unescape(value)
    if name in _FREE:
        return tag in TAGS
    if name == "href":
        return tag == "a" and harmless_url(text)
    if name == "src":
        return tag == "img" and harmless_url(text, picture=True)
    if name == "class":
        return tag in TAGS and all(map(_CLASSES.fullmatch, text.split()))
    if name == "style":
        return tag in TAGS and bool(kept_style(text))
    if name == "target":
        return tag == "a" and text == "_blank"
    return name == "rel" and tag == "a"


# ------------------------------------------------------------------ HTML, read strictly

_TAG = re.compile(
    r"<(/?)([A-Za-z][A-Za-z0-9-]*)"
    r"((?:\s+[A-Za-z_][\w.:-]*(?:\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'=<>`]+))?)*)\s*/?>"
)
_ATTRIBUTE = re.compile(r"([A-Za-z_][\w.:-]*)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?")
_BEGINS = re.compile(r"<[A-Za-z/!?]")
_HIDES = frozenset(("hidden", "inert", "popover", "contenteditable"))


class Html:
    """Reads HTML piece by piece, and notes what is not harmless in it.

    Attributes:
        found: what is not harmless, in a few fixed words.
        open: the tags that are open.
    """

    def __init__(self, *, ids: bool = False) -> None:
        self.found: dict[str, None] = {}
        self.open: list[str] = []
        self._ids = ids

    def read(self, piece: str) -> str:
        """Read a piece; it comes back with all that is not harmless taken out or escaped."""
        out, at = [], 0
        while (start := piece.find("<", at)) >= 0:
            out.append(piece[at:start])
            text, at = self._markup(piece, start)
            out.append(text)
        return "".join([*out, piece[at:]])

    def closers(self) -> list[str]:
        """The tags that must be closed, innermost first, lest what follows stands in them."""
        return [tag for tag in reversed(self.open) if tag not in _MAY_STAY_OPEN]

    def _markup(self, piece: str, start: int) -> tuple[str, int]:
        tag = _TAG.match(piece, start)
        if tag:
            return self._tag(tag), tag.end()
        if piece.startswith("<!--", start):
            end = piece.find("--", start + 4)
            if end >= 0 and piece[end : end + 3] == "-->" and piece[start + 4] not in ">-":
                return piece[start : end + 3], end + 3
        if _BEGINS.match(piece, start):
            self._note("markup that is not complete")
            return "&lt;", start + 1
        return "<", start + 1

    def _tag(self, tag: re.Match[str]) -> str:
        closes, name = tag[1], tag[2].lower()
        if name in ACTIVE:
            self._note(f"`{name}`")
            return "&lt;" + tag[0][1:]
        if closes:
            return self._end(tag, name)
        kept = [part for part in _ATTRIBUTE.finditer(tag[3]) if self._may_stay(name, part)]
        kept = list({part[1].lower(): part for part in reversed(kept)}.values())[::-1]
        if name in TAGS - _EMPTY:
            self.open.append(name)
        if len(kept) == len(_ATTRIBUTE.findall(tag[3])):
            return tag[0]
        return f"<{tag[2]}{''.join(' ' + part[0] for part in kept)}>"

    def _end(self, tag: re.Match[str], name: str) -> str:
        if name in self.open:
            del self.open[len(self.open) - 1 - self.open[::-1].index(name)]
        elif name in TAGS and name not in ("p", "br"):
            self._note("an end of a tag that was not open")
            return "&lt;" + tag[0][1:]
        return tag[0]

    def _may_stay(self, tag: str, part: re.Match[str]) -> bool:
        name, value = part[1].lower(), html.unescape((part[2] or "").strip("\"'"))
        if name == "style":
            good = tag in TAGS and _is_kept_whole(value)
        elif name in ("id", "name") and self._ids and part[2]:
            good = tag in TAGS and bool(_ID.fullmatch(value)) and not _OUR_IDS.match(value)
        elif tag not in TAGS:
            good = part[2] is None and name not in _HIDES
        else:
            good = allowed(tag, name, value)
        if not good:
            self._note(_kind(name))
        return good

    def _note(self, what: str) -> None:
        self.found[what] = None


def _kind(attribute: str) -> str:
    if attribute.startswith("on"):
        return "an event handler"
    if attribute in ("href", "src", "xlink:href", "srcset", "action", "formaction"):
        return "a link that is not safe"
    if attribute == "style":
        return "a style"
    return "an attribute"


# ------------------------------------------------------------------ HTML of outputs

_MOST_TAGS, _DEEPEST = 20_000, 200
_BOX = '<div style="overflow:auto">{}</div>'


class _Styles:
    """What `bleach` asks about styles."""

    sanitize_css = staticmethod(kept_style)


def clean_html(text: str) -> str | None:
    """HTML of an output, harmless and within a box of its own; ``None`` if it is too much."""
    for name in ("script", "style", "title", "head"):
        text = _replaced(text, name, lambda part: "")
    text = _replaced(text, "svg", _as_picture)
    strict = Html()
    mended = strict.read(text)
    if strict.found or strict.closers():
        text = mended
        if text.count("<") + text.count("&") > _MOST_TAGS or _depth(text) > _DEEPEST:
            return None
        text = Cleaner(
            tags=TAGS,
            attributes=allowed,
            protocols={*_PROTOCOLS, "data"},
            strip=True,
            css_sanitizer=_Styles(),
        ).clean(text)
    return _BOX.format(text) if "style=" in text else text


def _depth(text: str) -> int:
    deepest = depth = 0
    for tag in re.finditer(r"<(/?)([A-Za-z][A-Za-z0-9]*)", text):
        if tag[2].lower() not in _EMPTY | _MAY_STAY_OPEN:
            depth = max(depth - 1, 0) if tag[1] else depth + 1
            deepest = max(deepest, depth)
    return deepest


def _replaced(text: str, name: str, by: Callable[[str], str]) -> str:
    """Every element of that name replaced, from its beginning to the next end."""
    begins, ends = re.compile(rf"<{name}\b", re.I), re.compile(rf"</{name}\s*>", re.I)
    out, at = [], 0
    while (begin := begins.search(text, at)) and (end := ends.search(text, begin.end())):
        out += [text[at : begin.start()], by(text[begin.start() : end.end()])]
        at = end.end()
    return "".join([*out, text[at:]])


def _as_picture(svg: str) -> str:
    """A drawing in the middle of HTML as a picture, in which no script can run."""
    cleaned = clean_svg(svg)
    if cleaned is None:
        return ""
    return f'<img src="data:image/svg+xml;base64,{base64.b64encode(cleaned.encode()).decode()}">'


_SVG_TAGS = frozenset(
    "svg g path rect circle ellipse line polyline polygon text tspan textPath defs use clipPath "
    "linearGradient radialGradient stop marker pattern symbol title desc mask style image".split()
)
_SVG_NAME = "http://www.w3.org/2000/svg"


def clean_svg(text: str) -> str | None:
    """A drawing with nothing in it but shapes, text and pictures; ``None`` if it is none."""
    text = re.sub(r"^\s*(<\?xml[^>]*\?>)?\s*(<!--.*?-->\s*)*(<!DOCTYPE[^>\[]*>)?", "", text,
                  count=1, flags=re.S)  # fmt: skip
    if re.search(r"<!(DOCTYPE|ENTITY)", text, re.I):
        return None
    if "xlink:" in text and "xmlns:xlink" not in text:
        text = text.replace("xlink:", "")
    try:
        root = ElementTree.fromstring(text)
        drawn = _drawn(root, 0) if root.tag.rpartition("}")[2] == "svg" else ""
    except (ElementTree.ParseError, ValueError, RecursionError):
        return None
    return drawn.replace("<svg", f'<svg xmlns="{_SVG_NAME}"', 1) or None


def _drawn(element: Any, depth: int) -> str:
    name = str(element.tag).rpartition("}")[2]
    if name not in _SVG_TAGS or depth > _DEEPEST:
        return ""
    pairs = ((key.rpartition("}")[2], value) for key, value in element.attrib.items())
    attributes = "".join(f" {k}={quoteattr(v)}" for k, v in pairs if _may_be_drawn(name, k, v))
    text = element.text or ""
    if name == "style" and not _harmless_in_svg(text):
        return ""
    inner = escape(text) + "".join(
        _drawn(child, depth + 1) + escape(child.tail or "") for child in element
    )
    return f"<{name}{attributes}>{inner}</{name}>"


def _may_be_drawn(tag: str, name: str, value: str) -> bool:
    if name == "href":
        return value.startswith("#") or (tag == "image" and bool(_PICTURE.fullmatch(value)))
    known = re.fullmatch(r"[A-Za-z][\w-]*", name) and not name.lower().startswith("on")
    return bool(known) and name not in ("base", "src") and _harmless_in_svg(value)


def _harmless_in_svg(text: str) -> bool:
    return not re.search(
        r"url\(\s*[\"']?\s*[^#\"'\s]|@import|\\|(java|vb)script:|expression", text, re.I
    )


# ------------------------------------------------------------------ outputs

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]",
    re.S,
)
_HALF = re.compile("[\ud800-\udfff]")
_HREF = re.compile(r"\\href\s*\{\s*(?!https?://|#|mailto:)[^}]*\}?", re.I)
_PICTURES = ("image/png", "image/jpeg", "image/gif")


def clean_outputs(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs of a student's cells, as they may be shown. Ours, the cards, are not for this.

    They are claims of the student's Python: each part is looked at, whatever its type.
    """
    return [cleaned for output in outputs for cleaned in _clean_output(output)]


def _clean_output(output: Any) -> Iterator[NotebookNode]:
    kind = output.get("output_type") if isinstance(output, dict) else None
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        yield new_output("stream", name=name, text=clean_text(_joined(output.get("text"))))
    elif kind == "error":
        lines = output.get("traceback")
        yield new_output(
            "error",
            ename=clean_text(_joined(output.get("ename"))),
            evalue=clean_text(_joined(output.get("evalue"))),
            traceback=[clean_text(line) for line in lines if isinstance(line, str)]
            if isinstance(lines, list)
            else [],
        )
    elif kind in ("display_data", "execute_result"):
        data = output.get("data")
        kept = _clean_data(data if isinstance(data, dict) else {})
        metadata = _clean_metadata(output.get("metadata"))
        count = {"execution_count": _count(output.get("execution_count"))}
        yield new_output(
            kind, data=kept, metadata=metadata, **(count if kind == "execute_result" else {})
        )


def clean_text(text: str) -> str:
    """Text as a terminal leaves it: colours stay, and of lines written over, the last."""
    text = _printable(text, colours=True)
    if "\r" not in text:
        return text
    lines = ([part for part in line.split("\r") if part] for line in text.split("\n"))
    return "\n".join(parts[-1] if parts else "" for parts in lines)


def _printable(text: str, *, colours: bool = False) -> str:
    def kept(found: re.Match[str]) -> str:
        return found[0] if colours and _COLOUR.fullmatch(found[0]) else ""

    text = _CONTROL.sub(kept, text).replace("\r\n", "\n")
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", text)


def _joined(text: Any) -> str:
    if isinstance(text, list):
        return "".join(part for part in text if isinstance(part, str))
    return text if isinstance(text, str) else ""


def _clean_data(data: dict[Any, Any]) -> dict[str, Any]:
    kept, dropped = {}, []
    for mime, value in data.items():
        cleaned = _CLEANERS[mime](value) if mime in _CLEANERS else None
        if cleaned is None:
            dropped.append(mime)
        else:
            kept[mime] = cleaned
    if dropped and not set(kept) - {"text/plain"}:
        names = ", ".join(sorted(m for m in dropped if re.fullmatch(r"[\w.+/-]{1,60}", str(m))))
        line = f"(not shown here: {names or 'an output of an unknown type'})"
        kept["text/plain"] = "\n".join(filter(None, (kept.get("text/plain", ""), line)))
    return kept


def _picture(value: Any) -> str | None:
    try:
        text = re.sub(r"\s+", "", _joined(value))
        return text if text and base64.b64decode(text, validate=True) else None
    except (binascii.Error, ValueError):
        return None


def _json(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None


def _latex(value: Any) -> str:
    return _HREF.sub(r"\\href{#}", _printable(_joined(value)))


def _markdown(value: Any) -> str:
    return clean_markdown(_printable(_joined(value)))[0]


_CLEANERS: dict[str, Callable[[Any], Any]] = {
    "text/plain": lambda value: clean_text(_joined(value)),
    "text/html": lambda value: clean_html(_printable(_joined(value))),
    "image/svg+xml": lambda value: clean_svg(_printable(_joined(value))),
    "text/markdown": _markdown,
    "text/latex": _latex,
    "application/json": _json,
    **dict.fromkeys(_PICTURES, _picture),
}


def _clean_metadata(metadata: Any) -> dict[str, Any]:
    """Sizes of pictures: the templates put them where anything else would be an attribute."""
    if not isinstance(metadata, dict):
        return {}
    kept: dict[str, Any] = {k: v for k, v in metadata.items() if _is_size(k, v)}
    for mime in _PICTURES:
        if isinstance(metadata.get(mime), dict):
            kept[mime] = {k: v for k, v in metadata[mime].items() if _is_size(k, v)}
    if metadata.get("needs_background") in ("light", "dark"):
        kept["needs_background"] = metadata["needs_background"]
    return kept


def _is_size(key: Any, value: Any) -> bool:
    if key == "unconfined":
        return isinstance(value, bool)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return key in ("width", "height") and is_number and 0 < value < 10_000


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# ------------------------------------------------------------------ markdown and raw cells


class _Watch(IPythonRenderer):
    """Renders markdown as the templates do, and sees all in it that is not escaped there."""

    def __init__(self) -> None:
        super().__init__(escape=False)
        self.html = Html(ids=True)
        self.mended: list[tuple[str, str]] = []
        self.urls: list[str] = []
        self.pictures: list[str] = []

    def _see(self, raw: str) -> str:
        mended = self.html.read(raw)
        if mended != raw:
            self.mended.append((raw, mended))
        return raw

    def inline_html(self, html: str) -> str:
        return self._see(html)

    def block_html(self, html: str) -> str:
        return self._see(html)

    def block_mermaidjs(self, code: str) -> str:
        self._see(code.strip())
        return super().block_mermaidjs(code)

    def link(self, text: str, url: str, title: str | None = None) -> str:
        if not harmless_url(url):
            self.urls.append(url)
        return super().link(text, url, title)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        if url.startswith("attachment:"):
            self.pictures.append(url.removeprefix("attachment:"))
        elif not harmless_url(url, picture=True):
            self.urls.append(url)
        return super().image(text, url.replace("attachment:", "#"), title)

    def found(self) -> list[str]:
        """What is not harmless, in a few fixed words."""
        links = ["a link that is not safe"] if self.urls else []
        left = ["a tag that was not closed"] if self.html.closers() else []
        return list(dict.fromkeys([*self.html.found, *links, *left]))


def _watched(source: str) -> _Watch | None:
    watch = _Watch()
    try:
        MarkdownWithMath(renderer=watch).render(source)
    except Exception:  # what cannot be rendered here, the templates cannot show either
        return None
    return watch


_NOT_SHOWN = "(The text of this cell cannot be shown.)"


def clean_markdown(source: str) -> tuple[str, list[str]]:
    """Markdown with nothing active in it, and what was found; harmless markdown is not touched."""
    # Most cells are the course's own, and the same in every submission.
    return (_clean_often if len(source) < 10_000 else _clean_markdown)(source)


def _clean_markdown(source: str) -> tuple[str, list[str]]:
    plain = _HREF.sub(r"\\href{#}", source)
    if _takes_too_long(plain):
        return _NOT_SHOWN, ["text that takes too long to render"]
    watch = _watched(plain)
    found = ["text that cannot be rendered"] if watch is None else watch.found()
    if plain != source:
        found.append("a link that is not safe")
    if watch is None or watch.found():
        attempts = [_fenced(plain), _NOT_SHOWN]
        if watch is not None:
            attempts.insert(0, _mended(plain, watch))
        plain = next(text for text in attempts if (w := _watched(text)) and not w.found())
    return plain, list(dict.fromkeys(found))


_clean_often = lru_cache(maxsize=1024)(_clean_markdown)


_LONGEST = 50_000_000


def _takes_too_long(source: str) -> bool:
    # After each of these, nbconvert reads on to the end of the cell; after "[", of the line.
    begins = sum(source.count(begin) for begin in ("\\begin{", "\\\\[", "\\\\("))
    brackets = sum(line.count("[") * len(line) for line in source.split("\n"))
    return begins * len(source) + brackets > _LONGEST


def _mended(source: str, watch: _Watch) -> str:
    for raw, mended in watch.mended:
        source = source.replace(raw, mended)
    for url in watch.urls:
        for before in ("(", "<", "]: ", "]:"):
            source = source.replace(f"{before}{url}", f"{before}#not-shown")
    closers = "".join(f"</{tag}>" for tag in watch.html.closers())
    return f"{source}\n\n{closers}" if closers else source


def _fenced(source: str) -> str:
    longest = max(map(len, re.findall(r"`+", source)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}text\n{source}\n{fence}"


_EMPTY_PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
_RAW = re.compile(
    rf"<\s*/?\s*({'|'.join(sorted(ACTIVE - {'data', 'map', 'set', 'output', 'label', 'title'}))})\b"
    r"|<[^>]*[\s/\"']on\w+\s*=|[\"'(=<]\s*(java|vb)script\s*:",
    re.I,
)


def clean_cell(cell: NotebookNode) -> str | None:
    """Mend a markdown or raw cell in place.

    Returns:
        A sentence about what was found, or ``None`` if the cell was harmless.
    """
    if cell.cell_type == "raw":
        if not _RAW.search(cell.source):
            return None
        cell.source = cell.source.replace("<", "&lt;")
        cell.source = re.sub(r"(?i)(java|vb)(script)\s*:", r"\1-\2 ", cell.source)
        return "What could act in a browser is shown as text."
    if cell.cell_type != "markdown":
        return None
    cell.source, found = clean_markdown(cell.source)
    said = [f"What could act in a browser is shown as text: {', '.join(found)}."] if found else []
    return " ".join([*said, *_clean_attachments(cell)]) or None


def _clean_attachments(cell: NotebookNode) -> Iterator[str]:
    """Only pictures are kept. For one that is missing, the templates would show no page at all."""
    given = cell.pop("attachments", None)
    given = given if isinstance(given, dict) else {}
    kept = {}
    for name, bundle in given.items():
        bundle = bundle if isinstance(bundle, dict) else {}
        pictures = {m: p for m in _PICTURES if (p := _picture(bundle.get(m)))}
        if pictures:
            kept[name] = pictures
    if len(kept) < len(given):
        yield "An attachment that is no picture was taken out."
    watch = _watched(cell.source) if "attachment:" in cell.source else None
    missing = [name for name in (watch.pictures if watch else []) if name not in kept]
    for name in missing:
        kept[name] = {"image/png": _EMPTY_PICTURE}
    if missing and len(kept) - len(missing) == len(given):
        yield "An attached picture is missing; an empty one stands in its place."
    if kept:
        cell["attachments"] = kept


# ------------------------------------------------------------------ whole notebooks

_WORD = re.compile(r"[\w .,+()/:-]{0,80}")
_NOT_FOR_US = ("comment", "score", "extra_credit")


def clean_notebook(nb: NotebookNode) -> list[str]:
    """Mend markdown and raw cells in place, and drop all metadata that nobody needs.

    Outputs are left to `clean_outputs`, since those of check cells are ours.

    Returns:
        A sentence for each cell that was not harmless.
    """
    nb.metadata = NotebookNode(_known_metadata(nb.metadata))
    said = []
    for number, cell in enumerate(nb.cells, start=1):
        cell.metadata = NotebookNode(_known_cell_metadata(cell.get("metadata")))
        cell.source = _HALF.sub("\N{REPLACEMENT CHARACTER}", cell.source)
        if cell.cell_type == "code":
            # The templates show an execution count as it is.
            cell.execution_count = _count(cell.get("execution_count"))
        sentence = clean_cell(cell)
        if sentence:
            said.append(f"Cell {number}: {sentence}")
    return said


def _known_metadata(metadata: Any) -> dict[str, Any]:
    known = {"kernelspec": ("name", "display_name", "language"),
             "language_info": ("name", "version", "mimetype", "file_extension",
                               "pygments_lexer")}  # fmt: skip
    kept: dict[str, Any] = {}
    for key, names in known.items():
        part = metadata.get(key)
        if isinstance(part, dict):
            kept[key] = {n: part[n] for n in names if _is_word(part.get(n))}
    kept |= {key: metadata[key] for key in ("nbgrader", "fxcourse") if key in metadata}
    if not kept.get("kernelspec", {}).get("name"):
        kept.pop("kernelspec", None)
    else:
        kept["kernelspec"].setdefault("display_name", kept["kernelspec"]["name"])
    if not kept.get("language_info", {}).get("name"):
        kept.pop("language_info", None)
    return kept


def _known_cell_metadata(metadata: Any) -> dict[str, Any]:
    metadata = metadata if isinstance(metadata, dict) else {}
    kept = {k: metadata[k] for k in ("editable", "deletable") if isinstance(metadata.get(k), bool)}
    own = metadata.get("nbgrader")
    if isinstance(own, dict) and re.fullmatch(r"[\w-]{1,100}", str(own.get("grade_id", "-"))):
        kept["nbgrader"] = {k: v for k, v in own.items() if k not in _NOT_FOR_US}
    return kept


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(_WORD.fullmatch(value))
