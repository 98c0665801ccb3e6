"""The builder: the notebook it makes from a chapter, the same each time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator

from autograder import builder
from autograder.builder.card_headings import heading
from autograder.builder.chapter_lint import MOST_WORDS, cards_are_short
from autograder.builder.outputs import generate
from autograder.builder.outputs.origin import without_origin
from autograder.builder.source import read
from tests.support import build_fixture
from tests.support.build_fixture import CARDS


@pytest.fixture
def chapter(tmp_path: Path) -> Path:
    """The fixture chapter's file."""
    return build_fixture.write(tmp_path)


def cells_of(
    notebook: NotebookNode,
) -> dict[str, NotebookNode]:
    """The notebook's cells by id."""
    return {cell.id: cell for cell in notebook.cells}


def test_a_card_gets_its_heading_from_the_exercise(chapter: Path) -> None:
    cells = cells_of(builder.build(chapter, CARDS))
    first, body = cells["card-after"].source.split("\n\n")
    assert first == "### Exercise 7.1 `after` · The next number · ★★ · 15 minutes · 4 points"
    assert body == "**Given** a number. **Return** the next one."
    assert "7.2 `again` · Once more · ★★★ · 1 minute · 1 point" in cells["card-again"].source


@pytest.mark.parametrize(
    ("chapter_name", "label"), [("00_start", "0.1"), ("07_features", "7.1"), ("09b_duels", "9b.1")]
)
def test_an_exercise_has_the_number_of_its_chapter(chapter_name: str, label: str) -> None:
    assert heading(CARDS[0], chapter_name, 1).startswith(f"### Exercise {label} ")


def test_an_optional_part_comes_after_its_chapter(tmp_path: Path) -> None:
    for name in ("10_fusion", "09b_duels", "09_debugging", "__init__", "09-notes", "conftest"):
        (tmp_path / f"{name}.py").touch()
    found = [path.stem for path in builder.chapters(tmp_path)]
    assert found == ["09_debugging", "09b_duels", "10_fusion"]


def test_a_comment_for_the_formatter_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "01_topic.py"
    path.write_text("# %% [markdown]\n# # 1\n\n# %%\nx = [\n    1, 2,\n]  # fmt: skip\nprint(x)\n")
    chapter, notebook = read(path)
    assert chapter.cells[1].source == notebook.cells[1].source == "x = [\n    1, 2,\n]\nprint(x)"


def test_only_stretches_say_that_one_may_move_on(chapter: Path) -> None:
    cells = cells_of(builder.build(chapter, CARDS))
    assert "fine to move on" not in cells["card-after"].source
    assert "fine to move on" in cells["card-again"].source


def test_notebooks_of_the_course_alone_name_their_source(
    chapter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    title = builder.build(chapter, CARDS).cells[0].source  # the form for a class and its students
    assert title.startswith("# Numbers\n") and "solutions/" not in title
    monkeypatch.setattr(generate, "choose", lambda names: [chapter])
    monkeypatch.setattr(generate, "build", lambda path: builder.build(path, CARDS))
    monkeypatch.setattr(generate, "lesson_text", lambda path: "")
    monkeypatch.setattr(generate.exercise_folders, "examine", lambda names: [])
    (text, _) = generate.generate(["07_numbers"]).values()
    (written, *_) = nbformat.reads(text, as_version=4).cells
    assert "generated from `solutions/07_numbers.py`" in written.source
    assert without_origin(written.source) == title  # the form in a workspace


def test_the_source_form_has_solutions_and_hidden_tests(chapter: Path) -> None:
    cells = cells_of(builder.source_notebook(chapter, CARDS))
    assert "secret = _size(number)" in cells["after"].source
    assert cells["check-after"].source.splitlines() == [
        "check(after)",
        "### BEGIN HIDDEN TESTS",
        "check(after, hidden=True)",
        "### END HIDDEN TESTS",
    ]


def test_the_released_form_has_neither(chapter: Path) -> None:
    text = builder.as_text(builder.build(chapter, CARDS))
    for word in ("secret", "_size", "SOLUTION", "HIDDEN", "hidden=True", "jupytext"):
        assert word not in text.replace("hidden=False", "").replace("if hidden", "")
    cells = cells_of(builder.build(chapter, CARDS))
    assert cells["check-after"].source == "check(after)"
    assert cells["after"].source.startswith("def after(number: int) -> int:\n")


def test_fine_print_is_folded_and_the_rest_of_a_card_is_short(tmp_path: Path) -> None:
    card = "# **Given** a number. **Return** the next one.\n"
    text = build_fixture.CHAPTER.replace(card, f"{card}#\n# **Fine print**\n#\n# * Zero, too.\n")
    cells = cells_of(builder.build(build_fixture.write(tmp_path, text), CARDS))
    assert cells["card-after"].source.endswith(
        "**Return** the next one.\n\n<details>\n<summary>Fine print</summary>\n\n* Zero, too.\n\n"
        "</details>"
    )
    assert not list(cards_are_short(read(build_fixture.write(tmp_path, text))[0], CARDS))
    wordy = text.replace("# **Fine print**", "# " + "word " * MOST_WORDS + "\n#\n# **Fine print**")
    (problem,) = cards_are_short(read(build_fixture.write(tmp_path, wordy))[0], CARDS)
    assert "The card of 'after' shows 107 words, and not 100." in problem.message


def test_the_stub_runs_and_says_that_it_is_one(chapter: Path) -> None:
    names: dict[str, object] = {}
    exec(cells_of(builder.build(chapter, CARDS))["after"].source, names)
    with pytest.raises(NotImplementedError):
        names["after"](1)


def test_metadata_is_nbgraders_and_no_more(chapter: Path) -> None:
    notebook = builder.build(chapter, CARDS)
    MetadataValidator().validate_nb(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"
    cells = cells_of(notebook)
    solve, check = cells["after"].metadata, cells["check-after"].metadata
    assert (solve.nbgrader.solution, solve.nbgrader.grade) == (True, False)
    assert (check.nbgrader.grade, check.nbgrader.solution, check.nbgrader.locked) == (
        True,
        False,
        True,
    )
    assert (solve.nbgrader.grade_id, check.nbgrader.grade_id) == ("after", "check-after")
    assert check.nbgrader.points == 4
    assert (solve.deletable, check.deletable, check.editable) == (False, False, False)
    assert "editable" not in solve
    assert solve.nbgrader.checksum and check.nbgrader.checksum


def test_run_all_goes_on_past_checks_and_cells_that_raise(chapter: Path) -> None:
    tagged = [c for c in builder.build(chapter, CARDS).cells if "tags" in c.metadata]
    assert tagged[0].source == "1 / 0"
    assert [c.id for c in tagged[1:]] == ["check-after", "check-again"]


def test_ids_are_unique(chapter: Path) -> None:
    notebook = builder.build(chapter, CARDS)
    assert len(cells_of(notebook)) == len(notebook.cells)


def test_a_cell_more_or_elsewhere_changes_no_other_id(tmp_path: Path) -> None:
    ids = [c.id for c in builder.build(build_fixture.write(tmp_path), CARDS).cells]
    more = build_fixture.CHAPTER.replace(
        "# %% [markdown] card", "# %% [markdown]\n# More.\n\n# %% [markdown] card"
    )
    twice = more.replace("# More.\n", "# More.\n\n# %% [markdown]\n# More.\n", 1)
    for text in (more, twice):
        found = [c.id for c in builder.build(build_fixture.write(tmp_path, text), CARDS).cells]
        assert len(set(found)) == len(found) > len(ids)
        assert [one for one in found if one in ids] == ids


def test_building_twice_gives_the_same_bytes(chapter: Path) -> None:
    for form in (builder.build, builder.source_notebook):
        assert builder.as_text(form(chapter, CARDS)) == builder.as_text(form(chapter, CARDS))


def test_there_are_no_outputs_and_unix_line_ends(chapter: Path) -> None:
    text = builder.as_text(builder.build(chapter, CARDS))
    assert text.endswith("}\n") and not text.endswith("\n\n") and "\r" not in text
    for cell in json.loads(text)["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None


def test_nbgrader_releases_what_the_builder_releases(chapter: Path, tmp_path: Path) -> None:
    """`nbgrader generate_assignment`, configured by the builder, produces the same notebook."""
    source = tmp_path / "course" / "source" / "numbers" / "07_numbers.ipynb"
    source.parent.mkdir(parents=True)
    source.write_text(builder.as_text(builder.source_notebook(chapter, CARDS)), encoding="utf-8")
    (tmp_path / "course" / "nbgrader_config.py").write_text(
        "from autograder.builder import configure\nc = get_config()\nconfigure(c)\n"
    )
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", "numbers"]
    done = subprocess.run(command, cwd=tmp_path / "course", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = tmp_path / "course" / "release" / "numbers" / "07_numbers.ipynb"
    assert json.loads(made.read_text()) == json.loads(
        builder.as_text(builder.build(chapter, CARDS))
    )


# The project's own files


def test_generated_files_are_up_to_date() -> None:
    stale = generate.differing(generate.generate())
    names = ", ".join(path.name for path in stale)
    assert not stale, (
        f"{names}: not what 'make build' generates. Edit solutions/*.py, never these files, "
        "and run 'make build'. (Notebooks in which you worked as a learner differ too.)"
    )


@pytest.mark.parametrize("path", builder.chapters(), ids=lambda path: path.stem)
def test_a_released_chapter_holds_no_solution(path: Path, total) -> None:
    source, released = builder.source_notebook(path), builder.build(path)
    answers = [cell.id for cell in source.cells if _is_answer(cell)]
    for name in answers:
        solution = _region(cells_of(source)[name].source)
        kept = {line.strip() for line in cells_of(released)[name].source.splitlines()}
        leaked = [line for line in solution if line in kept and len(line) > 12]
        assert solution and not leaked, f"{path.name}, cell {name}: {leaked}"
    code = "\n".join(cell.source for cell in released.cells if cell.cell_type == "code")
    assert "hidden=True" not in code and " SOLUTION" not in code
    total("exercises in the notebooks", len(answers))


def _is_answer(cell: NotebookNode) -> bool:
    return cell.metadata.get("nbgrader", {}).get("solution", False)


def _region(source: str) -> list[str]:
    inside, lines = False, []
    for line in source.splitlines():
        if "BEGIN SOLUTION" in line or "END SOLUTION" in line:
            inside = "BEGIN" in line
        elif inside and line.strip():
            lines.append(line.strip())
    return lines


# Writing


@pytest.fixture
def generated(chapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[Path, str]:
    """Generate the fixture's one file, for a separate course folder."""
    folder = tmp_path / "course"
    folder.mkdir()
    monkeypatch.setattr(generate, "COURSE", folder)
    monkeypatch.setattr(generate, "LESSONS", tmp_path / "lessons")
    monkeypatch.setattr(generate, "chapters", lambda: [chapter])
    monkeypatch.setattr(generate, "BUILD", tmp_path / "build")
    return {folder / "07_numbers.ipynb": builder.as_text(builder.build(chapter, CARDS))}


def test_writing_changes_only_what_differs(generated: dict[Path, str]) -> None:
    (path,) = generated
    assert generate.write(generated) == ([path], [])
    assert generate.write(generated) == ([], [])
    assert path.read_bytes().decode() == generated[path]


def test_notebooks_of_chapters_that_are_gone_are_found_and_removed(
    generated: dict[Path, str],
) -> None:
    (path,) = generated
    generate.write(generated)
    old = path.with_name("06_gone.ipynb")
    old.write_text(generated[path], encoding="utf-8")
    assert generate.differing(generated) == [old]
    generate.write(generated)
    assert not old.exists()


def test_work_in_a_notebook_is_kept_when_the_notebook_is_replaced(
    generated: dict[Path, str],
) -> None:
    (path,) = generated
    mine = generated[path].replace("raise NotImplementedError", "return number", 1)
    path.write_text(mine, encoding="utf-8")
    changed, (kept,) = generate.write(generated)
    assert changed == [path]
    assert kept.read_text(encoding="utf-8") == mine
    assert path.read_text(encoding="utf-8") == generated[path]


def test_an_older_build_without_work_is_not_kept(generated: dict[Path, str]) -> None:
    (path,) = generated
    path.write_text(generated[path].replace("miniature", "short"), encoding="utf-8")
    assert generate.write(generated) == ([path], [])


def test_one_chapter_can_be_built_alone() -> None:
    name = builder.chapters()[0].stem
    lesson = generate.LESSONS / f"{name}.json"
    assert list(generate.generate([name])) == [generate.COURSE / f"{name}.ipynb", lesson]
    with pytest.raises(ValueError, match="There is no chapter '99_nothing'"):
        generate.generate(["99_nothing"])
