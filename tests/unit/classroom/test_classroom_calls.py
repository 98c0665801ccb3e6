"""A page with a student's work loads nothing from other places."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from autograder.submission.sanitize import clean_cell, clean_notebook, clean_outputs
from tests.unit.classroom.test_classroom_clean import PNG, body

HOME = "evil.example"
DATA = f"data:image/png;base64,{PNG}"


class Asks(HTMLParser):
    """Collects all that a browser would load as soon as it shows a page."""

    LOADS = frozenset(
        "src srcset poster background data xlink:href dynsrc lowsrc longdesc code archive manifest "
        "profile classid codebase action formaction imagesrcset icon ping".split()
    )

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            text = value or ""
            loads = name in self.LOADS or (name == "href" and tag != "a")
            if loads and not re.match(r"data:image/|#|images/own\.png$", text):
                self.found.append(f"{tag} {name}={text}")
            if re.search(r"url\s*\(\s*[^#\s]|image-set|@import|image\s*\(|cross-fade", text, re.I):
                self.found.append(f"{tag} {name}={text}")

    handle_startendtag = handle_starttag


def asks(page: str) -> list[str]:
    reader = Asks()
    reader.feed(page)
    if HOME in page:
        styles = re.findall(r"<style.*?</style>", page, re.S)
        reader.found += [style for style in styles if HOME in style]
    return reader.found


HTML = {
    "a picture": f'<img src="https://{HOME}/a.png">',
    "a picture without a protocol": f'<img src="//{HOME}/a.png">',
    "a picture with odd slashes": f'<img src="/\\{HOME}/a.png">',
    "a picture with a blank": f'<img src=" https://{HOME}/a.png">',
    "a picture with a tab": f'<img src="ht\ttps://{HOME}/a.png">',
    "a picture with entities": f'<img src="https&#58;&#47;&#47;{HOME}/a.png">',
    "a picture in capitals": f'<IMG SRC="HTTPS://{HOME}/a.png">',
    "a picture without quotes": f"<img src=https://{HOME}/a.png>",
    "a picture by ftp": f'<img src="ftp://{HOME}/a.png">',
    "a picture of the server": '<img src="/logout">',
    "a picture further up": '<img src="../../logout">',
    "a picture further up, hidden": '<img src="a/..%2f..%2flogout.png">',
    "a picture further up, hidden twice": '<img src="a/%252e%252e/logout.png">',
    "a picture here": '<img src="?logout=1">',
    "a picture with a query": '<img src="a.png?x=1">',
    "a page as a picture": '<img src="logout">',
    "pictures for screens": f'<img srcset="https://{HOME}/a.png 2x" src="{DATA}">',
    "a picture for a source": f'<picture><source srcset="//{HOME}/a"><img src="{DATA}"></picture>',
    "a picture at another attribute": f'<img lowsrc="//{HOME}/a.png" dynsrc="//{HOME}/b.png">',
    "a background": f'<table background="https://{HOME}/a.png"><tr><td>x</td></tr></table>',
    "a poster": f'<video poster="https://{HOME}/a.png"></video>',
    "a film": f'<video src="https://{HOME}/a.mp4" autoplay></video>',
    "a sound": f'<audio src="https://{HOME}/a.mp3" autoplay></audio>',
    "a button": f'<input type="image" src="https://{HOME}/a.png">',
    "a style": f'<p style="background:url(https://{HOME}/a.png)">x</p>',
    "a style with quotes": f"<p style=\"background:url('https://{HOME}/a.png')\">x</p>",
    "a style with an escape": f'<p style="background:u\\72l(https://{HOME}/a.png)">x</p>',
    "a style with a comment": f'<p style="background:/**/url(//{HOME}/a.png)">x</p>',
    "a style with a set": f"<p style=\"background:image-set('https://{HOME}/a.png' 1x)\">x</p>",
    "a list's style": f'<ul style="list-style:url(//{HOME}/a.png)"><li>x</ul>',
    "a cursor": f'<p style="cursor:url(//{HOME}/a.cur),auto">x</p>',
    "a variable": f'<p style="--x:url(//{HOME}/a.png);background:var(--x)">x</p>',
    "content": f'<p style="content:url(//{HOME}/a.png)">x</p>',
    "a style sheet": f"<style>p {{background:url(//{HOME}/a.png)}}</style><p>x</p>",
    "a style sheet that imports": f'<style>@import "//{HOME}/a.css";</style><p>x</p>',
    "a link to a style": f'<link rel="stylesheet" href="//{HOME}/a.css">',
    "a link ahead": f'<link rel="prefetch" href="//{HOME}/a"><link rel="icon" href="//{HOME}/i">',
    "a refresh": f'<meta http-equiv="refresh" content="0;url=https://{HOME}/">',
    "a frame": f'<iframe src="https://{HOME}/"></iframe>',
    "a ping": f'<a href="#x" ping="https://{HOME}/">x</a>',
    "an object": f'<object data="//{HOME}/a.svg"></object><embed src="//{HOME}/a.svg">',
}
SVG = {
    "an image": f'<image href="https://{HOME}/a.png" width="9" height="9"/>',
    "an image of old": f'<image xlink:href="//{HOME}/a.png" width="9" height="9"/>',
    "an image of the server": '<image href="/logout" width="9" height="9"/>',
    "a use": f'<use href="https://{HOME}/a.svg#x"/>',
    "a filter": f'<filter id="f"><feImage href="//{HOME}/a.png"/></filter>',
    "a fill": f'<rect width="9" height="9" fill="url(https://{HOME}/a.svg#x)"/>',
    "a fill with blanks": f'<rect width="9" height="9" fill="url(   \'//{HOME}/a.svg#x\')"/>',
    "a style": f'<rect width="9" height="9" style="fill:url(//{HOME}/a.svg#x)"/>',
    "a style with a set": f"<rect style=\"mask:image-set('//{HOME}/a.svg' 1x)\"/>",
    "a style of a source": f"<rect style=\"mask:src('//{HOME}/a.svg')\"/>",
    "a style sheet": f"<style>rect {{fill:url(//{HOME}/a.svg)}}</style>",
    "a style sheet that imports": f"<style>@import '//{HOME}/a.css';</style>",
    "a style sheet with a set": f"<style>g {{mask:image-set('//{HOME}/a.svg' 1x)}}</style>",
    "a style sheet with an escape": f"<style>g {{mask:u\\72l(//{HOME}/a.svg)}}</style>",
    "a link": f'<a href="//{HOME}/"><text>x</text></a>',
    "a base": f'<g xml:base="https://{HOME}/"><image href="a.png"/></g>',
}
MARKDOWN = {
    "a picture": f"![x](https://{HOME}/a.png)",
    "a picture with a title": f'![x](https://{HOME}/a.png "title")',
    "a picture in brackets": f"![x](<https://{HOME}/a.png>)",
    "a picture by name": f"![x][one]\n\n[one]: https://{HOME}/a.png",
    "a picture by its own name": f"![one]\n\n[one]: //{HOME}/a.png",
    "a picture in a link": f"[![x](//{HOME}/a.png)](https://pytorch.org)",
    "a picture of the server": "![x](/logout)",
    "a picture further up": "![x](../../logout.png)",
    "a picture with entities": f"![x](https&#58;//{HOME}/a.png)",
    "a picture in a table": f"|a|\n|-|\n|![x](//{HOME}/a.png)|",
    "a picture in a heading": f"# ![x](//{HOME}/a.png)",
    "a picture that is not closed": f"![x](//{HOME}/a.png 'y",
    "a diagram": f'```mermaid\nflowchart LR\nA@{{ img: "https://{HOME}/a.png" }}\n```',
    "a diagram with a style": f"```mermaid\n%%{{init: {{'themeCSS': 'url(//{HOME})'}}}}%%\nA\n```",
}


@pytest.mark.parametrize("name", HTML)
def test_html_asks_for_nothing(name: str) -> None:
    text = HTML[name]
    output = new_output("display_data", data={"text/html": text, "text/markdown": text})
    nb = new_notebook(cells=[new_code_cell(outputs=clean_outputs([output]))])
    assert asks(body(nb)) == []
    nb = new_notebook(cells=[new_markdown_cell(f"a\n\n{text}\n\nb {text}"), new_raw_cell(text)])
    clean_notebook(nb)
    assert asks(body(nb)) == []


@pytest.mark.parametrize("name", SVG)
def test_drawings_ask_for_nothing(name: str) -> None:
    text = f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">{SVG[name]}</svg>'
    (output,) = clean_outputs([new_output("display_data", data={"image/svg+xml": text})])
    drawn = output.data.get("image/svg+xml", "")
    assert HOME not in drawn.replace("&quot;", "") and asks(drawn) == []
    (output,) = clean_outputs([new_output("display_data", data={"text/html": text})])
    for encoded in re.findall(r"base64,([^\"]+)", output.data.get("text/html", "")):
        assert HOME not in base64.b64decode(encoded).decode()


@pytest.mark.parametrize("name", MARKDOWN)
def test_markdown_asks_for_nothing(name: str) -> None:
    cell = new_markdown_cell(f"before\n\n{MARKDOWN[name]}\n\nafter")
    clean_cell(cell)
    page = body(new_notebook(cells=[cell]))
    assert asks(page) == []
    assert "before" in page and "after" in page
    if "mermaid" in MARKDOWN[name]:
        assert 'class="mermaid"' not in page and '<pre class="mermaid' not in page


def test_what_lies_in_the_notebook_or_beside_it_is_shown() -> None:
    shown = f'<img src="{DATA}"> <img src="images/own.png">'
    (output,) = clean_outputs([new_output("display_data", data={"text/html": shown})])
    assert output.data["text/html"] == shown
    cell = new_markdown_cell("![x](images/own.png) ![y](attachment:y.png)")
    cell.attachments = {"y.png": {"image/png": PNG}}
    assert clean_cell(cell) is None
    assert cell.source == "![x](images/own.png) ![y](attachment:y.png)"


def test_a_picture_from_elsewhere_becomes_a_link() -> None:
    cell = new_markdown_cell(f"See ![the net](https://{HOME}/a.png).")
    said = clean_cell(cell)
    assert cell.source == f"See [the net](https://{HOME}/a.png)."
    assert said == "What could act in a browser is shown as text: a picture that is not shown here."


def test_these_tests_see_what_asks() -> None:
    for text in ("a picture", "a style", "a background", "a poster", "a frame"):
        assert asks(HTML[text])
    assert asks(f"<svg>{SVG['an image']}</svg>")
