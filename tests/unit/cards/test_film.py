"""Films as HTML and as text: sizes, names of controls, and text that is escaped."""

from __future__ import annotations

import json
import re

import pytest

from autograder.cards.film import MOST_CHARACTERS, Film, film_html
from autograder.drawing.graph_film import MOST_ROWS, film_text
from autograder.drawing.graph_steps import GraphFilm, GraphRow, GraphStep, NodeChange

ROWS = (GraphRow(0, "x", "x"), GraphRow(1, "relu", "relu = torch.relu(x)", (0,)))
LOOP = GraphRow(1, "relu", "relu = torch.relu(relu)", (1,))
FILM = GraphFilm(
    (
        GraphStep(1, 3, "gm = fx.symbolic_trace(model)", ROWS),
        GraphStep(
            1, 7, "old.replace_all_uses_with(relu)", (ROWS[0], LOOP),
            (NodeChange("arguments", 1, ROWS[1].text, LOOP.text),),
        ),
        GraphStep(1, 9, "erase(x)", (LOOP,), (NodeChange("erased", 0, "x", ""),)),
    ),
    total=3,
)  # fmt: skip


def inside(html: str) -> str:
    """The part that a script shows."""
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', html)
    shown: str = json.loads(data)
    return shown


def test_the_text_lists_the_steps_and_the_last_graph() -> None:
    assert repr(Film(FILM)).splitlines() == [
        "Step by step",
        "Step 1 of 3, line 3: gm = fx.symbolic_trace(model)",
        "    the graph has 2 nodes",
        "Step 2 of 3, line 7: old.replace_all_uses_with(relu)",
        "    relu = torch.relu(x) becomes relu = torch.relu(relu)",
        "Step 3 of 3, line 9: erase(x)",
        "    erased: x",
        "",
        "The graph after the last step:",
        "  relu = torch.relu(relu)",
    ]


def test_each_control_has_a_name() -> None:
    shown = inside(film_html(FILM))
    names = re.findall(r'<input type="radio"[^>]* aria-label="([^"]*)"', shown)
    assert names == ["Step 1 of 3, line 3", "Step 2 of 3, line 7", "Step 3 of 3, line 9"]
    assert len(re.findall("<input", shown)) == 3 and shown.count(" checked") == 1
    assert "<legend>Step</legend>" in shown and 'role="status"' in shown
    assert '<div role="group" aria-label="The graph after this step" tabindex="0">' in shown
    assert '<div data-lm-suppress-shortcuts="true">' in film_html(FILM)


def test_a_row_keeps_its_place_and_has_the_mark_of_its_step() -> None:
    svg = inside(film_html(FILM))
    found = re.findall(r'<text data-f="([^"]*)"(?: class="(\w+)")? x="\d+" y="(\d+)">([^<]*)', svg)
    assert found == [
        ("0-1", "", "14", "x"),
        ("0-0", "", "34", "relu = torch.relu(x)"),
        ("1-1", "changed", "34", "~ relu = torch.relu(relu)"),
        ("2-2", "", "34", "relu = torch.relu(relu)"),
        ("2-2", "removed", "14", "- x"),
    ]
    assert re.findall(r'<path data-f="([^"]*)"( class="late")?', svg) == [
        ("0-0", ""), ("1-2", ' class="late"'),
    ]  # fmt: skip


def test_without_scripts_there_is_text_and_nothing_else() -> None:
    html = re.sub(r"<script.*?</script>", "", film_html(FILM), flags=re.S)
    assert set(re.findall(r"<(\w+)", html)) == {"div", "ol", "li", "strong", "code", "br", "pre"}
    assert html.count("<li>") == 3 and "relu = torch.relu(relu)" in html


def test_text_of_a_learner_is_escaped() -> None:
    bad = "</script><img onerror=alert(1)>"
    row = GraphRow(0, bad, bad)
    step = GraphStep(1, 1, bad, (row,), (NodeChange("new", 0, "", bad),))
    html = film_html(GraphFilm((step, step), 2, f"Then `{bad}`."))
    assert "<img" not in html + inside(html)
    assert html.count("</script>") == 2


def long_film(steps: int, rows: int) -> GraphFilm:
    """A film in which each step changes one of many long rows."""
    found = []
    state = [GraphRow(i, f"n{i}", f"n{i} = {'f' * 60}(n{i - 1})", (i - 1,)) for i in range(rows)]
    for at in range(steps):
        old = state[at % rows]
        state[at % rows] = new = GraphRow(old.key, old.name, f"{old.text[:70]}{at}", old.reads)
        change = NodeChange("arguments", old.key, old.text, new.text)
        found.append(GraphStep(1, at + 1, "node.args = " + "x" * 70, tuple(state), (change,)))
    return GraphFilm(tuple(found), steps)


@pytest.mark.parametrize(("steps", "rows"), [(60, 40), (60, 300), (2, 2000)])
def test_a_film_has_a_maximum_size(steps: int, rows: int) -> None:
    film = long_film(steps, rows)
    html = film_html(film)
    assert len(html) <= MOST_CHARACTERS
    tops = set(re.findall(r'<text [^>]*y="(\d+)"', inside(html)))
    assert len(tops) <= MOST_ROWS
    assert f"The picture shows {MOST_ROWS} of {rows} rows." in html or rows <= MOST_ROWS
    assert f"of {steps} steps" in html or html.count("<li>") == steps
    assert len(film_text(film).splitlines()) < 4 * steps + MOST_ROWS + 5
