"""Defines the harmless tags, attributes and addresses."""

from __future__ import annotations

import html
import re
from collections.abc import Container
from urllib.parse import unquote

from autograder.submission.sanitize.harmless_files import PICTURES, may_be_linked

TAGS = frozenset(
    "a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code col "
    "colgroup dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 "
    "header hr i img ins kbd li main mark nav nobr ol p pre q rp rt ruby s samp section small span "
    "strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr".split()
)
EMPTY = frozenset("br col hr img wbr".split())
MAY_STAY_OPEN = frozenset("colgroup dd dt li p rp rt tbody td tfoot th thead tr".split())
ACTIVE = frozenset(
    "animate animatemotion animatetransform annotation-xml applet area audio base basefont bgsound "
    "blink body button canvas command data datalist dialog dir embed fencedframe fieldset "
    "foreignobject form frame frameset head html iframe ilayer image input isindex keygen label "
    "layer legend link listing map marquee math menu menuitem meta meter multicol nextid noembed "
    "noframes noscript object optgroup option output param picture plaintext portal progress "
    "script search select selectedcontent set slot source spacer style svg template textarea title "
    "track video xml xmp".split()
)
"""Tags that are active, or change how the following text is read. Browsers ignore unknown tags,
such as `<name>` in a text with a gap to fill in."""

FREE = frozenset(
    "align alt aria-label bgcolor border cellpadding cellspacing color colspan datetime dir face "
    "headers height lang nowrap open reversed role rowspan rules scope size span start summary "
    "title type valign value width".split()
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
PROTOCOLS = frozenset("http https mailto ftp ftps tel".split())
_RELATIONS = frozenset("external help license nofollow noopener noreferrer".split())
PICTURE = re.compile(r"data:image/(png|jpeg|jpg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*", re.I)


_LOCAL_PICTURE = re.compile(
    rf"(?:[\w-][\w .-]{{0,99}}/){{0,9}}[\w-][\w .-]{{0,99}}\.({'|'.join(sorted(PICTURES))})", re.I
)


def harmless_picture(url: str) -> bool:
    """Whether a picture may be loaded: it is embedded, or in the notebook's folder.

    The browser would request any other with the cookies of the person who reads the page.
    """
    if url.startswith("attachment:") or PICTURE.fullmatch(url):
        return True
    return bool(_LOCAL_PICTURE.fullmatch(unquote(url))) and "%" not in unquote(url)


def harmless_url(url: str) -> bool:
    """Whether a link may be followed.

    In the notebook's folder, only files that a browser does not run: Formgrader serves them as
    its own.
    """
    # nbgrader's templates cut `files/` from the start of a link.
    return all(map(_leads_nowhere_odd, (url, _without_prefix(url))))


def _without_prefix(url: str) -> str:
    return re.sub(r"^/?files/", "", url)


def _leads_nowhere_odd(url: str) -> bool:
    plain = re.sub(r"[^\x21-\x7e]", "", html.unescape(html.unescape(url))).lower()
    before, colon, _ = re.split(r"[/?#\\]", plain, maxsplit=1)[0].partition(":")
    if colon:
        # `http:page.html` is also a relative link.
        rest = plain[len(before) + 1 :]
        return (before in PROTOCOLS and rest.startswith("//")) or before in ("mailto", "tel")
    path = re.split(r"[?#]", unquote(unquote(plain)), maxsplit=1)[0]
    is_place = not path  # a place on the same page
    odd = not (is_place or may_be_linked(path)) or ":" in path.split("/")[0]
    return plain.startswith("//") or not odd


def allowed(tag: str, name: str, value: str) -> bool:
    """Whether a tag may have this attribute; `styles` checks the value of a `style`."""
    name = name.lower()
    if name in FREE:
        return tag in TAGS
    if name in ("href", "cite"):
        return tag in (("a",) if name == "href" else TAGS) and harmless_url(value)
    if name == "src":
        return tag == "img" and harmless_picture(value)
    if name == "class":
        return tag in TAGS and all(map(_CLASSES.fullmatch, value.split()))
    if name == "target":
        return tag == "a" and value == "_blank"
    # `opener` would let the linked page control the page with the link.
    return name == "rel" and tag == "a" and _RELATIONS.issuperset(value.lower().split())


def may_be_id(value: str, taken: Container[str]) -> bool:
    """Whether an id is allowed: no script of the page uses it."""
    return bool(_ID.fullmatch(value)) and not _OUR_IDS.match(value) and value not in taken
