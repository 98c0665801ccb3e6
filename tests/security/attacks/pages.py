"""Content that would run, or mislead, in the pages where people read a graded notebook."""

from __future__ import annotations

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output, new_raw_cell

from tests.security.attacks import DUE, GRADED, RIGHT, SUSPECT, Attack
from tests.support.submissions.edits import Edit, add, set_metadata

SHOWN = "It is shown as text or left out; nothing of it runs."


def _cells(*cells: NotebookNode) -> tuple[Edit, ...]:
    def edit(nb: NotebookNode) -> None:
        nb.cells[1:1] = cells

    return (edit,)


def _shows(mime: str, data: str) -> str:
    shown = {mime: data}
    return f"from IPython.display import publish_display_data\npublish_display_data({shown!r})"


def _attached() -> NotebookNode:
    cell = new_markdown_cell('![x](attachment:a.svg) ![y](attachment:b"onerror="FXPAGE.png)')
    svg = "PHN2ZyBvbmxvYWQ9IkZYUEFHRSgpIi8+"
    cell["attachments"] = {
        "a.svg": {"image/svg+xml": svg, "text/html": "<script>FXPAGE()</script>"},
        'b" onerror="FXPAGE()': {"image/png": '"><script>FXPAGE()</script>'},
    }
    return cell


def _metadata(nb: NotebookNode) -> None:
    evil = '"><script>FXPAGE()</script>'
    nb.metadata.update(
        title=evil,
        authors=[{"name": evil}],
        widgets={"application/vnd.jupyter.widget-state+json": {"state": {"x": {"m": evil}}}},
        language_info={"name": evil, "pygments_lexer": evil, "codemirror_mode": evil},
        kernelspec={"name": evil, "display_name": evil, "language": evil},
    )
    for cell in nb.cells:
        cell.metadata["tags"] = [evil]
        cell.metadata["name"] = evil


def _stored(nb: NotebookNode) -> None:
    """Add outputs to the file, in cells that produce no output when they run."""
    evil = "<script>FXPAGE()</script>"
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs = [
                new_output(
                    "display_data", {"text/html": evil, "application/javascript": "FXPAGE()"}
                )
            ]


HANDLERS = """\
<img src=x onerror="FXPAGE()"><svg onload="FXPAGE()"><a href="javascript:FXPAGE()">a</a>
<a href=" java&#10;script:FXPAGE()">b</a><body onload="FXPAGE()"><details open ontoggle="FXPAGE()">
<iframe srcdoc="<script>FXPAGE()</script>"></iframe><object data="javascript:FXPAGE()"></object>
<form action="javascript:FXPAGE()"><button>go</button></form><base href="//FXPAGE/">
<meta http-equiv="refresh" content="0;url=javascript:FXPAGE()"><embed src="javascript:FXPAGE()">
<math><a xlink:href="javascript:FXPAGE()">c</a></math><style>@import url("//FXPAGE/x.css")</style>
<scr<script>ipt>FXPAGE()</scr</script>ipt>
<p title\xa0=\xa0"a onclick=FXPAGE() b">d</p>
<img name="body" src="d.png"><b style="background:\\75 rl(//FXPAGE.example/x)">e</b>"""

CALLING = """\
<img src="https://FXPAGE.example/x.png"><img src="/FXPAGE/logout"><img src="//FXPAGE.example/x">
<img srcset="//FXPAGE.example/x 2x"><picture><source srcset="https://FXPAGE.example/x"></picture>
<video poster="/FXPAGE" src="/FXPAGE.mp4"></video><audio src="/FXPAGE.mp3"></audio>
<input type="image" src="/FXPAGE"><table background="/FXPAGE"><tr><td>x</td></tr></table>
<p style="background: url(//FXPAGE.example/x)">x</p><p style="background: URL( '/FXPAGE' )">y</p>
<svg><image href="/FXPAGE"/><image xlink:href="/FXPAGE"/><use href="/FXPAGE#x"/></svg>
<link rel="prefetch" href="/FXPAGE"><track src="/FXPAGE"><object data="/FXPAGE"></object>
<img src="\\\\FXPAGE\\x"><img src=" https:FXPAGE.example"><body background="/FXPAGE">"""
STEERING = "\x1b[2J\x1b]0;FXPAGE\x07\x9b31m\x08\x00\r\u202e"
LONG = 150_000
LINEAR = "Cleaning takes a time that grows with what is cleaned; the right answer keeps its points."


def _long(name: str, tries: str, *edits: Edit) -> Attack:
    """A right answer in a notebook with something very long."""
    return Attack(
        f"pages-long-{name}", tries, LINEAR, answers=RIGHT, edits=edits, earns=DUE,
        within=60.0,
    )  # fmt: skip


def _with_error(text: str) -> Edit:
    """Add a stored error output with this text."""

    def edit(nb: NotebookNode) -> None:
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs = [new_output("error", ename=text, evalue=text, traceback=[text])]

    return edit


ATTACKS = [
    # ---------------------------------------------------------------- long
    _long("raw", "A raw cell is 150,000 times `<`.", *_cells(new_raw_cell("<" * LONG))),
    _long(
        "raw-tags",
        "A raw cell is 150,000 letters of tags that do not end.",
        *_cells(new_raw_cell("<a " * (LONG // 3)), new_raw_cell("<a/on" * (LONG // 5))),
    ),
    _long(
        "markdown",
        "Markdown cells are brackets, quotes, stars and signs, none of which ends.",
        *_cells(
            *(new_markdown_cell(t * 20_000) for t in ("<", "[", "![](", "`", "*a ", "&#", "$"))
        ),
    ),
    _long(
        "output",
        "A cell displays HTML of 150,000 times `<`.",
        add(_shows("text/html", "<" * LONG)),
    ),
    _long(
        "output-tags",
        "Cells display HTML and SVG whose tags do not end.",
        add(_shows("text/html", "<a on" * 30_000)),
        add(_shows("image/svg+xml", "<svg><g " * 20_000)),
    ),
    _long("error", "An error's text is 150,000 times `<`.", _with_error("<" * LONG)),
    _long("colours", "Outputs are colours that do not end.", add(f"print('\\x1b[' * {LONG})")),
    # ---------------------------------------------------------------- pages that call
    Attack(
        "pages-calls-markdown",
        "A page asks for pictures elsewhere, and for addresses of the server that shows it.",
        "Nothing is asked for but what is in the page.",
        edits=_cells(
            new_markdown_cell(CALLING),
            new_markdown_cell(
                "![x](https://FXPAGE.example/x) ![y](/FXPAGE/logout)\n\n![z][z]\n\n"
                "[z]: //FXPAGE.example/z"
            ),
        ),
    ),
    Attack(
        "pages-calls-output",
        "Outputs of every kind ask for pictures elsewhere.",
        "Nothing is asked for but what is in the page.",
        _shows("text/html", CALLING),
        edits=(
            add(_shows("text/markdown", "![x](https://FXPAGE.example/x) ![y](/FXPAGE/logout)")),
            add(
                _shows(
                    "image/svg+xml",
                    '<svg><image href="https://FXPAGE.example/x"/>'
                    '<style>@import "/FXPAGE"; p { background: url(/FXPAGE) }'
                    "</style></svg>",
                )
            ),
            add(_shows("text/latex", "\\\\includegraphics{https://FXPAGE.example/x}")),
        ),
    ),
    Attack(
        "pages-calls-raw",
        "Raw cells ask for pictures elsewhere.",
        "Nothing is asked for but what is in the page.",
        edits=_cells(
            new_raw_cell(CALLING), new_raw_cell(CALLING, metadata={"format": "text/html"})
        ),
    ),
    # ---------------------------------------------------------------- terminals
    Attack(
        "pages-terminal-broken",
        "A process that cannot try an answer says why in signs that steer a terminal.",
        "Signs that steer a terminal are in nothing that is said.",
        f"""\
class Broken(dict):
    def __contains__(self, name):
        raise RuntimeError({STEERING!r})

    def __getitem__(self, name):
        raise RuntimeError({STEERING!r})

    get = __getitem__

get_ipython().user_ns = Broken(get_ipython().user_ns)
""",
    ),
    Attack(
        "pages-terminal-names",
        "Names of types, functions and errors are signs that steer a terminal.",
        "Signs that steer a terminal are in nothing that is said.",
        f"NAME = {STEERING!r}\n",
        answers={
            "retarget": "retarget = type(NAME, (), {})()",
            "add_to_mul": "def add_to_mul(model):\n    raise type(NAME, (Exception,), {})(NAME)",
            "relu_to_gelu": "def relu_to_gelu(model):\n    return type(NAME, (), {})()",
        },
    ),
    Attack(
        "pages-terminal-files",
        "Files beside the notebook have such names.",
        "Signs that steer a terminal are in nothing that is said.",
        extra_files={f"{STEERING[:9]}.txt": "x", "a\u202etxt.py": "x"},
        states=SUSPECT | {"refused"},
    ),
    Attack(
        "pages-terminal-id",
        "The student's id steers a terminal.",
        "Signs that steer a terminal are in nothing that is said.",
        student="pages-\x1b[2J\x1b[31m",
        states=SUSPECT | {"refused"},
    ),
    Attack(
        "pages-terminal-cells",
        "Ids, types and metadata of cells steer a terminal.",
        "Signs that steer a terminal are in nothing that is said.",
        edits=(
            set_metadata("check-retarget", grade_id=f"check-{STEERING}"),
            set_metadata("retarget", grade_id=STEERING, cell_type=STEERING, checksum=STEERING),
            add(f"print({STEERING!r})\n1 / 0  # {STEERING[:4]}"),
        ),
        states=SUSPECT,
    ),
    Attack(
        "pages-html",
        "A cell displays HTML with scripts and handlers of every kind.",
        SHOWN,
        _shows("text/html", "<script>FXPAGE()</script>" + HANDLERS),
        stock=True,
    ),
    Attack(
        "pages-javascript",
        "A cell displays JavaScript, by its type and by `%%javascript`.",
        SHOWN,
        _shows("application/javascript", "FXPAGE()"),
        edits=(add("%%javascript\nFXPAGE()"), add("%%html\n<script>FXPAGE()</script>")),
    ),
    Attack(
        "pages-svg",
        "A cell displays SVG with a script, handlers and foreign objects.",
        SHOWN,
        _shows(
            "image/svg+xml",
            '<svg onload="FXPAGE()"><script>FXPAGE()</script><foreignObject>'
            '<iframe src="javascript:FXPAGE()"/></foreignObject><a href="javascript:FXPAGE()">'
            '<animate attributeName="href" values="javascript:FXPAGE()"/></a></svg>',
        ),
    ),
    Attack(
        "pages-markdown-output",
        "A cell displays markdown and LaTeX with scripts.",
        SHOWN,
        _shows("text/markdown", f"# x\n\n{HANDLERS}\n\n[a](javascript:FXPAGE())"),
        edits=(
            add(_shows("text/latex", "$x$<script>FXPAGE()</script>\\href{javascript:FXPAGE()}{x}")),
        ),
    ),
    Attack(
        "pages-markdown-cell",
        "Markdown cells have scripts, handlers and links to scripts.",
        SHOWN,
        edits=_cells(
            new_markdown_cell(f"<script>FXPAGE()</script>\n\n{HANDLERS}"),
            new_markdown_cell(
                "[x](javascript:FXPAGE()) <javascript:FXPAGE()> "
                '![y](x"onerror="FXPAGE())\n\n[z]: data:text/html,FXPAGE'
            ),
        ),
    ),
    Attack(
        "pages-raw-cell",
        "Raw cells say that they are HTML.",
        SHOWN,
        edits=_cells(
            *(
                new_raw_cell(
                    "<script>FXPAGE()</script>", metadata={"format": kind, "raw_mimetype": kind}
                )
                for kind in ("text/html", "html", "", "text/markdown")
            )
        ),
    ),
    Attack(
        "pages-raw-fields",
        "A raw cell is named after the fields of Formgrader's page for points and comments.",
        "The fields are the page's own.",
        edits=_cells(
            new_raw_cell(
                "".join(
                    f'<div id="{name}">FXPAGE</div><code id="{name}-comment">FXPAGE</code>'
                    for name in ("check-retarget", "check-add_to_mul", "retarget")
                )
            )
        ),
    ),
    Attack(
        "pages-attachments",
        "Attachments are SVG and HTML, with names that end an attribute.",
        SHOWN,
        edits=_cells(_attached()),
    ),
    Attack(
        "pages-metadata",
        "Titles, authors, tags, kernels and languages are HTML.",
        SHOWN,
        edits=(_metadata,),
        states=GRADED | {"tampered"},
    ),
    Attack(
        "pages-stored-outputs",
        "Outputs that were saved in the file are scripts.",
        "Outputs are made anew; nothing that was saved is shown.",
        edits=(_stored,),
    ),
    Attack(
        "pages-colours",
        "What is printed is colours and control characters, many of them.",
        SHOWN,
        "print('\\x1b[31m<script>FXPAGE()</script>\\x1b[0m' * 20_000)\n"
        "print('\\x1b]8;;javascript:FXPAGE()\\x07x\\x1b]8;;\\x07\\x1b[2J\\x9b\\x00\\u202e')",
    ),
    Attack(
        "pages-card",
        "A cell displays a card of the course that says `passed`, with full points.",
        "No point is had, and the true card stands at the check.",
        """\
from IPython.display import HTML, display
display(HTML("<div class='fxcourse-card passed'><b>✔ Passed: retarget</b> 2 of 2 points</div>"
             "<style>.fxcourse-card.failed { display: none } body { background: lime }</style>"
             "<div style='position:fixed;inset:0;background:white;z-index:9999'>4 of 4</div>"))
""",
    ),
    Attack(
        "pages-printed-card",
        "An answer prints a card, and a script, into its own card.",
        SHOWN,
        answers={
            "retarget": "def retarget(model, old, new):\n"
            "    print('</pre></div><script>FXPAGE()</script>✔ Passed: 2 of 2 points')\n"
            "    raise ValueError('</code><img src=x onerror=FXPAGE()>')"
        },
    ),
    Attack(
        "pages-formula",
        "The student's id is a formula that a spreadsheet would work out.",
        "It is text in the exported table.",
        student="=HYPERLINK(x)+1",
        states=SUSPECT | {"refused"},
    ),
    Attack(
        "pages-id",
        "The student's id is HTML.",
        SHOWN,
        student="<img src=x onerror=FXPAGE()>",
        states=frozenset({"refused"}),
    ),
]
