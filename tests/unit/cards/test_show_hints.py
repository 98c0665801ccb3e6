"""Hints, progress, and the HTML elements that they are made of."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from autograder.cards.hints import Hints, NoSuchHint
from autograder.cards.markdown import markdown_html
from autograder.cards.progress import Progress, Row
from autograder.drawing.html import bounded, clean, rich
from autograder.lessons.course_map import course_map
from tests.unit.cards.test_show_card import EXERCISE, HINTS, read


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("no code", "no code"),
        ("a `b` c", "a <code>b</code> c"),
        ("`a` and `b`", "<code>a</code> and <code>b</code>"),
        ("one ` alone", "one ` alone"),
        ("``x`y``", "<code>x`y</code>"),
        ("`<b>` & <i>", "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"),
        ("`", "`"),
        ("", ""),
    ],
)
def test_backticks_become_code(text: str, html: str) -> None:
    assert re.sub(r'<code style="[^"]*">', "<code>", rich(text)) == html


def test_clean_and_bounded() -> None:
    assert clean("a\r\nb\tc\x1b[1;31md\x1b]0;title\x07e") == "a\nb\tcde"
    assert bounded("a\n" * 10, 3) == "a\na\na\n… and 7 more lines"
    assert bounded("x" * 50, 3, width=10) == "x" * 9 + "…"


# ----------------------------------------------------------- hints and progress


def test_hints_are_folded_and_text_reveals_nothing() -> None:
    html = Hints(EXERCISE)._repr_mimebundle_()["text/html"]
    reader = read(html)
    assert reader.tags.count("details") == 3
    summaries = re.findall(r"<summary[^>]*>([^<]*)</summary>", html)
    assert summaries == ["Hint 1 of 3 · where to look", "Hint 2 of 3 · what to use",
                         "Hint 3 of 3 · a skeleton"]  # fmt: skip
    outside = re.sub(r"<details.*?</details>", "", html, flags=re.S)
    text = repr(Hints(EXERCISE))
    for secret in ("new.args", "inserting_after", "for node"):
        assert secret in html and secret not in outside and secret not in text
    assert text == 'relu_after_add has 3 hints. hint("relu_after_add", 1) prints the first.'


def test_one_hint_is_printed_when_it_is_asked_for() -> None:
    assert repr(Hints(EXERCISE, 1)) == "Hint 1 of 3 · where to look\n    Print `new.args`."
    assert "for node" in repr(Hints(EXERCISE, 3))
    assert "details" not in read(Hints(EXERCISE, 3).html()).tags
    for number in (0, 4, -1, "1"):
        with pytest.raises(NoSuchHint, match="3 hints") as caught:
            Hints(EXERCISE, number)  # type: ignore[arg-type]
        assert len(caught.value._render_traceback_()) == 1
    assert "no hints" in repr(Hints(replace(EXERCISE, hints=())))


def test_markdown_of_hints() -> None:
    html = markdown_html(HINTS[1] + "\n\n1. one\n2. two\n\n**bold** <i>\n\n" + HINTS[2])
    reader = read(html)
    assert reader.tags.count("li") == 4 and {"ul", "ol", "strong", "pre"} <= set(reader.tags)
    assert "&lt;b&gt;" in html and "&lt;i&gt;" in html and "```" not in html


ROWS = [
    Row("00_start", "node_names", "The names", 1, "passed"),
    Row("03_manipulation", "retarget", "Call <another>", 1, "failed"),
    Row("03_manipulation", "sound_dce", "Dead code", 3),
    Row("03_manipulation", "add_to_mul", "Additions", 2, "a status of tomorrow"),
]


def test_code_in_a_title_is_shown_as_code() -> None:
    html = Progress([replace(ROWS[0], title="One that keeps `meta`")])._repr_mimebundle_()
    assert re.search(r"One that keeps <code[^>]*>meta</code>", html["text/html"])


def test_progress() -> None:
    progress = Progress(ROWS)
    words = "".join(read(progress._repr_mimebundle_()["text/html"]).words)
    for said in (words, repr(progress)):
        assert "You have passed 1 of 4 exercises." in said and "point" not in said
        assert "1 of 1 passed" in said and "0 of 3 passed" in said
    assert "Call <another>" in words
    assert "retarget" not in repr(progress), "a chapter that is not the current one has one line"
    assert repr(Progress([])) == "There are no exercises yet." and read(
        Progress([])._repr_mimebundle_()["text/html"]
    )


def test_the_next_step_is_in_view_and_only_the_current_chapter_is_open() -> None:
    place = next(
        (chapter, chapter.sections[0])
        for chapter in course_map().chapters
        if chapter.name == ROWS[1].chapter
    )
    progress = Progress(ROWS, place=place, linked=True)
    html = progress._repr_mimebundle_()["text/html"]
    assert re.sub("<[^>]*>", "", html).startswith("Go on here: ")
    assert re.findall(r"<details( open)?", html) == [" open", "", ""]
    buttons = re.findall(r"<summary.*?</summary>", html)
    assert "The other chapters" in buttons[1] and buttons[2].endswith(
        "1 of 1 passed</span></summary>"
    )
    assert len(buttons) == 3 and not any("<a " in each for each in buttons), "a link in a button"
    assert html.count(f"Open {place[0].name}</a>") == 1
    lines = repr(progress).splitlines()
    assert lines[-1].startswith("Go on here: ") and len(lines) == 3 + 3 + 1
    assert "node_names" not in repr(progress) and "✗ retarget" in repr(progress)
    assert re.findall(r"<details( open)?", Progress(ROWS[:1])._repr_mimebundle_()["text/html"]) == [
        " open"
    ]
