"""The map of the course is correct: its entries exist, and its tracks can be followed."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from autograder.builder.outputs.course_map import TRACKS, map_text
from autograder.builder.paths import COURSE, chapters
from autograder.builder.problems import BuildRefused
from autograder.exercises import EXERCISES
from autograder.lessons import course_map, drills, predictions
from autograder.lessons.course_map import NoTrack, map_from, time_in_words, track_called

MAP = course_map.course_map()


def test_it_holds_every_chapter_and_every_exercise() -> None:
    assert [each.name for each in MAP.chapters] == [path.stem for path in chapters()]
    assert [name for each in MAP.chapters for name in each.exercises] == list(EXERCISES)


def test_sections_name_cells_predictions_and_drills_that_exist() -> None:
    for chapter in MAP.chapters:
        notebook = nbformat.read(COURSE / f"{chapter.name}.ipynb", as_version=4)
        cells = {cell.id: cell.source for cell in notebook.cells}
        for section in chapter.sections:
            said = f"## {section.number} {section.title} ({section.minutes} minute"
            assert cells[section.cell].startswith(said)
        marks = [mark for section in chapter.sections for mark in section.predictions]
        known = {each.mark for each in predictions().get(chapter.name, {}).values()}
        assert len(set(marks)) == len(marks) and set(marks) <= known
        marks = [mark for section in chapter.sections for mark in section.drills]
        assert marks == [each.mark for each in drills().get(chapter.name, {}).values()]


def test_every_chapter_says_what_it_is_good_for() -> None:
    for chapter in MAP.chapters:
        assert chapter.title and chapter.needs and chapter.minutes % 5 == 0
        assert not chapter.can.endswith(".") and not chapter.can.startswith("you ")
        assert chapter.minutes >= sum(section.minutes for section in chapter.sections) - 10


def test_only_two_sections_of_deep_dives_are_needed_later() -> None:
    """docs/tracks.md states this."""
    needed = {
        (each.number, number)
        for each in MAP.chapters
        if not each.is_deep_dive
        for number in re.findall(r"\b\d+[b-z]\.\d+", each.needs)
    }
    assert needed == {("10", "4b.2"), ("15", "3b.2")}


def test_the_tracks_end_with_what_they_promise() -> None:
    tracks = {track.name: track for track in MAP.tracks}
    assert list(tracks) == [
        "taste", "essentials", "core", "whole", "surgery", "compilers", "testing", "quantization",
    ]  # fmt: skip
    assert tracks["essentials"].exercises[-1] == "relu_to_gelu"
    assert "relu_to_gelu_backend" in tracks["core"].exercises
    assert tracks["whole"].exercises[-1] == "rematerialize"
    assert tracks["surgery"].exercises[-1] == "optimize"
    assert tracks["compilers"].exercises[-1] == "lower"
    main = [each.name for each in MAP.chapters if not each.is_deep_dive]
    whole = [part.chapter.name for part in tracks["whole"].parts if part.is_whole]
    assert whole == main
    assert str(tracks["core"].parts[4]) == "6.1-6.5, 6.7"
    assert str(tracks["whole"].parts[4]) == "3b.2"


def test_a_track_ends_with_a_cell_that_says_what_to_do_next() -> None:
    for track in MAP.tracks:
        chapter = track.parts[-1].chapter
        notebook = nbformat.read(COURSE / f"{chapter.name}.ipynb", as_version=4)
        ends = [cell.source for cell in notebook.cells if re.search(r"\bends? here\b", cell.source)]
        assert sum(f"*{track.title}*" in text for text in ends) == 1, track.title


def test_minutes_of_tracks_are_those_of_their_parts() -> None:
    for track in MAP.tracks:
        whole = sum(part.chapter.minutes for part in track.parts)
        sections = sum(each.minutes for part in track.parts for each in part.sections)
        assert sections <= track.minutes <= whole


@pytest.mark.parametrize("item", ["17", "3.9", "3.1-3.9", "3c", "03", "3.1-4.2", ""])
def test_a_track_with_unknown_content_is_refused(tmp_path: Path, item: str) -> None:
    path = tmp_path / "tracks.toml"
    path.write_text(TRACKS.read_text(encoding="utf-8").replace('"0.1-0.2"', f'"{item}"'))
    with pytest.raises(BuildRefused, match=f"There is no chapter or section '{item}'") as refused:
        map_text(tracks=path)
    line = refused.value.problems[0].line
    assert f'"{item}"' in path.read_text(encoding="utf-8").splitlines()[line - 1]


def test_a_first_cell_that_lacks_a_fact_is_refused(tmp_path: Path) -> None:
    text = chapters()[0].read_text(encoding="utf-8").replace("| **You need** |", "| **Needed** |")
    path = tmp_path / chapters()[0].name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BuildRefused, match="The first cell lacks 'needs'"):
        map_text([path])


def test_equal_sources_give_equal_text() -> None:
    text = map_text()
    assert text == course_map.FILE.read_text(encoding="utf-8")
    assert map_from(text) == MAP


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        (1, "1 minute"),
        (28, "28 minutes"),
        (90, "90 minutes"),
        (100, "1½ hours"),
        (245, "4 hours"),
        (1701, "28½ hours"),
    ],
)
def test_times_in_words(minutes: int, words: str) -> None:
    assert time_in_words(minutes) == words


def test_an_unknown_track_is_named_with_all_that_exist() -> None:
    assert track_called("core").title == "Core"
    with pytest.raises(NoTrack, match="no track 'cor'. Tracks: taste, essentials, core, whole, "):
        track_called("cor")
