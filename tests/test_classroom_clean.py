"""Nothing a student wrote runs where it is shown, and honest work looks as it did."""

from __future__ import annotations

import base64
import copy
import html as entities
import io
import re
import time
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import nbgrader.server_extensions.formgrader as formgrader
import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
    new_raw_cell,
)

from autograder.cards.card import card_html
from autograder.core.verdict import Finding, Verdict
from autograder.exercises import EXERCISES
from autograder.submission.sanitize import clean_cell, clean_notebook, clean_outputs

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()
ACTIVE = {"iframe", "object", "embed", "form", "base", "meta", "link", "style", "svg", "math",
          "template", "button", "textarea", "frame", "frameset", "noscript", "plaintext",
          "dialog", "applet", "marquee", "select", "video", "audio"}  # fmt: skip


class Reader(HTMLParser):
    """Notes everything in a page that could act."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script" or tag in ACTIVE:
            self.found.append(tag)
        if tag == "input" and ("class", "task-list-item-checkbox") not in attrs:
            self.found.append(tag)
        for name, value in attrs:
            text = re.sub(r"[\x00-\x20]", "", value or "").lower()
            if name.startswith("on") or name in ("srcdoc", "formaction", "http-equiv"):
                self.found.append(name)
            if name.startswith("data-") and name not in ("data-mime-type", "data-type"):
                self.found.append(name)
            if re.match(r"(java|vb)script:|data:(?!image/)", text):
                self.found.append(f"{name}={text[:30]}")
            if name == "style" and re.search(r"position|z-index|url\(|transform|:-\d", text):
                self.found.append(f"{name}={text[:30]}")

    handle_startendtag = handle_starttag


@cache
def exporter(template: str) -> HTMLExporter:
    """What makes the pages, as nbgrader sets it up."""
    folder = Path(formgrader.__file__).parent
    return HTMLExporter(
        template_name=template,
        extra_template_basedirs=[str(folder / "templates")],
        extra_template_paths=[str(folder / "static/node_modules/bootstrap/dist/css")],
    )


def body(nb: NotebookNode, template: str = "lab") -> str:
    """The part of a page that comes from the cells, as the browser gets it."""
    known = {"notebook": "x", "score": 1, "max_score": 2, "late_penalty": 0}
    resources = {"metadata": {"name": "x"}, "nbgrader": known, "index": 0, "total": 1}
    page, _ = exporter(template).from_notebook_node(copy.deepcopy(nb), resources=resources)
    return page[page.index("<main>" if template == "lab" else 'id="notebook"') :]


def acts(nb: NotebookNode) -> list[str]:
    """What acts in one of the pages that show a notebook."""
    found = []
    for template in ("lab", "feedback", "formgrade"):
        reader = Reader()
        reader.feed(body(nb, template))
        found += reader.found
    return found


EVIL_HTML = {
    "script": "<script>alert(1)</script>",
    "script in capitals": "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "script in a script": "<scr<script></script>ipt>alert(1)</script>",
    "not closed": "<img src=x onerror=alert(1) ",
    "handler": "<img src=x onerror=alert(1)>",
    "handler after a slash": "<img/src=x/onerror=alert(1)>",
    "handler on a tag of no name": "<x onclick=alert(1)>press</x>",
    "handler after an odd quote": "<div title='\"' onclick='alert(1)'>press</div>",
    "handler that opens": "<details open ontoggle=alert(1)>",
    "handler with a form feed": "<p\x0conclick=alert(1)>x</p>",
    "drawing": "<svg onload=alert(1)>",
    "drawing with a script": "<svg><script>alert(1)</script></svg>",
    "drawing with HTML": "<svg><foreignObject><body onload=alert(1)></foreignObject></svg>",
    "drawing that animates": "<svg><a><animate attributeName=href values=javascript:alert(1) />"
    "<text y=20>press</text></a></svg>",
    "formula": "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "formula 2": '<math href="javascript:alert(1)">press</math>',
    "link": "<a href='javascript:alert(1)'>press</a>",
    "link with entities": "<a href='&#106;avascript&colon;alert(1)'>press</a>",
    "link with a tab": "<a href='java\tscript:alert(1)'>press</a>",
    "link with a newline": "<a href='\x01java\nscript:alert(1)'>press</a>",
    "link behind a prefix": "<a href='files/javascript:alert(1)'>press</a>",
    "link to data": "<a href='data:text/html,<script>alert(1)</script>'>press</a>",
    "link to data 2": "<a href='data:text/html;base64,PHNjcmlwdD4='>press</a>",
    "vbscript": "<a href='vbscript:msgbox(1)'>press</a>",
    "iframe": "<iframe src='https://evil.example'></iframe>",
    "iframe with a page": "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "object": "<object data='data:text/html,x'></object><embed src=x>",
    "form": "<form action='https://evil.example'><input name=a><button>go</button></form>",
    "style": "<style>body{display:none}</style>",
    "style over the page": "<div style='position:fixed;top:0;left:0;width:9999px;height:9999px;"
    "background:white;z-index:9'>passed</div>",
    "style that loads": "<div style='background:url(https://evil.example/x)'>x</div>",
    "style with escapes": "<div style='p\\6fsition:fixed;background:u\\72l(//x)'>x</div>",
    "style that moves up": "<div style='margin-top:-900px'>x</div>",
    "class over the page": "<div class='modal-backdrop'>x</div>",
    "bootstrap": "<a data-toggle='modal' data-remote='evil.html' data-target='#x'>press</a>",
    "tooltip": "<a data-toggle=tooltip data-html=true title='<img src onerror=alert(1)>'>x</a>",
    "base": "<base href='https://evil.example/'>",
    "meta": "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "link element": "<link rel=stylesheet href=https://evil.example/x.css>",
    "comment": "<!--><img src=x onerror=alert(1)>-->",
    "comment 2": "<!--- <!-- --!><img src=x onerror=alert(1)> -->",
    "comment not closed": "<!-- the rest of the page",
    "comment in a tag": "<a<!-- x --> onclick=alert(1)>",
    "text area": "<textarea></textarea><img src=x onerror=alert(1)></textarea>",
    "noscript": "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "title": "<title><a title='</title><img src=x onerror=alert(1)>'></title>",
    "template": "<template><script>alert(1)</script></template>",
    "plaintext": "<plaintext>",
    "select": "<select><template><img src=x onerror=alert(1)></template></select>",
    "ends the page": "</pre></div></div></main></body></html><script>alert(1)</script>",
    "XML": "<?xml-stylesheet href='javascript:alert(1)'?><x/>",
    "CDATA": "<![CDATA[><img src=x onerror=alert(1)>]]>",
    "attribute not closed": '<div title="\n\nx',
    "null": "<scr\x00ipt>alert(1)</scr\x00ipt>",
    "page beside": "<a href='evil.html'>my report</a>",
}
EVIL_MARKDOWN = {
    "link": "[press](javascript:alert(1))",
    "link with entities": "[press](java&#115;cript:alert(1))",
    "link with spaces": "[press](<\x01 javascript:alert(1)>)",
    "link behind a prefix": "[press](files/javascript:alert(1))",
    "link by reference": "[press][1]\n\n[1]: javascript:alert(1)",
    "link in brackets": "<javascript:alert(1)>",
    "link to data": "[press](data:text/html;base64,PHNjcmlwdD4=)",
    "link in a table": "| a |\n|---|\n| [press](javascript:alert(1)) |",
    "page beside": "[my report](./evil%2ehtml)",
    "page beside, by protocol": "[my report](http:evil.html)",
    "picture": "![x](javascript:alert(1))",
    "quote in a link": '[x](https://a.example/"onmouseover="alert(1))',
    "quote in a title": "[x](https://a.example 'a\" onmouseover=\"alert(1)')",
    "quote in a picture": '![a" onerror="alert(1)](x.png)',
    "diagram": "```mermaid\ngraph TD\nA[<img src=x onerror=alert(1)>]\n```",
    "diagram 2": "```mermaid-like\n</pre><script>alert(1)</script>\n```",
    "fence not closed": "```\ncode\n```\n<script>alert(1)</script>\n```",
    "in a quote": "> <script>\n> alert(1)\n> </script>",
    "in a list": "- a\n\n    <div onclick=alert(1)>\n    press</div>",
    "in a heading": "# <img src=x onerror=alert(1)>",
    "in math": "$$ <script>alert(1)</script> $$ and $<img src=x onerror=alert(1)>$",
    "after math": "$a$ <b onclick=alert(1)>x</b> $b$",
    "math that links": "$\\href{javascript:alert(1)}{x}$",
    "in code": "`<b>` <script>alert(1)</script> `</b>`",
    "in code with too many": "``<script>alert(1)</script>`",
    "in a definition": "term\n: <script>alert(1)</script>",
    "tag over two cells": "<div title='",
    "fold not closed": "<details><summary>more</summary>",
    "code that ends": "<code>\n\n<script>alert(1)</script>\n\n</code>",
    "task": "- [ ] <input type=image src=x onerror=alert(1)>",
}


@pytest.mark.parametrize("name", EVIL_HTML)
def test_evil_html(name: str) -> None:
    text = EVIL_HTML[name]
    for mime in ("text/html", "text/markdown", "image/svg+xml", "text/latex"):
        output = new_output("display_data", data={mime: text, "text/plain": text})
        nb = new_notebook(cells=[new_code_cell(outputs=clean_outputs([output]))])
        assert acts(nb) == []
    for cell in (new_markdown_cell(text), new_markdown_cell(f"a\n\n{text}\n\nb")):
        nb = new_notebook(cells=[cell, new_markdown_cell("honest"), new_raw_cell(text)])
        clean_notebook(nb)
        assert acts(nb) == []
        assert "honest" in body(nb)


@pytest.mark.parametrize("name", EVIL_MARKDOWN)
def test_evil_markdown(name: str) -> None:
    text = EVIL_MARKDOWN[name]
    nb = new_notebook(cells=[new_markdown_cell(text), new_markdown_cell("honest <b>text</b>")])
    clean_notebook(nb)
    assert acts(nb) == []
    assert nb.cells[1].source == "honest <b>text</b>"
    output = new_output("display_data", data={"text/markdown": text})
    nb = new_notebook(cells=[new_code_cell(outputs=clean_outputs([output]))])
    assert acts(nb) == []


def test_reader_of_these_tests_sees_what_acts() -> None:
    """Before cleaning, nearly all of it acts in one of the pages."""
    quiet = [
        name
        for name, text in (EVIL_HTML | EVIL_MARKDOWN).items()
        if not acts(new_notebook(cells=[new_markdown_cell(text)]))
    ]
    assert len(quiet) < 25, quiet


@pytest.mark.parametrize("name", sorted(EVIL_HTML))
def test_browsers_way_of_reading(name: str) -> None:
    """What was cleaned is the same after it was read and written as browsers do."""
    from bleach.html5lib_shim import BleachHTMLParser, getTreeWalker

    (output,) = clean_outputs([new_output("display_data", data={"text/html": EVIL_HTML[name]})])
    text = output.data.get("text/html", "")
    tree = BleachHTMLParser(
        tags=None, strip=False, consume_entities=True, namespaceHTMLElements=False
    ).parseFragment(text)
    for token in getTreeWalker("etree")(tree):
        assert token.get("name", "p") not in ACTIVE | {"script"}
        assert not any(key[1].startswith("on") for key in token.get("data", {}) or {}
                       if token["type"] == "StartTag")  # fmt: skip


# ------------------------------------------------------------------ honest work

PANDAS = """<div>
<style scoped>
    .dataframe tbody tr th:only-of-type { vertical-align: middle; }
</style>
<table border="1" class="dataframe">
  <thead>
    <tr style="text-align: right;">
      <th></th>
      <th>op</th>
    </tr>
  </thead>
  <tbody>
    <tr>
      <th>0</th>
      <td>call_function &lt;built-in&gt;</td>
    </tr>
  </tbody>
</table>
<p>2 rows × 2 columns</p>
</div>"""
RICH = (
    '<pre style="white-space:pre;overflow-x:auto;line-height:normal;font-family:Menlo,'
    "'DejaVu Sans Mono',consolas,'Courier New',monospace\"><span style=\"color: #008000; "
    'text-decoration-color: #008000; font-weight: bold">done</span>\n</pre>'
)
HONEST_HTML = {
    "pandas": PANDAS,
    "rich": RICH,
    "picture": f'<img src="data:image/png;base64,{PNG}" width="200" alt="a &lt; b">',
    "link": '<a href="https://pytorch.org/docs" target="_blank">docs</a>',
    "table": "<table><tr><td>1<td>2</table>",
    "text": "a < b and c &amp; d",
    "fold": "<details><summary>more</summary><pre>x = 1</pre></details>",
}


@pytest.mark.parametrize("name", HONEST_HTML)
def test_honest_html(name: str) -> None:
    text = HONEST_HTML[name]
    (output,) = clean_outputs([new_output("display_data", data={"text/html": text})])
    expected = re.sub(r"<style.*?</style>", "", text, flags=re.S)
    assert expected in output.data["text/html"]


HONEST_MARKDOWN = {
    "math": "For $a < b$ & $x<y>z$: $$\\sum_{i<n} x_i \\& y$$ and \\begin{align}a &< b\\end{align}",
    "table": "| a | b |\n|:--|--:|\n| `<script>` | 1 < 2 |\n",
    "picture": "![graph](images/graph.png) and ![](my%20graph.svg)",
    "picture in the text": f"![x](data:image/png;base64,{PNG})",
    "shown in backticks": "Write `<script>alert(1)</script>` or ``<a href='javascript:x'>``.",
    "shown in a fence": "```html\n<script>alert(1)</script>\n<img onerror=x>\n```",
    "shown in a fence of tildes": "~~~\n<iframe></iframe>\n~~~",
    "shown by indentation": "text\n\n    <script>alert(1)</script>\n\ntext",
    "escaped": "\\<script> and &lt;script&gt; and 1 < 2, a<b",
    "gap": "Submitted by <name>, group <your group>, List<T>",
    "fold": "<details>\n<summary>Answer</summary>\n\nIt is **traced**.\n\n</details>",
    "alert": '<div class="alert alert-info">\n<b>Note</b> 1 < 2\n</div>',
    "coloured": '<span style="color:red">red</span> <font color=blue>x</font><br/>',
    "centred": '<p align="center"><img src="a.png" width=50% alt="x"></p>\n\n<center>x</center>',
    "anchors": '<a id="part-1"></a>\n# 1\n[up](#part-1) <a name="top"></a>',
    "links": "[next](04_replace.ipynb#x) <https://pytorch.org> <me@example.org> [m](mailto:a@b.c)",
    "links to pages": "[docs](https://pytorch.org/docs/stable/fx.html) [a](//pytorch.org/a.html)",
    "comment": "<!-- TODO: say more -->\ntext <!-- here -->",
    "paragraph not closed": "<p>one\n<p>two\n<ul><li>a<li>b</ul>",
    "tasks": "- [ ] one\n- [x] two",
    "diagram": "```mermaid\ngraph LR\nA --> B\nB --> C{x < 1}\n```",
    "windows": "one\r\ntwo `<b>`\r\n\r\n- a\r\n",
    "typed": "def f(x: list[int]) -> dict[str, int]: x <- 3",
    "java in words": "JavaScript: a language. on = 3, onclick is a word",
    "sup": "x<sup>2</sup> H<sub>2</sub>O <kbd>Shift</kbd>+<kbd>Enter</kbd>",
    "entities": "a &nbsp; b &copy; &#x27;",
}


@pytest.mark.parametrize("name", HONEST_MARKDOWN)
def test_honest_markdown(name: str) -> None:
    cell = new_markdown_cell(HONEST_MARKDOWN[name])
    assert clean_cell(cell) is None
    assert cell.source == HONEST_MARKDOWN[name]


@pytest.mark.parametrize("name", HONEST_MARKDOWN)
def test_raw_cells_are_shown_as_they_were_typed(name: str) -> None:
    text = HONEST_MARKDOWN[name]
    cell = new_raw_cell(text)
    clean_cell(cell)
    without_tags = not re.search("<[A-Za-z/!]", text)
    assert (cell.source == text) == without_tags
    assert cell.source.replace("&lt;", "<") == text.replace("&lt;", "<")


def test_course_is_honest() -> None:
    start = time.perf_counter()
    for path in sorted(Path(__file__).parents[1].glob("course/*.ipynb")):
        nb = nbformat.read(path, as_version=4)
        before = copy.deepcopy(nb)
        assert clean_notebook(nb) == []
        assert [cell.source for cell in nb.cells] == [cell.source for cell in before.cells]
        assert [cell.metadata.get("nbgrader") for cell in nb.cells] == [
            cell.metadata.get("nbgrader") for cell in before.cells
        ]
        assert nb.metadata == before.metadata
    assert time.perf_counter() - start < 20


def cards() -> list[str]:
    exercise = EXERCISES["retarget"]
    finding = Finding("missed-call", "A call of `<script>` was missed.")
    verdict = Verdict("retarget", "failed", 0.0, findings=(finding,), printed="<b>x</b>\n" * 9)
    return [card_html(verdict, exercise)]


def test_cards_and_pictures_look_the_same() -> None:
    from torch import fx

    from autograder.cards.hints import Hints
    from autograder.cards.progress import Progress, Row
    from autograder.drawing.draw import draw

    picture = draw(fx.symbolic_trace(lambda x: (x + 1).relu())).html()
    rows = [Row("03_manipulation", "retarget", "t", 2, 2.0, "passed")]
    ours = [*cards(), picture, Hints(EXERCISES["retarget"]).html()]
    ours.append(Progress(rows)._repr_mimebundle_()["text/html"])
    for text in ours:
        (output,) = clean_outputs([new_output("display_data", data={"text/html": text})])
        assert output.data["text/html"] == f'<div style="overflow:auto">{text}</div>'


def test_card_stays_as_it_is_beside_evil_cells() -> None:
    (card,) = cards()
    check = new_code_cell("check(retarget)", outputs=[])
    check.outputs = [new_output("display_data", data={"text/html": card})]
    evil = [new_markdown_cell(text) for text in (EVIL_HTML | EVIL_MARKDOWN).values()]
    nb = new_notebook(cells=[*evil, check, new_markdown_cell("the end")])
    clean_notebook(nb)
    for template in ("lab", "feedback", "formgrade"):
        page, card = (str(BeautifulSoup(t, "html.parser")) for t in (body(nb, template), card))
        assert page.count(card) == 1
        before = page[: page.index(card)]
        for tag in ("details", "table", "code", "a", "b", "pre"):
            opened = len(re.findall(rf"<{tag}\b", before))
            assert opened == len(re.findall(rf"</{tag}>", before)), tag
    assert acts(nb) == []


def test_figures_of_matplotlib() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 2))
    figure.subplots().plot([1, 3, 2])
    written = io.StringIO()
    figure.savefig(written, format="svg")
    data = {"image/svg+xml": written.getvalue(), "text/plain": "<Figure>"}
    (output,) = clean_outputs([new_output("display_data", data=data)])
    drawn = output.data["image/svg+xml"]
    assert drawn.startswith("<svg xmlns=") and 'href="#' in drawn and "viewBox" in drawn
    (output,) = clean_outputs([new_output("display_data", data={"text/html": drawn})])
    assert '<img src="data:image/svg+xml;base64,' in output.data["text/html"]


# ------------------------------------------------------------------ outputs and metadata


def test_other_types_are_dropped_with_a_line() -> None:
    for mime in ("application/javascript", "application/vnd.jupyter.widget-view+json",
                 "text/vnd.mermaid", "application/pdf", "text/vnd.x<script>"):  # fmt: skip
        data = {mime: "alert(1)", "text/plain": "<Object>"}
        (output,) = clean_outputs([new_output("display_data", data=data)])
        assert set(output.data) == {"text/plain"}
        assert output.data["text/plain"].startswith("<Object>\n(not shown here: ")
    data = {"application/vnd.plotly.v1+json": {}, "image/png": PNG, "text/plain": "Figure"}
    (output,) = clean_outputs([new_output("display_data", data=data)])
    assert dict(output.data) == {"image/png": PNG, "text/plain": "Figure"}


def test_pictures_must_be_base64() -> None:
    data = {"image/png": '"><script>alert(1)</script>', "text/plain": "x"}
    (output,) = clean_outputs([new_output("display_data", data=data)])
    assert set(output.data) == {"text/plain"}
    (output,) = clean_outputs([new_output("display_data", data={"image/png": [PNG, "\n"]})])
    assert output.data["image/png"] == PNG


def test_metadata_of_outputs() -> None:
    metadata = {"image/png": {"width": "1 onload=alert(1)", "height": 3}, "isolated": True,
                "text/html": {"isolated": True}, "width": True, "height": 9.5,
                "filenames": {"image/png": "x"}, "needs_background": "light"}  # fmt: skip
    output = new_output("display_data", data={"image/png": PNG}, metadata=metadata)
    (cleaned,) = clean_outputs([output])
    expected = {"image/png": {"height": 3}, "height": 9.5, "needs_background": "light"}
    assert cleaned.metadata == expected
    output.metadata = {"width": "1 onload=alert(1)"}
    assert "onload" in body(new_notebook(cells=[new_code_cell(outputs=[output])]))  # as it was


def test_text_is_as_a_terminal_leaves_it() -> None:
    def cleaned(text: str) -> str:
        (output,) = clean_outputs([new_output("stream", text=text)])
        return output.text

    assert cleaned("\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b[2J\x1b[?25l") == "\x1b[31mred\x1b[0m"
    assert cleaned("10 %\r50 %\r100 %\r\nnext\r") == "100 %\nnext"
    assert cleaned("a\x00\x08\x9bb\tc\u202ed\ud800") == "ab\tcd\N{REPLACEMENT CHARACTER}"
    assert cleaned("äöü 漢字 🎉 עברית") == "äöü 漢字 🎉 עברית"


def test_errors_keep_their_colours() -> None:
    error = new_output("error", ename="E\x00", evalue="<b>", traceback=["\x1b[31m<b>\x1b[0m"])
    (cleaned,) = clean_outputs([error])
    assert (cleaned.ename, cleaned.traceback) == ("E", ["\x1b[31m<b>\x1b[0m"])
    assert acts(new_notebook(cells=[new_code_cell(outputs=[cleaned])])) == []


@pytest.mark.parametrize(
    "odd",
    [None, 3, "x", {}, {"output_type": "x"}, {"output_type": "stream", "name": [], "text": {}},
     {"output_type": "error", "traceback": 3, "ename": None},
     {"output_type": "display_data", "data": [], "metadata": 3},
     {"output_type": "execute_result", "execution_count": "<b>", "data": {3: 4, "text/html": 5}},
     {"output_type": "display_data", "data": {"application/json": float("nan")}},
     {"output_type": "display_data", "data": {"text/html": ["<b>", 3], "image/png": {}}}],
)  # fmt: skip
def test_outputs_of_any_shape(odd: Any) -> None:
    nb = new_notebook(cells=[new_code_cell(outputs=clean_outputs([odd]))])
    nbformat.validate(nb)
    assert acts(nb) == []


@pytest.mark.parametrize(
    "text",
    ["<div>" * 100_000, "<b><p>" * 50_000, "<svg" * 200_000, "<style" * 200_000, "<!--" * 200_000,
     "<a " + "a " * 200_000, "<a a=" * 100_000, "<td onclick=x>" * 30_000,
     "<svg>" + "<g>" * 50_000 + "</svg>", "\x1b[" * 200_000, "\x1b]" * 2_000],
)  # fmt: skip
def test_html_that_is_too_much_takes_no_time(text: str) -> None:
    start = time.perf_counter()
    (output,) = clean_outputs([new_output("display_data", data={"text/html": text})])
    assert time.perf_counter() - start < 5
    assert output.data


@pytest.mark.parametrize("begin", ["\\begin{a}", "\\\\[", "\\\\(", "$", "[", "<b>", "<!--"])
def test_markdown_that_is_too_much_takes_no_time(begin: str) -> None:
    cell = new_markdown_cell(begin * (40_000 // len(begin)))
    start = time.perf_counter()
    clean_cell(cell)
    body(new_notebook(cells=[cell]))
    assert time.perf_counter() - start < 5


def test_metadata_of_notebooks() -> None:
    nb = new_notebook(cells=[new_code_cell("x"), new_markdown_cell("y")])
    nb.metadata.update(
        title="</title><script>alert(1)</script>",
        widgets={"application/vnd.jupyter.widget-state+json": {"x": "</script>"}},
        kernelspec={"name": "my env", "display_name": "<script>", "language": 3},
        language_info={"name": "python", "version": "3.12.1", "pygments_lexer": ["x"]},
        fxcourse={"repairs": []},
        vscode={"interpreter": {"hash": "x"}},
    )
    nb.cells[0].metadata.update(
        tags=['"><script>'], editable=False, colab={}, nbgrader={"grade_id": "a-b", "comment": "<"}
    )
    nb.cells[1].metadata.update(nbgrader={"grade_id": '"><script>'}, tags=3, alt='"><b onclick=x>')
    nb.cells[0]["execution_count"] = "<script>alert(1)</script>"
    assert clean_notebook(nb) == []
    assert nb.metadata == {
        "kernelspec": {"name": "my env", "display_name": "my env"},
        "language_info": {"name": "python", "version": "3.12.1"},
        "fxcourse": {"repairs": []},
    }
    assert nb.cells[0].metadata == {"editable": False, "nbgrader": {"grade_id": "a-b"}}
    assert nb.cells[1].metadata == {}
    assert nb.cells[0].execution_count is None
    assert acts(nb) == []


def test_half_characters_can_be_written() -> None:
    nb = new_notebook(cells=[new_code_cell("'\ud800'"), new_markdown_cell("\udfff")])
    nb.cells += [new_raw_cell("\ud800")]
    clean_notebook(nb)
    nbformat.writes(nb).encode()


def test_attachments_are_pictures() -> None:
    cell = new_markdown_cell("![a](attachment:a.png) ![b](attachment:b.html)")
    cell.attachments = {
        "a.png": {"image/png": PNG, "text/html": "<script>"},
        "b.html": {"text/html": "PHNjcmlwdD4="},
    }
    sentence = clean_cell(cell)
    assert sentence == "An attachment that is no picture was taken out."
    assert cell.attachments["a.png"] == {"image/png": PNG}
    assert acts(new_notebook(cells=[cell])) == []


def test_missing_attachment_stops_no_page() -> None:
    cell = new_markdown_cell("![a](attachment:a.png) `![b](attachment:b.png)`")
    assert clean_cell(cell) == "An attached picture is missing; an empty one stands in its place."
    assert list(cell.attachments) == ["a.png"]
    assert "data:image/png" in body(new_notebook(cells=[cell]))
    assert clean_cell(cell) is None


def test_sentences_name_nothing_of_the_students() -> None:
    nb = new_notebook(cells=[new_markdown_cell(t) for t in (EVIL_HTML | EVIL_MARKDOWN).values()])
    said = clean_notebook(nb)
    assert said[0] == "Cell 1: What could act in a browser is shown as text: `script`."
    assert all(sentence.endswith(".") for sentence in said)
    assert not any("alert" in sentence or "evil" in sentence for sentence in said)
    assert clean_notebook(nb) == []


def test_what_was_typed_can_still_be_read() -> None:
    cell = new_markdown_cell("My **answer** <script>alert(1)</script> is <b>here</b>.")
    clean_cell(cell)
    page = body(new_notebook(cells=[cell]))
    assert "<strong>answer</strong>" in page and "<b>here</b>" in page
    assert "<script>alert(1)</script>" in entities.unescape(page)
