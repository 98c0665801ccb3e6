"""The book: folded cells, targets of links, and files that a page loads."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from typer.testing import CliRunner

from autograder.book import catalogue, docs_pages, errors, making, pages
from autograder.book.chapter_page import ANSWER, DEBRIEF, LEFT_OUT, SOLUTION, page_of
from autograder.book.contents import with_contents
from autograder.book.headings import headings, title_alone
from autograder.book.kind_pages import FOLDER, kind_pages
from autograder.book.links import Links
from autograder.book.questions import questions
from autograder.builder import paths
from autograder.cli import main
from tests.questions import questions as questions_of_tests
from tests.support.pages import built_pages, small_book


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small book, with its source and its pages."""
    home = tmp_path_factory.mktemp("book")
    small_book.make(home)
    return home


# Headings and links

TEXT = """\
# 3b · Nodes

## 3b.1 Probes: watch (19 minutes)

```
## no heading
```

### Exercise 3b.1 `Probe_it` · Watch

## Recap"""


def two_chapters() -> Links:
    first = headings(
        "03_manipulation", new_notebook(cells=[new_markdown_cell("# 3 · M\n## 3.1 A")])
    )
    return Links(first + headings("03b_effects", new_notebook(cells=[new_markdown_cell(TEXT)])))


def test_each_heading_has_a_label_of_its_own() -> None:
    again = new_markdown_cell("## Recap")
    found = headings("03b_effects", new_notebook(cells=[new_markdown_cell(TEXT), again]))
    assert [each.label for each in found] == [
        "chapter-03b_effects", "section-3b.1", "exercise-probe_it", "03b_effects-recap",
        "03b_effects-recap-2",
    ]  # fmt: skip
    assert [each.place for each in found[1:4]] == [
        "3b.1 Probes: watch", "Exercise 3b.1 `Probe_it`", "3b · Recap",
    ]  # fmt: skip
    assert (found[1].number, found[1].bare) == ("3b.1", "Probes: watch")
    assert [each.cell for each in found] == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("See section 3.1.", "See [section 3.1](#section-3.1)."),
        ("sections 3.1 and 3b.1", "sections [3.1](#section-3.1) and [3b.1](#section-3b.1)"),
        ("chapters 1, 3 and 6", "chapters 1, [3](#chapter-03_manipulation) and 6"),
        ("Chapter 3b, too", "[Chapter 3b](#chapter-03b_effects), too"),
        ("the part `03b_effects`", "the part [`03b_effects`](#chapter-03b_effects)"),
        ("`chapter 3` and `x`", "`chapter 3` and `x`"),
        ("```\nchapter 3\n```", "```\nchapter 3\n```"),
        ("# chapter 3", "# chapter 3"),
        ("chapter 9, section 9.1", "chapter 9, section 9.1"),
        ("[on](03b_effects.ipynb)", "[on](#chapter-03b_effects)"),
        ("[on](03b_effects.ipynb#3b.1-Probes:-watch-(19-minutes))", None),
        ("[on](03b_effects.ipynb#Recap)", "[on](#03b_effects-recap)"),
        ("[out](https://pytorch.org/chapter) 3", "[out](https://pytorch.org/chapter) 3"),
        ("[chapter 3](../tracks.md#chapter-3)", "[chapter 3](../tracks.md#chapter-3)"),
        ("1. Run\n\n   ```\n   chapter 3\n   ```", "1. Run\n\n   ```\n   chapter 3\n   ```"),
        ("[lost](99_nothing.ipynb)", "lost"),
    ],
)
def test_what_prose_refers_to_becomes_a_link(text: str, linked: str | None) -> None:
    if linked is None:  # JupyterLab percent-encodes the parentheses of an anchor
        text = text.replace("(19", "%2819").replace("minutes))", "minutes%29)")
        linked = "[on](#section-3b.1)"
    assert two_chapters().linked(text, "01_tracing") == linked


def test_a_chapter_has_no_link_to_itself() -> None:
    assert two_chapters().linked("chapter 3 and `03_manipulation`", "03_manipulation") == (
        "chapter 3 and `03_manipulation`"
    )


# Contents of a page


def test_what_a_learner_must_find_out_is_folded(home: Path) -> None:
    for name in small_book.CHAPTERS:
        page = built_pages.read(home / "html" / "chapters" / f"{name}.html")
        notebook = nbformat.read(home / "notebooks" / f"{name}.ipynb", as_version=4)
        solutions = [
            cell.source for cell in notebook.cells
            if cell.metadata.get("nbgrader", {}).get("solution")
        ]  # fmt: skip
        assert solutions
        for source in solutions:
            last = [line.strip() for line in source.splitlines() if line.strip()][-1]
            assert last in page.folded and source.splitlines()[0] not in page.seen
        assert " is right." in page.folded and " is right." not in page.seen
        assert "A trap." in page.folded and "A trap." not in page.seen
        assert all(title in page.seen for title in (ANSWER, SOLUTION, DEBRIEF, "Hint 1 of"))
        assert "hidden=True" not in page.seen + page.folded
        assert "progress()" not in page.seen


def test_an_executed_cell_shows_nothing_of_the_machine_that_ran_it() -> None:
    line = "File /home/me/.venv/lib/python3.11/site-packages/torch/fx/proxy.py:5, in f"
    error = new_output("error", ename="TypeError", evalue="no", traceback=[line])
    card = new_output("display_data", {"text/plain": "x", "text/html": "<b>x</b>"})
    cells = [
        new_markdown_cell("# 1 · T"),
        new_code_cell("f()", outputs=[error, card]),
        new_code_cell("progress()"),
    ]
    notebook = new_notebook(cells=cells)
    page = page_of(notebook, headings("01_tracing", notebook), two_chapters())
    assert len(page.cells) == 2
    shown, data = page.cells[1].outputs
    assert shown.traceback == ["File torch/fx/proxy.py:5, in f"]
    assert dict(data.data) == {"text/html": "<b>x</b>"}
    assert notebook.cells[1].outputs[0].traceback == [line]


def test_nothing_is_loaded_from_another_host(home: Path) -> None:
    assert list(built_pages.from_elsewhere(home / "html")) == []


def test_what_is_loaded_from_another_host_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<script src="https://cdn.example/x.js"></script><a href="https://example.org">out</a>'
        "<p style=\"background:url('//h.example/p.png')\"></p><img src='p.png'>"
    )
    (tmp_path / "a.css").write_text("@import 'https://fonts.example/f.css'; b{src:url(f.woff2)}")
    found = list(built_pages.from_elsewhere(tmp_path))
    assert found == ["a.html: https://cdn.example/x.js", "a.html: //h.example/p.png"] + [
        "a.css: https://fonts.example/f.css"
    ]


def test_every_link_within_the_book_leads_somewhere(home: Path) -> None:
    assert list(built_pages.broken(home / "html")) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#there">x</a><a href="#no">x</a>')
    (tmp_path / "b.html").write_text('<h1 id="there">x</h1><a href="c.html">x</a>')
    assert list(built_pages.broken(tmp_path)) == [
        "a.html: #no: no such anchor",
        "b.html: c.html: no such file",
    ]


def test_the_book_can_be_searched(home: Path) -> None:
    text = (home / "html" / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(re.sub(r"^Search\.setIndex\(|\)$", "", text))
    chapter = index["docnames"].index("chapters/14b_sharing")
    places = [at if isinstance(at, list) else [at] for at in index["terms"].values()]
    assert sum(chapter in at for at in places) > 100


# The other pages, without chapters


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages that `fxcourse book --pages` makes."""
    notebooks = [paths.COURSE / f"{path.stem}.ipynb" for path in paths.chapters()]
    return making.make(notebooks, None, tmp_path_factory.mktemp("pages")).parent


def test_every_link_leads_somewhere_without_chapters(others: Path) -> None:
    assert list(built_pages.broken(others)) == []
    assert list(built_pages.from_elsewhere(others)) == []


def test_without_chapters_nothing_is_executed_and_pages_say_so(others: Path) -> None:
    chapter = built_pages.read(others / "chapters" / "03_manipulation.html")
    assert LEFT_OUT.split("`")[0].strip("*") in chapter.seen
    assert "section-3-1" in chapter.ids and "import torch" not in chapter.seen
    messages = built_pages.read(others / "reference" / "errors.html")
    assert "executes nothing" in messages.seen


def test_every_page_of_the_documentation_is_in_the_book(others: Path) -> None:
    written = [path.relative_to(docs_pages.DOCS) for path in docs_pages.pages()]
    assert [path for path in written if not (others / path.with_suffix(".html")).is_file()] == []


def test_the_contents_of_a_page_are_titles_alone(others: Path) -> None:
    text = (others / "chapters" / "03_manipulation.html").read_text(encoding="utf-8")
    found = re.search(r'<nav [^>]*class="page-toc".*?</nav>', text, re.S)
    assert found
    contents = re.sub(r"<[^>]+>|\s+", " ", found[0])
    assert "3.3 Insert a node" in contents and "Delete every dropout" in contents
    assert not re.search("★|minutes|points", contents)
    seen = built_pages.read(others / "chapters" / "03_manipulation.html").seen
    assert re.search(r"3\.3 Insert a node \(\d+ minutes\)", seen)
    assert "· ★★ · 12 minutes · 4 points" in seen


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("3.3 Insert a node (24 minutes)", "3.3 Insert a node"),
        (" · Call another function · ★ · 1 minute · 1 point", " · Call another function"),
        ("2. Grade it (half a minute)", "2. Grade it"),
        ("Call · of 5 minutes", "Call · of 5 minutes"),
        ("2 points", "2 points"),
    ],
)
def test_a_title_alone_has_no_effort(text: str, alone: str) -> None:
    assert title_alone(text) == alone


# Links: from GitHub's form to the book's


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("[`a` b](../../README.md#c)", "`a` b"),
        ("[a](other.md#b) [b](#c)", None),
        ("[a](https://example.org/README.md)", None),
        ("[3](../../course/03_manipulation.ipynb)", None),
        ("[a](../reference/kinds/)", "[a](../reference/kinds/index.md)"),
        ("[a](../sample/03_manipulation.md#b)", "[a](03_manipulation.ipynb)"),
        ("![a](../_static/x.png)", None),
        ("`[a](../../README.md)`", None),
        ("1. Run\n\n   ```\n   [a](../../README.md)\n   ```", None),
        ("<!-- in the book: x -->\n[a](b.md)\n<!-- end -->", "from chapters"),
    ],
)
def test_a_page_in_the_book_has_no_links_out_of_the_documentation(
    text: str, made: str | None
) -> None:
    parts = {"x": "from chapters"}
    assert docs_pages.for_the_book("in/page.md", text, parts) == (made or text)


def test_a_link_to_another_file_leads_to_the_repository_if_it_is_known() -> None:
    address = "https://example.org/a/course"
    text = docs_pages.for_the_book("in/page.md", "[a](../../README.md#b)", {}, address)
    assert text == f"[a]({address}/blob/main/README.md#b)"


def test_a_picture_follows_the_theme() -> None:
    picture = (
        '<picture>\n<source media="(prefers-color-scheme: dark)" srcset="../d.png">\n'
        '<img alt="A card." width="600" src="../l.png">\n</picture>'
    )
    assert docs_pages.for_the_book("page.md", picture, {}) == (
        '<img class="only-light" alt="A card." width="600" src="../l.png">'
        '<img class="only-dark" alt="A card." width="600" src="../d.png">'
    )
    assert docs_pages.for_the_book("page.md", f"```\n{picture}\n```", {}).count("<picture>") == 1


def test_pages_are_in_the_order_of_the_links_to_them() -> None:
    pages = {
        "index.md": "[b](b.md) [how](how/index.md)",
        "a.md": "",
        "b.md": "",
        "how/index.md": "[z](z.md), then [inner](inner/index.md#x)",
        "how/a.md": "",
        "how/z.md": "",
        "how/inner/index.md": "",
    }
    made = with_contents(pages, ["chapters/index.md", "how/inner/x.ipynb"])
    entries = {
        name: re.findall(r"^(?:.* <)?/([\w/]+)>?$", text, re.M) for name, text in made.items()
    }
    assert entries["index.md"] == ["chapters/index", "b", "how/index", "a"]
    assert entries["how/index.md"] == ["how/z", "how/inner/index", "how/a"]
    assert entries["how/inner/index.md"] == ["how/inner/x"]
    assert made["a.md"] == "" and "Chapters </chapters/index>" in made["index.md"]


# Pages composed of other pages


def test_questions_are_those_of_the_tests() -> None:
    told = [(q.number, q.asked, q.text, q.chapter, q.section) for q in questions()]
    assert told == [(q.number, q.asked, q.text, q.chapter, q.section) for q in questions_of_tests()]
    assert len(told) >= 74
    for each in questions():
        compile(each.code, str(each.number), "exec")
        assert "tests" not in each.code


def test_each_question_has_its_section() -> None:
    found = {
        (path.stem, heading.bare)
        for path in paths.COURSE.glob("*.ipynb")
        for heading in headings(path.stem, nbformat.read(path, as_version=4))
    }
    assert [q.number for q in questions() if (q.chapter, q.section) not in found] == []


def test_an_error_message_leads_to_its_section(home: Path) -> None:
    page = built_pages.read(home / "html" / "reference" / "errors.html")
    assert "No module named 'torch.ao'" in page.seen and "more lines" not in page.seen
    assert "questions.html#question-74" in page.links


def test_errors_are_read_from_outputs() -> None:
    expected = {"text/plain": "ValueError: a | b\nmore  (as expected)"}
    raised = new_output("error", ename="TypeError", evalue="at 0x7f12", traceback=[])
    cells = [
        new_markdown_cell("# 1 · T\n\n## 1.1 A"),
        new_code_cell("f()", outputs=[raised, new_output("display_data", expected)]),
    ]
    notebook = new_notebook(cells=cells)
    found = list(errors.of_chapter(notebook, headings("01_tracing", notebook)))
    assert [(one.type, one.message, one.label) for one in found] == [
        ("TypeError", "at 0x…", "section-1.1"),
        ("ValueError", "a | b", "section-1.1"),
    ]
    assert r"| `a \| b` | [1.1 A](#section-1.1) |" in pages.errors_of(found)


def test_the_pages_about_kinds_are_up_to_date() -> None:
    pages = kind_pages()
    assert set(FOLDER.glob("*.md")) == pages.keys()
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, "run 'make build'"


def test_the_glossary_names_sections_that_are_there() -> None:
    numbers = {
        heading.number
        for path in paths.COURSE.glob("*.ipynb")
        for heading in headings(path.stem, nbformat.read(path, as_version=4))
    }
    text = (docs_pages.DOCS / "reference" / "glossary.md").read_text(encoding="utf-8")
    named = re.findall(r"section (\d+[b-z]?\.\d+)", text)
    assert len(named) >= 50 and set(named) <= numbers


def test_what_the_book_needs_is_asked_for_before_anything_is_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "myst_nb", None)
    done = CliRunner().invoke(main.app, ["book"])
    assert str(done.exception).startswith("This needs myst_nb. Install it with: pip install")
    assert done.output == ""


# Catalogues


def test_there_are_catalogues_of_pages_exercises_and_cards(
    home: Path, total: Callable[[str, int], None]
) -> None:
    catalogue.write_all(home)
    found = catalogue.read_all(home / "gettext")
    assert {
        "chapters/02b_lint",
        "chapters/index",
        "reference/glossary",
        "exercises",
        "cards",
        "findings",
    } <= set(found)
    assert len(found["chapters/02b_lint"]) > 100
    assert "Rewrites of a graph module" in found["reference/kinds/rewrite"]
    total("messages in the catalogues of a book of two chapters", sum(map(len, found.values())))


def test_titles_aspects_and_hints_are_in_a_catalogue(tmp_path: Path) -> None:
    from autograder.exercises import EXERCISES

    one = EXERCISES["add_to_mul"]
    catalogue.write(tmp_path / "x.pot", catalogue.of_exercises([one, one]))
    texts = catalogue.read_all(tmp_path)["x"]
    wanted = {one.title, *one.hints, *(aspect.says for aspect in one.all_aspects)}
    assert set(texts) == wanted and len(texts) == len(wanted)


def test_what_cards_say_is_in_a_catalogue() -> None:
    said = [text for text, _ in catalogue.of_cards()]
    assert "You can go on to the next section." in said
    assert "The smallest case that breaks it" in said
    assert len(said) >= 70
    assert not [text for text in said if "margin" in text or "<" in text]


def test_what_is_said_of_answers_is_in_a_catalogue() -> None:
    """Check one text each of the judge, a rule, a key and a case, and every trap."""
    from autograder.builder.debriefs import trap_of
    from autograder.exercises import EXERCISES

    said = {text for text, _ in catalogue.of_findings()}
    assert {
        "What `{exercise.name}` did could not be judged.",
        "`graph.lint()` refuses your graph: {refusal}.",
        "The node made from `{name}` has no `meta[{lost[0]}]`, which `{name}` has.",
        "What does `bad` say of the module that you are given?",
    } <= said
    assert {name for name in EXERCISES if trap_of(name).strip() not in said} == set()
    assert not [text for text in said if "(?:" in text]


# All chapters
