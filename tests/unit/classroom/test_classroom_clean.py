"""A student's HTML cannot run where it is shown, and honest work looks the same as before."""

from __future__ import annotations

import base64
import copy
import html as entities
import io
import re
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

from autograder.builder.paths import COURSE
from autograder.cards.card import card_html
from autograder.core.verdict import Finding, Verdict
from autograder.exercises import EXERCISES
from autograder.submission.sanitize import clean_cell, clean_notebook, clean_outputs, taken_ids
from autograder.submission.sanitize.styles import is_harmless_style, kept_style
from tests.support.evil_html import EVIL_HTML, EVIL_MARKDOWN
from tests.support.pace import at_most

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()
ACTIVE = {"iframe", "object", "embed", "form", "base", "meta", "link", "style", "svg", "math",
          "template", "button", "textarea", "frame", "frameset", "noscript", "plaintext",
          "dialog", "applet", "marquee", "select", "video", "audio", "image", "picture", "source",
          "track", "map", "area", "portal", "fencedframe", "param", "animate", "slot",
          "output", "label", "fieldset", "keygen", "isindex", "xmp", "listing", "noembed",
          "noframes", "title", "annotation-xml"}  # fmt: skip
ACTING = frozenset(
    "srcdoc formaction http-equiv srcset lowsrc dynsrc longdesc background poster ping download "
    "action form formtarget popover popovertarget accesskey autofocus contenteditable is slot part "
    "for usemap target xlink:href manifest data codebase classid".split()
)
"""Attributes with an effect; a link may have `target="_blank"`."""


_ESCAPES = re.compile(
    r"position|z-index|inset|url|transform|[:x+]-\d|calc|-set\(|fade\(|expression|@|\\|/\*|[{}]"
)


class Reader(HTMLParser):
    """Collects everything in a page that could run or have an effect."""

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
            if name.startswith("on") or name in ACTING and (name, value) != ("target", "_blank"):
                self.found.append(name)
            if name == "rel" and "opener" in text.split():
                self.found.append(name)
            if name == "src" and re.match(r"[\\\\/]|(?!data:)[a-z]+:", text):
                self.found.append(f"{name}={text[:30]}")
            if name.startswith("data-") and name not in ("data-mime-type", "data-type"):
                self.found.append(name)
            if re.match(
                r"(java|vb)script:|(blob|file|view-source|filesystem):|data:(?!image/[\w+]+;)", text
            ):
                self.found.append(f"{name}={text[:30]}")
            if name == "style" and _ESCAPES.search(text):
                self.found.append(f"{name}={text[:30]}")

    handle_startendtag = handle_starttag


@cache
def exporter(template: str) -> HTMLExporter:
    """The exporter of the pages, as nbgrader sets it up."""
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
    """All active content in the pages that show a notebook."""
    found = []
    for template in ("lab", "feedback", "formgrade"):
        reader = Reader()
        reader.feed(body(nb, template))
        found += reader.found
    return found


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
    """Before cleaning, nearly all of it is active in one of the pages."""
    quiet = [
        name
        for name, text in (EVIL_HTML | EVIL_MARKDOWN).items()
        if not acts(new_notebook(cells=[new_markdown_cell(text)]))
    ]
    assert len(quiet) < 50, quiet  # of more than 200


@pytest.mark.parametrize("name", sorted(EVIL_HTML))
def test_what_was_cleaned_stays_as_it_is(name: str) -> None:
    """Parsing and writing cleaned HTML again, as browsers may do, changes nothing."""
    (once,) = clean_outputs([new_output("display_data", data={"text/html": EVIL_HTML[name]})])
    assert clean_outputs([once]) == [once]


STYLES = [
    ("color: red; font-weight: bold;", "color: red; font-weight: bold;"),
    ("COLOR:Red;position:fixed;border:1px solid #ccc", "COLOR:Red;border:1px solid #ccc"),
    ("font:italic 12px/1.5 'A B',\"C\",serif", "font:italic 12px/1.5 'A B',\"C\",serif"),
    ("color:rgb(1, 2,3);color:rgba(1 2 3 / 50%)", "color:rgb(1, 2,3);color:rgba(1 2 3 / 50%)"),
    ("background:linear-gradient(90deg, rgb(1,2,3) 10%, #fff)", ...),
    ("color:var(--jp-ui)", ...),
    ("width:50%!important;margin:0 auto", ...),
    ("vertical-align:-2px;margin:-2px", "vertical-align:-2px"),
    ("color:url(x)", ""),
    ("color:red\\9;color:\\72 ed", ""),
    ("color:red/**/;color:/**/red", ""),
    ("color:expression(1);width:calc(1px + 1px);width:min(1px)", ""),
    ("width:attr(x);background:element(#x);background:paint(x);cursor:image(x)", ""),
    ("color:var(--x,red);color:var(--x, rgb(1,2,3))", ...),
    ("color:color-mix(in srgb,var(--x,#123) 76%,var(--y,#ffffff))", ...),
    ("color:var(--x,url(y));color:var(--x,var(--y));color:var(x);color:rgb(var(--x))", ""),
    ("color:color-mix(in srgb,url(x),red);color:color-mix(in srgb,red,image(x) 5%)", ""),
    ("margin:var(--x,-9px);margin:color-mix(in srgb,-9px,-9px)", ""),
    ("font-family:'a;color:red;b'", "color:red"),
    ("font-family:\"a'", ""),
    ("color:red}p{color:blue", ""),
    ("@import 'x';color:red", "color:red"),
    ("color:\xa0red;\xa0color\xa0:red;c\u03bflor:red", ""),
    ("color:red" + " " * 1000, ""),
    ("color", ""),
    (":red;;", ""),
]


@pytest.mark.parametrize(("style", "kept"), STYLES)
def test_styles(style: str, kept: Any) -> None:
    assert kept_style(style) == (style if kept is ... else kept)
    assert is_harmless_style(style) == (kept is ... or kept == style)


FIELDS = ["t1", "t1_extra_credit", "t1-comment", "written-comment"]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "text",
    ["# {}", "> ### {} ##", "* # {}", "{}\n===", "# **{}**", "<a id={}></a>", "<b id='{}'>x</b>",
     "<a name={}>x</a>", "# {}\n\n`x` <b id={}>x</b>"],
)  # fmt: skip
def test_nothing_has_the_name_of_a_field_of_formgrader(text: str, field: str) -> None:
    """Formgrader puts points and comments where it finds the first of these ids."""

    def named(nb: NotebookNode) -> int:
        soup = BeautifulSoup(body(nb, "formgrade"), "html.parser")
        return sum(field in (tag.get("id"), tag.get("name")) for tag in soup.find_all())

    own = {"schema_version": 3, "locked": False, "task": False, "points": 1, "score": 1}
    graded = {"nbgrader": {**own, "grade_id": "t1", "grade": True, "solution": False}}
    written = {"nbgrader": {**own, "grade_id": "written", "grade": False, "solution": True}}
    text = text.replace("{}", field)
    given = [new_code_cell("assert f()", metadata=graded), new_markdown_cell("x", metadata=written)]
    nb = new_notebook(cells=given)
    own_fields = named(nb)
    nb.cells.insert(0, new_markdown_cell(text))
    assert named(nb) > own_fields
    output = new_output("display_data", data={"text/markdown": text, "text/html": text})
    nb.cells.insert(1, new_code_cell(outputs=clean_outputs([output], taken_ids(nb))))
    assert len(clean_notebook(nb)) == 1
    assert named(nb) == own_fields
    assert "```" not in nb.cells[0].source or "**" in text or "<b" in text


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
    "table": "<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
    "text": "a < b and c &amp; d &nbsp; \N{NO-BREAK SPACE} &copy; 'e' \"f\"",
    "lines": "<pre>\n\n  two lines\n\n</pre><pre>\none line</pre>",
    "formatted": "<p>x<sup>2</sup> <em>a</em><br><b>b</b></p><ul><li>c</li></ul><hr>",
    "fold": "<details><summary>more</summary><pre>x = 1</pre></details>",
}


@pytest.mark.parametrize("name", HONEST_HTML)
def test_honest_html(name: str) -> None:
    text = HONEST_HTML[name]
    (output,) = clean_outputs([new_output("display_data", data={"text/html": text})])
    assert said(output.data["text/html"]) == said(in_a_box(text))


def said(html: str) -> list[Any]:
    """The content of HTML, however it is written: tags with their attributes, and text."""
    found: list[Any] = []

    class Events(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append((tag, sorted((name, value or "") for name, value in attrs)))

        def handle_endtag(self, tag: str) -> None:
            found.append(tag)

        def handle_data(self, data: str) -> None:
            before = found[-1] if found else " "
            if isinstance(before, list):
                before[0] += data
            else:  # browsers hide the first newline in a `pre`
                found.append([data.removeprefix("\n") if before[0] == "pre" else data])

    reader = Events()
    reader.feed(html)
    reader.close()
    return found


def in_a_box(html: str) -> str:
    """HTML without its styles, in the box that cleaning puts around styled HTML."""
    html = re.sub(r"<style.*?</style>", "", html, flags=re.S)
    return f'<div style="overflow:auto">{html}</div>' if "style=" in html else html


def test_tags_that_were_not_closed_are_closed() -> None:
    text = "<table><tr><td>1<td>2</table><p>a<p>b<ul><li>c"
    (output,) = clean_outputs([new_output("display_data", data={"text/html": text})])
    assert output.data["text/html"] == (
        "<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"
        "<p>a</p><p>b</p><ul><li>c</li></ul>"
    )


HONEST_MARKDOWN = {
    "math": "For $a < b$ & $x<y>z$: $$\\sum_{i<n} x_i \\& y$$ and \\begin{align}a &< b\\end{align}",
    "table": "| a | b |\n|:--|--:|\n| `<script>` | 1 < 2 |\n",
    "picture": "![graph](images/graph.png) and ![](my%20graph.PNG)",
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
    "list not closed": "<ul><li>one<li>two</ul>\n\n<p>three\n\n<li>four",
    "tags around markdown": "<font color=red>\n\n## a\n\n</font>\n\n<div>\n\n- b\n\n</div> c",
    "a block in a line": "text <div>a</div> <center>b</center>\n\n# <center>c</center>",
    "tasks": "- [ ] one\n- [x] two",
    "diagram": "```mermaid\ngraph LR\nA --> B\nB --> C{x < 1}\n```",
    "windows": "one\r\ntwo `<b>`\r\n\r\n- a\r\n",
    "typed": "def f(x: list[int]) -> dict[str, int]: x <- 3",
    "java in words": "JavaScript: a language. on = 3, onclick is a word",
    "sup": "x<sup>2</sup> H<sub>2</sub>O <kbd>Shift</kbd>+<kbd>Enter</kbd>",
    "entities": "a &nbsp; b &copy; &#x27;",
}


BREAKING_OUT = [
    "# <div>\n\n</div>x", "# <div>\n\n</div>", "# <main>\n\n</main>", "# <b><div>\n\n</div></b>",
    "<h1><div></h1></div>", "# <div>\n\n</div><p>x", "# <div>\n\n</div><div>\n\nx\n\n</div>",
    "a <section>\n\n> b\n\n# <div>\n\n</div></section>", "# <b><div><div>\n\n</div></div></b>",
]  # fmt: skip


@pytest.mark.parametrize("text", BREAKING_OUT)
def test_nothing_ends_what_the_page_began(text: str) -> None:
    cell = new_markdown_cell(text)
    assert clean_cell(cell) is not None
    assert cell.source == f"```text\n{text}\n```"
    assert clean_cell(cell) is None


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
    for path in sorted(COURSE.glob("*.ipynb")):
        nb = nbformat.read(path, as_version=4)
        before = copy.deepcopy(nb)
        assert clean_notebook(nb) == []
        assert [cell.source for cell in nb.cells] == [cell.source for cell in before.cells]
        assert [cell.metadata.get("nbgrader") for cell in nb.cells] == [
            cell.metadata.get("nbgrader") for cell in before.cells
        ]
        assert nb.metadata == before.metadata


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
    rows = [Row("03_manipulation", "retarget", "t", 2, "passed")]
    ours = [*cards(), picture, Hints(EXERCISES["retarget"]).html()]
    ours.append(Progress(rows)._repr_mimebundle_()["text/html"])
    for text in ours:
        (output,) = clean_outputs([new_output("display_data", data={"text/html": text})])
        # Cleaning turns a drawing into an image, so that nothing in it is active.
        shown = re.sub(r"<img\b[^>]*>", "", output.data["text/html"])
        # Cleaning also makes elements unfocusable, even a box that scrolls.
        drawn = re.sub(r"<svg\b.*?</svg>| tabindex=\"0\"", "", in_a_box(text), flags=re.S)
        assert said(shown) == said(drawn)
        assert output.data["text/html"].count("<img") == text.count("<svg")


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
            open_classroom = len(re.findall(rf"<{tag}\b", before))
            assert open_classroom == len(re.findall(rf"</{tag}>", before)), tag
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
    assert "onload" in body(new_notebook(cells=[new_code_cell(outputs=[output])]))  # uncleaned


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
     "<svg>" + "<g>" * 50_000 + "</svg>", "\x1b[" * 200_000, "\x1b]" * 2_000,
     "&" * 2_900_000, "&amp;" * 500_000, "a& " * 300_000, "<table>" + "<p>x" * 300_000,
     "<table>" + "<b></b>x<tr>" * 40_000, "<div></x>" * 200_000, "<div><!--</div>-->" * 100_000,
     "<div title='</div>'>" * 100_000, "<rt>" * 300_000, "<x>" * 500_000, "<a href=x>" * 200_000,
     "<li><b>" * 200_000, "<p>" + "".join(f"<font size={i}>" for i in range(190)) + "<p>x" * 9_000,
     "<x " + " ".join(f"a{i}" for i in range(200_000)) + ">", "<p title='" + "x" * 2_900_000 + "'>",
     "<p style='" + "color:red;" * 280_000 + "'>", "<p style='font:" + "a " * 490 + "('>",
     "<p style='background:linear-gradient(" + "rgb(1,1," * 100 + "'>",
     "<p style='color:color-mix(in a,var(--a,a)" + " " * 400 + "," + "a " * 200 + "'>"],
    ids=lambda text: text[:25],
)  # fmt: skip
def test_html_that_is_too_much_takes_no_time(text: str) -> None:
    with at_most(units=500):
        (output,) = clean_outputs([new_output("display_data", data={"text/html": text})])
    assert output.data


@pytest.mark.parametrize("begin", ["\\begin{a}", "\\\\[", "\\\\(", "$", "[", "<b>", "<!--"])
def test_markdown_that_is_too_much_takes_no_time(begin: str) -> None:
    cell = new_markdown_cell(begin * (40_000 // len(begin)))
    with at_most(units=500):
        clean_cell(cell)
        body(new_notebook(cells=[cell]))


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
    assert sentence == "An attachment that is not a picture was taken out."
    assert cell.attachments["a.png"] == {"image/png": PNG}
    assert acts(new_notebook(cells=[cell])) == []


def test_missing_attachment_stops_no_page() -> None:
    cell = new_markdown_cell("![a](attachment:a.png) `![b](attachment:b.png)`")
    assert clean_cell(cell) == "An attached picture is missing; an empty one is in its place."
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
