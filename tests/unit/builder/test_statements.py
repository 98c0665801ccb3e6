"""The lint of statements: a cell must run and assert each claim about code."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import builder
from autograder.builder import statements
from autograder.builder.paths import ROOT
from autograder.builder.source import read
from autograder.builder.statements import findings
from tests.support import build_fixture
from tests.support.build_fixture import CARDS, CHAPTER, line_of

SHOWN = '\n# %%\nassert "relu".upper() == "RELU"\n'
SAYS = "# %% [markdown]\n# `upper()` makes it large."


def chapter_with(folder: Path, *cells: str) -> list[str]:
    """Return the code in claims that no cell executes."""
    place = '# %% [markdown] card="after"'
    text = CHAPTER.replace(place, "\n".join((*cells, "", place)))
    found = findings(read(build_fixture.write(folder, text))[0])
    return [problem.message.split("`")[1] for problem in found]


def test_what_nothing_executes_is_found(tmp_path: Path) -> None:
    assert chapter_with(tmp_path, SAYS) == ["upper()"]
    assert chapter_with(tmp_path, SAYS, '\n# %%\n"relu".upper()\n') == ["upper()"]


@pytest.mark.parametrize(
    "cell",
    [
        SHOWN,
        '\n# %%\nfails(lambda: "relu".upper(1))\n',
        '\n# %% raises="TypeError"\n"relu".upper(1)\n',
        '\n# %%\nimport torch\ntorch.testing.assert_close("relu".upper(), "RELU")\n',
    ],
    ids=["asserted", "fails", "raises", "assert_close"],
)
def test_what_a_cell_asserts_is_executed(tmp_path: Path, cell: str) -> None:
    assert chapter_with(tmp_path, SAYS, cell) == []


def test_each_name_of_a_line_is_looked_for(tmp_path: Path) -> None:
    text = "# %% [markdown]\n# `upper()` is the opposite of `lower()`, as `x` is of `y`."
    assert chapter_with(tmp_path, text, SHOWN) == ["lower()"]


def test_a_beginning_means_every_name_that_begins_so(tmp_path: Path) -> None:
    text = "# %% [markdown]\n# Of `upp…` and `low…` and `3e38 + 1`."
    assert chapter_with(tmp_path, text, SHOWN) == ["low…"]


def test_the_line_is_said(tmp_path: Path) -> None:
    text = CHAPTER.replace("# %%\npicture", f"{SAYS}\n\n# %%\npicture")
    path = build_fixture.write(tmp_path, text)
    (problem,) = findings(read(path)[0])
    assert problem.line == line_of(text, "makes it large")


@pytest.mark.parametrize(
    "text",
    [
        "# [a page](https://pytorch.org) about `lower()`",
        "# ```python\n# `lower()`\n# ```",
        "# `if` and `not` and `x + 1`",
        "# The notebook `02b_lint` is optional.",
        "# `progress()` shows it.",
    ],
    ids=["a link", "a fence", "no name", "a notebook", "of the course"],
)
def test_what_says_nothing_about_code_is_left_alone(tmp_path: Path, text: str) -> None:
    assert chapter_with(tmp_path, f"# %% [markdown]\n{text}") == []


def test_what_another_chapter_asserts_counts_where_the_line_refers_to_it(tmp_path: Path) -> None:
    other = tmp_path / "08_strings.py"
    other.write_text("# %% [markdown]\n# # Strings\n" + SHOWN, encoding="utf-8")
    assert chapter_with(tmp_path, SAYS) == ["upper()"]
    assert chapter_with(tmp_path, SAYS.replace("large", "large: chapter 8")) == []


def test_what_the_tests_hold_is_there() -> None:
    for name, file in statements.HELD_BY_TESTS.items():
        assert name in (ROOT / file).read_text(encoding="utf-8"), (name, file)


def test_the_builder_refuses_one(tmp_path: Path) -> None:
    path = build_fixture.write(
        tmp_path, CHAPTER.replace("# %%\npicture", f"{SAYS}\n\n# %%\npicture")
    )
    with pytest.raises(
        builder.BuildRefused, match=r"Nothing executes the statement about `upper\(\)`"
    ):
        builder.build(path, CARDS)
