"""Which tags, attributes, addresses and styles are harmless."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import tinycss2

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
_FUNCTIONS = frozenset("rgb rgba hsl hsla var color-mix linear-gradient".split())
_PROTOCOLS = frozenset("http https mailto ftp ftps tel".split())
_PAGES = re.compile(r"\.(x?html?|xht|shtml|mhtml?|svgz?|xml|xslt?|swf|hta|pdf|jsp?|wasm)$")
_PICTURE = re.compile(r"data:image/(png|jpeg|jpg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*", re.I)


_BESIDE = re.compile(
    r"(?:[\w-][\w .-]{0,99}/){0,9}[\w-][\w .-]{0,99}\.(png|jpe?g|gif|webp|svg)", re.I
)


def harmless_picture(url: str) -> bool:
    """Whether a picture may be loaded: it stands in the text, or lies beside the notebook.

    Any other would be asked for where a page is read, with the cookies of the person who reads it.
    """
    if url.startswith("attachment:") or _PICTURE.fullmatch(url):
        return True
    return bool(_BESIDE.fullmatch(unquote(url))) and "%" not in unquote(url)


def harmless_url(url: str) -> bool:
    """Whether a link may be followed.

    Pages that lie beside the notebook are refused: Formgrader would serve them as its own.
    """
    # nbgrader's templates cut `files/` from the start of a link.
    return all(map(_leads_nowhere_odd, (url, _without_prefix(url))))


def _without_prefix(url: str) -> str:
    return re.sub(r"^/?files/", "", url)


def _leads_nowhere_odd(url: str) -> bool:
    plain = re.sub(r"[^\x21-\x7e]", "", html.unescape(html.unescape(url))).lower()
    before, colon, _ = re.split(r"[/?#\\]", plain, maxsplit=1)[0].partition(":")
    if colon:
        # `http:page.html` is a page beside the notebook, too.
        rest = plain[len(before) + 1 :]
        return (before in _PROTOCOLS and rest.startswith("//")) or before in ("mailto", "tel")
    path = re.split(r"[?#]", unquote(unquote(plain)), maxsplit=1)[0]
    odd = _PAGES.search(path.rstrip("/.\\ ")) or ":" in path.split("/")[0]
    return plain.startswith("//") or not odd


_LONGEST_STYLE = 1_000


@lru_cache(maxsize=4096)
def kept_style(style: str) -> str:
    """The declarations of a `style` that neither load anything nor reach outside of their box."""
    if len(style) > _LONGEST_STYLE:
        return ""
    return tinycss2.serialize(list(filter(_is_kept, _declarations(style)))).strip()


@lru_cache(maxsize=4096)
def _is_kept_whole(style: str) -> bool:
    return len(style) <= _LONGEST_STYLE and all(map(_is_kept, _declarations(style)))


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
        return tag == "img" and harmless_picture(text)
    if name == "class":
        return tag in TAGS and all(map(_CLASSES.fullmatch, text.split()))
    if name == "style":
        return tag in TAGS and bool(kept_style(text))
    if name == "target":
        return tag == "a" and text == "_blank"
    return name == "rel" and tag == "a"
