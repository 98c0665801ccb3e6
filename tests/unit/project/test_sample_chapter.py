"""The sample chapter on GitHub is complete, small, and made from the current chapter."""

from __future__ import annotations

import re

from autograder.builder.notebook_forms import build
from autograder.builder.outputs.references import solve_sources
from autograder.builder.paths import SOLUTIONS
from autograder.builder.solution_regions import BEGIN, END, STUB
from pictures import chapter_markdown
from pictures.chapter_markdown import CHAPTER, PAGE, Sample
from pictures.graph_files import graph_pictures

STALE = f"{PAGE.name} is not up to date. Run: make pictures PICTURES_ARGS=chapter"
SAMPLE_BYTES = 2_000_000

_LINK = re.compile(r'(?:src|srcset)="([^"]+)"|\]\((?!https?:)([^)#\s]+)[^)]*\)')

SAMPLE = PAGE.read_text(encoding="utf-8")


def test_the_sample_has_the_code_the_prose_and_the_hints_of_the_chapter() -> None:
    for cell in build(SOLUTIONS / f"{CHAPTER}.py").cells:
        if cell.cell_type == "markdown" or re.match(r"(predict|hint)\(", cell.source):
            for part in chapter_markdown._parts(cell, cell, Sample()):
                stale = [text for text in part.split("\n\n") if text.strip() not in SAMPLE]
                assert stale == [], STALE
        elif not re.match(r"debrief\(|progress\(\)", cell.source):
            assert cell.source in SAMPLE, STALE


def test_links_and_pictures_of_the_sample_are_there() -> None:
    found = [one[1] or one[2] for one in _LINK.finditer(_without_code(SAMPLE))]
    assert len(found) > 20
    missing = [link for link in found if not (PAGE.parent / link).resolve().exists()]
    assert missing == []
    drawn = {path.relative_to(PAGE.parent).as_posix() for path in PAGE.parent.rglob("*.svg")}
    assert drawn <= set(found), "a picture that the page does not show"


def _without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def test_the_sample_has_nothing_that_github_drops() -> None:
    prose = _without_code(SAMPLE)
    assert re.findall(r"<(?:svg|style|script|link|iframe)\b|style=", prose) == []
    assert SAMPLE.count("```") % 2 == 0
    assert prose.count("<details>") == prose.count("</details>") > 20


def test_the_sample_shows_no_folder_of_a_machine() -> None:
    assert re.findall(r"/(?:home|Users|tmp|work|root)/|site-packages|0x[0-9a-f]{6}", SAMPLE) == []


def test_the_sample_shows_no_solution() -> None:
    sources = solve_sources(CHAPTER)
    assert SAMPLE.count(STUB) == len(re.findall(r"^check\(", SAMPLE, re.M)) == len(sources)
    for source in sources.values():
        for solution in re.findall(rf"### {BEGIN}\n(.*?)\s*### {END}", source, re.S):
            assert solution not in SAMPLE


def test_the_sample_is_small() -> None:
    files = [path for path in PAGE.parent.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < SAMPLE_BYTES


# ------------------------------------------------------------------ graphs


def test_a_graph_picture_has_the_colors_of_a_theme_and_no_styles() -> None:
    from torch import fx

    from autograder import draw

    (picture,) = graph_pictures(draw(fx.symbolic_trace(lambda x: x + 1)).html())
    assert picture.alt.startswith("A graph of 3 nodes")
    for theme, text in picture.files.items():
        assert not re.search(r"var\(|color-mix|style=", text), theme
    assert 'fill="#ffffff"' in picture.files["light"]
    assert 'fill="#0d1117"' in picture.files["dark"]


def test_an_output_without_a_picture_gives_none() -> None:
    assert graph_pictures("<pre>This graph is too large.</pre>") == []
