"""The overview of the index: small, without scripts, and every link leads to a cell."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

import autograder
from autograder.builder.paths import COURSE
from autograder.cards.overview import Overview, exercises_text
from autograder.lessons.course_map import course_map
from autograder.lessons.standing import Standing
from tests.unit.cards.test_show_card import read

LARGEST = 21_000
"""Maximum size of the overview's HTML in the index, in bytes."""

NEW = Standing(course_map(), {}, ())
SOME = replace(NEW, verdicts=dict.fromkeys(NEW.exercises[:11], "passed"))
ALL = replace(NEW, verdicts=dict.fromkeys(NEW.exercises, "passed"))


def html_of(standing: Standing) -> str:
    return Overview(standing)._repr_mimebundle_()["text/html"]


def words_of(standing: Standing) -> str:
    return "".join(read(html_of(standing)).words)


def test_it_is_small_wherever_a_learner_is(total) -> None:
    sizes = []
    for count in range(len(NEW.exercises) + 1):
        verdicts = dict.fromkeys(NEW.exercises[:count], "passed")
        sizes.append(len(html_of(replace(NEW, verdicts=verdicts)).encode()))
    assert max(sizes) < LARGEST
    total("bytes of HTML in the largest index", max(sizes))


@pytest.mark.parametrize("standing", [NEW, SOME, ALL], ids=["new", "some", "all"])
def test_it_has_no_scripts_and_every_link_leads_to_a_cell(standing: Standing) -> None:
    html = html_of(standing)
    assert set(read(html).tags) <= {
        "div", "strong", "a", "u", "code", "span", "details", "summary", "br",
    }  # fmt: skip
    ids = {
        path.name: {cell.get("id") for cell in nbformat.read(path, as_version=4).cells}
        for path in COURSE.glob("*.ipynb")
    }
    live = Overview(standing, live=True)._repr_mimebundle_()["text/html"]
    assert live.startswith(html) and live.count("<script>") == 1
    targets = re.findall(r'href="([^"]*)"', html)
    assert len(targets) >= len(NEW.exercises) + len(NEW.course.chapters) - 1
    for target in targets:
        name, _, cell = target.partition("#cell-id=")
        assert not cell or cell in ids[name], target


def test_it_begins_or_goes_on() -> None:
    for said in (words_of(NEW), repr(Overview(NEW))):
        assert "Begin here: 0.1 Your first green card" in said and "Go on" not in said
        assert "You have passed 0 of 90 exercises." in said
    for said in (words_of(SOME), repr(Overview(SOME))):
        assert "Go on: 3.3 Insert a node" in said and "Begin here" not in said
    # The last section of the course has no exercise, so the overview keeps pointing to it.
    assert "You have passed 90 of 90 exercises." in words_of(ALL)


def test_it_shows_tracks_sections_and_chapters() -> None:
    words = words_of(SOME)
    assert re.search(
        r"Essentials · [\d½]+ hours · 7 of 9 · 0, 1\.1-1\.4, 2\.1-2\.4, 3\.1-3\.4", words
    )
    assert re.search(r"3\.1 Trace, edit, recompile · \d+ min · 1 exercise · ✓ done", words)
    assert re.search(r"▸ 3\.3 Insert a node · \d+ min · 1 exercise(?! · ✓)", words)
    assert re.search(r"2 · The IR: six kinds of node · \d+ min · 4 of 4", words)
    assert words.count("3 · Direct manipulation") == 1  # only its sections are shown
    text = repr(Overview(SOME))
    assert re.search(r"^Essentials +[\d½]+ hours  \[#{15}\.{5}\]  7 of 9$", text, re.M)
    assert re.search(r"^> 3\.3 Insert a node · \d+ min · 1 exercise$", text, re.M)
    assert "(deep dive)" in text and "`" not in text


def test_a_track_leads_to_where_a_learner_goes_on_in_it() -> None:
    def leads_to(standing: Standing) -> dict[str, str]:
        places = {track.name: standing.place_on(track) for track in standing.course.tracks}
        return {name: place[1].number if place else "" for name, place in places.items()}

    assert {leads_to(NEW)[name] for name in ("taste", "essentials", "core", "whole")} == {"0.1"}
    assert leads_to(NEW)["quantization"] == "14.1" and leads_to(NEW)["testing"] == "3b.1"
    assert leads_to(SOME) == {
        **leads_to(NEW), "taste": "0.2", "essentials": "3.3", "core": "3.3", "whole": "3.3",
    }  # fmt: skip
    track = next(each for each in NEW.course.tracks if each.name == "testing")
    done = replace(NEW, verdicts=dict.fromkeys(track.exercises, "passed"))
    assert done.place_on(track) is None or done.place_on(track)[1].exercises == ()
    link = re.search(r'<a href="([^"]*)"><u>Quantization<', html_of(NEW))
    assert link and link[1].startswith("14_quantization.ipynb#cell-id=")


def test_it_says_where_to_get_help(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "the page Get help (docs/help.md) says where to ask" in words_of(NEW)
    monkeypatch.setattr(
        "autograder.environment.versions._address", lambda label: "https://a.b/docs/index.md"
    )
    assert 'href="https://a.b/docs/help.md"' in html_of(NEW)


def test_titles_show_code_as_code() -> None:
    here = replace(NEW, verdicts={"node_names": "passed", "node_table": "failed"})
    assert "the <code>GraphModule</code>" in html_of(here)
    assert "the GraphModule" in repr(Overview(here))


def test_folds_hold_what_is_not_needed_at_once() -> None:
    outside = re.sub(r"<details>.*?</details>", "", html_of(SOME), flags=re.S)
    assert "fxcourse update" not in outside and "WitnessByName" not in outside
    assert "3b · " not in outside and "Quantization" not in outside.replace("14 · Quantization", "")
    assert "5 · Proxy and retracing" in outside


def test_learners_call_it_by_its_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the folder of the test may hold a learner's progress
    autograder.overview()
    assert "You have passed 0 of 90 exercises." in capsys.readouterr().out
    assert callable(autograder.overview)  # no module of that name hides it


def test_all_exercises_as_text() -> None:
    lines = exercises_text(SOME).splitlines()
    assert len(lines) == len(NEW.course.chapters)
    assert "✓ retarget" in lines[4] and "○ relu_after_add" in lines[4]
