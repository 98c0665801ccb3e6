"""The builder refuses a chapter that breaks a rule, and names the line and the fix."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder import builder
from autograder.builder.outputs import exercise_folders
from autograder.cli import main
from tests.support import build_fixture
from tests.support.build_fixture import CARDS, CHAPTER, FixtureCard, cards, line_of

AGAIN = CHAPTER[CHAPTER.index('# %% [markdown] card="again"') :]


def refused(folder: Path, text: str, cards: tuple[FixtureCard, ...] = CARDS) -> list[str]:
    """Return the lines of the builder's refusal of this chapter."""
    path = build_fixture.write(folder, text)
    with pytest.raises(builder.BuildRefused) as caught:
        builder.build(path, cards)
    lines = caught.value.lines()
    assert all(line.startswith(f"{path}:") for line in lines)
    return [line.removeprefix(f"{path}:") for line in lines]


def test_the_fixture_is_not_refused(tmp_path: Path) -> None:
    builder.build(build_fixture.write(tmp_path), CARDS)


CHANGES = {
    # old text, new text, text on the named line, message, and offset of the named line
    "a second card": (
        AGAIN,
        '# %% [markdown] card="after"\n# Here too.\n\n' + AGAIN,
        "# Here too.",
        "comes here for the second time",
        -1,
    ),
    "a second solution": (
        AGAIN,
        '# %% solve="after"  # copy\ndef after(): ...\n' + AGAIN,
        "# copy",
        "which is not a tag",
    ),
    "no check": ('# %% check="again"\ncheck(again)\n', "", 'card="again"', "has no check cell"),
    "no solution": (
        AGAIN[AGAIN.index("# %% solve") : AGAIN.index("# %% check")],
        "",
        'card="again"',
        "has no solve cell",
    ),
    "no card": (AGAIN[: AGAIN.index("# %% solve")], "", 'solve="again"', "has no card cell"),
    "no hint": ('# %% hint="after"\nhint("after")\n', "", 'card="after"', "has no hint cell"),
    "a missing exercise": (AGAIN, "", 'hint="after"', "an exercise 'again' that this chapter"),
    "an unknown exercise": (
        'card="again"',
        'card="agian"',
        'card="agian"',
        "no exercise 'agian' in 07_numbers. Did you mean 'again'?",
    ),
    "an unknown tag": ('hint="after"', 'clue="after"', 'clue="after"', "says 'clue', which is"),
    "a bare word": ('hint="after"', "hint", "# %% hint", "says 'hint', which is not a tag"),
    "no quotes": ('hint="after"', "hint=after", "# %% hint=after", "says 'hint=after', which is"),
    "a number": ('hint="after"', "hint=7", "# %% hint=7", "'hint' does not give a name"),
    "a proof with a name": (
        'raises="ZeroDivisionError"\n1 / 0',
        'proof="after"\nassert True',
        'proof="after"',
        "The tag 'proof' has a value. Write proof=true.",
    ),
    "a proof that is needed": (
        '# %%\npicture = "1 -> 2"\n',
        "# %% proof=true\npicture = 2\nassert picture\n\n# %%\n",
        "print(picture)",
        "'picture' is set by a proof",
        -1,
    ),
    "two tags": (
        'hint="after"',
        'hint="after" raises="ValueError"',
        'hint="after" raises',
        "has more than one tag",
    ),
    "a card of code": (
        '# %% [markdown] card="again"',
        '# %% card="again"',
        '# %% card="again"',
        "is on a code cell. Make it a markdown cell",
    ),
    "a check of prose": (
        '# %% check="again"',
        '# %% [markdown] check="again"',
        'check="again"',
        "is on a markdown cell",
    ),
    "a solution that is not closed": (
        "    return after(number)\n    ### END SOLUTION",
        "    return after(number)",
        "    return after(number)",
        "This 'BEGIN SOLUTION' is not closed",
        -1,
    ),
    "a solution that is not opened": (
        "    ### BEGIN SOLUTION\n    return after",
        "    return after",
        "    return after(number)",
        "This 'END SOLUTION' closes nothing",
        +1,
    ),
    "a solution in a solution": (
        "    secret = _size(number)",
        "    ### BEGIN SOLUTION  # inner\n    secret = _size(number)",
        '    """The number after',
        "This 'BEGIN SOLUTION' is not closed",
        +1,
    ),
    "a marker in another cell": (
        'picture = "1 -> 2"',
        "### BEGIN SOLUTION  # here",
        "# here",
        "in a cell that is not a solve cell",
    ),
    "a heading in code": (
        'picture = "1 -> 2"',
        'picture = "1 -> 2"\n\n# ## 7.9 Forgotten',
        "# ## 7.9 Forgotten",
        "This heading is in a code cell",
    ),
    "hidden tests by hand": (
        'picture = "1 -> 2"',
        "### BEGIN HIDDEN TESTS",
        "HIDDEN TESTS",
        "'BEGIN HIDDEN TESTS' is in a chapter",
    ),
    "no markers": (
        "    ### BEGIN SOLUTION\n    return after(number)\n    ### END SOLUTION\n",
        "    return after(number)\n",
        'solve="again"',
        "marks no solution",
    ),
    "code after the solution": (
        "    return after(number)\n    ### END SOLUTION\n",
        "    return after(number)\n    ### END SOLUTION\n\n\nagain(1)\n",
        'solve="again"',
        "continues below it",
    ),
    "a signature in the solution": (
        'def again(number: int) -> int:\n    """The same as before."""\n    ### BEGIN SOLUTION',
        "### BEGIN SOLUTION\ndef again(number: int) -> int:",
        'solve="again"',
        "defines no 'again'",
    ),
    "another name": ("def again(", "def gain(", 'solve="again"', "defines no 'again'"),
    "a class whose stub raises": (
        "def again(number: int) -> int:",
        "class again:",
        'solve="again"',
        "raises when it is run. Put the markers inside the methods",
    ),
    "a solution without which the rest is no code": (
        '    """The same as before."""\n    ### BEGIN SOLUTION\n',
        '    """The same as before.\n    ### BEGIN SOLUTION\n    """\n',
        '    """The same as before.',
        "this cell is no Python",
    ),
    "a check that does more": (
        "check(again)",
        "check(again); check(after)",
        'check="again"',
        "holds other code. Write check(again) and nothing else",
    ),
    "a hint of another exercise": (
        'hint("after")',
        'hint("again")',
        'hint="after"',
        'Write hint("after") and nothing else',
    ),
    "no title": ("# # Numbers", "# Numbers", "# Numbers", "does not begin with its title", -1),
    "a section within a cell": (
        "# A chapter in miniature.\n",
        "# A chapter in miniature.\n#\n# ## 7.1 Here\n",
        "# ## 7.1 Here",
        "Section 7.1 begins in the middle of a cell",
    ),
    "a section that names its minutes": (
        '# %% [markdown] card="again"',
        '# %% [markdown]\n# ## 7.1 Here (5 minutes)\n\n# %% [markdown] card="again"',
        "# ## 7.1 Here (5 minutes)",
        "names its minutes. Remove them",
    ),
    "another time": (
        "# A chapter in miniature.\n",
        "# | **Time** | about 30 minutes, 15 of them for the exercises |\n",
        "# | **Time** | about 30 minutes",
        "takes 20 minutes, and not 30",
    ),
    "another time for the exercises": (
        "# A chapter in miniature.\n",
        "# | **Time** | about 20 minutes, 15 of them for the exercises |\n",
        "# | **Time** | about 20 minutes",
        "exercises take 16 minutes, and not 15",
    ),
    "a stub outside of the solution": (
        "    return after(number)\n    ### END SOLUTION\n",
        "    return after(number)\n    ### END SOLUTION\n    ### STUB return 1\n",
        "    ### STUB return 1",
        "This stub is in no solution",
    ),
    "code above the first header": (
        "# %% [markdown]\n# # Numbers",
        "import os\n# %% [markdown]\n# # Numbers",
        "import os",
        "does not begin with a cell header",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_broken_chapter_is_refused(tmp_path: Path, change: str) -> None:
    old, new, at, says, *offset = CHANGES[change]
    assert CHAPTER.count(old) == 1
    text = CHAPTER.replace(old, new)
    line = sum(offset, start=line_of(text, at))
    said = refused(tmp_path, text)
    assert any(one.startswith(f"{line}: ") and says in one for one in said), said


@pytest.mark.parametrize("fact", ["title", "stars", "minutes", "points"])
def test_a_card_that_lacks_a_fact_is_refused(tmp_path: Path, fact: str) -> None:
    empty = "" if fact == "title" else 0
    (line,) = refused(tmp_path, CHAPTER, cards(**{fact: empty}))
    place = line_of(CHAPTER, 'card="after"')
    assert line.startswith(f"{place}: The card of 'after' has no {fact}.")


def test_cells_of_an_exercise_in_another_order_are_refused(tmp_path: Path) -> None:
    hint = '# %% hint="after"\nhint("after")\n\n'
    text = CHAPTER.replace(hint, "").replace('# %% solve="after"', hint + '# %% solve="after"')
    (line,) = refused(tmp_path, text)
    assert "Order the cells of an exercise: card, solve, check, hint." in line


def test_exercises_in_another_order_than_their_numbers_are_refused(tmp_path: Path) -> None:
    (line,) = refused(tmp_path, CHAPTER, CARDS[::-1])
    place = line_of(CHAPTER, 'card="again"')
    assert line.startswith(f"{place}: Exercise 'again' has a smaller number than 'after'")


def test_a_header_inside_a_string_is_refused(tmp_path: Path) -> None:
    text = CHAPTER.replace('picture = "1 -> 2"', 'picture = """\n# %% inside\n"""')
    (line,) = refused(tmp_path, text)
    assert "inside a string or a code fence" in line


def test_everything_that_is_wrong_is_named_at_once(tmp_path: Path) -> None:
    text = CHAPTER.replace('hint="after"', 'clue="after"').replace("check(again)", "check(1)")
    said = refused(tmp_path, text, cards(minutes=0))
    assert len(said) == 4
    assert [int(line.partition(":")[0]) for line in said] == sorted(
        int(line.partition(":")[0]) for line in said
    )


# ------------------------------------------------------------------ folders of exercises


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A chapter with one complete exercise, its source, and remains of another exercise."""
    home = tmp_path / "exercises" / "ch07_numbers" / "after"
    home.mkdir(parents=True)
    (home.parent / "__init__.py").write_text('"""Numbers."""\n')
    (home / "__init__.py").write_text('"""The next number."""\n')
    (home / "cases.py").write_text("EXERCISE = 1\n")
    (home / "key.py").write_text("KEY: int = 1\n")
    (home / "redraws.py").write_text("REDRAWS = ()\n")
    (home.with_name("gone") / "__pycache__").mkdir(parents=True)
    build_fixture.write(tmp_path)
    return tmp_path


def missing(folders: Path, *chapters: str) -> list[str]:
    found = exercise_folders.examine(chapters, folder=folders / "exercises", solutions=folders)
    return [line for refusal in found for line in refusal.lines()]


def test_whole_folders_are_not_refused(folders: Path) -> None:
    assert missing(folders) == missing(folders, "07_numbers") == missing(folders, "08_x") == []
    (folders / "exercises" / "ch07_numbers" / "after" / "redraws.py").unlink()
    assert missing(folders) == []


@pytest.mark.parametrize("file", ["__init__.py", "cases.py", "key.py"])
def test_a_missing_part_of_an_exercise_is_named(folders: Path, file: str) -> None:
    path = folders / "exercises" / "ch07_numbers" / "after" / file
    path.unlink()
    for chapters in ((), ("07_numbers",)):
        (line,) = missing(folders, *chapters)
        assert line.startswith(f"{path}:1: Exercise 'after' has no {file}. Write it")


def test_a_missing_init_of_a_chapter_is_named(folders: Path) -> None:
    (folders / "exercises" / "ch07_numbers" / "__init__.py").unlink()
    (line,) = missing(folders)
    assert "The chapter's folder has no __init__.py." in line


def test_a_missing_source_of_a_chapter_is_named(folders: Path) -> None:
    (folders / "07_numbers.py").unlink()
    (line,) = missing(folders)
    assert "07_numbers.py:1: " in line and "their chapter is not there. Write it" in line


@pytest.mark.parametrize(
    ("file", "name"), [("cases.py", "EXERCISE"), ("key.py", "KEY"), ("redraws.py", "REDRAWS")]
)
def test_a_part_that_does_not_define_its_name_is_named(folders: Path, file: str, name: str) -> None:
    path = folders / "exercises" / "ch07_numbers" / "after" / file
    path.write_text("def unfinished(\n")
    assert "1: This is no Python: '(' was never closed." in missing(folders)[0]
    path.write_text("other = 1\n")
    (line,) = missing(folders)
    assert f"{file} does not define {name}. Define {name}: " in line


def test_build_says_what_an_exercise_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks = builder.BuildRefused(Path("key.py"), [builder.Problem(1, "No key.", "Write it.")])
    monkeypatch.setattr(exercise_folders, "examine", lambda chapters: [lacks])
    result = CliRunner().invoke(main.app, ["build", "--check"])
    assert result.exit_code == 1
    assert "key.py:1: No key." in result.output and "up to date" not in result.output


def test_a_cell_that_uses_an_exercise_that_there_is_not(tmp_path: Path) -> None:
    text = CHAPTER + '\n# %% uses="agian"\nprint(again(2))\n'
    (line,) = refused(tmp_path, text)
    assert "There is no exercise 'agian'" in line and "Did you mean 'again'?" in line
