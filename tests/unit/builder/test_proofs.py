"""Proofs: the build runs them, the learner's notebook omits them, and no cell needs one."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import builder
from autograder.book.chapter_page import PROOF, page_of
from autograder.book.headings import headings
from autograder.book.links import Links
from autograder.builder.minutes import effort
from autograder.builder.outputs.execute import ExecutionFailed, execute
from autograder.builder.proofs import findings, visible_assertions
from autograder.builder.source import read
from tests.support import build_fixture
from tests.support.build_fixture import CARDS, CHAPTER

TRUE = "double = abs(-2) * 2\nassert double == 4"
AT = "# %% [markdown] card"


def with_proof(source: str, before: str = "") -> str:
    """The small chapter with a proof before its first card."""
    cells = f"{before}# %% proof=true\n{source}\n\n"
    return CHAPTER.replace(AT, cells + AT, 1)


def two_chapters(folder: Path) -> tuple[Path, Path]:
    """Write the small chapter without and with a proof, into two folders."""
    paths = folder / "plain", folder / "proved"
    for path in paths:
        path.mkdir()
    return (
        build_fixture.write(paths[0], CHAPTER),
        build_fixture.write(paths[1], with_proof(TRUE)),
    )


def test_only_forms_that_ask_for_proofs_have_them(tmp_path: Path) -> None:
    plain, path = two_chapters(tmp_path)
    assert builder.as_text(builder.build(path, CARDS)) == builder.as_text(
        builder.build(plain, CARDS)
    )
    assert all(cell.source != TRUE for cell in builder.source_notebook(path, CARDS).cells)
    (proof,) = (
        cell
        for cell in builder.source_notebook(path, CARDS, proofs=True).cells
        if cell.source == TRUE
    )
    assert proof.metadata.jupyter == {"source_hidden": True}


def test_a_proof_takes_none_of_a_learners_minutes(tmp_path: Path) -> None:
    plain, path = two_chapters(tmp_path)
    assert effort(read(path)[0], CARDS) == effort(read(plain)[0], CARDS)


def test_a_proof_that_fails_stops_the_build(tmp_path: Path) -> None:
    path = build_fixture.write(tmp_path, with_proof("assert abs(-2) == -2"))
    with pytest.raises(ExecutionFailed, match="AssertionError"):
        execute(builder.source_notebook(path, CARDS, proofs=True))
    execute(builder.source_notebook(path, CARDS))


def test_the_book_folds_a_proof(tmp_path: Path) -> None:
    path = build_fixture.write(tmp_path, with_proof(TRUE))
    notebook = builder.source_notebook(path, CARDS, proofs=True)
    found = list(headings(path.stem, notebook))
    notebook.cells = [cell for cell in notebook.cells if cell.source == TRUE]
    (proof,) = page_of(notebook, found, Links(found)).cells
    assert proof.metadata.tags == ["hide-input"]
    assert proof.metadata.mystnb["code_prompt_show"] == PROOF


@pytest.mark.parametrize(
    ("above", "proof", "below", "message"),
    [
        ("", TRUE, "print(1)", ""),
        ("", TRUE, "print(double)", "'double' is set by a proof"),
        ("", TRUE, "double = 3\nprint(double)", ""),
        ("double = 1", TRUE, "print(double)", "'double' is set by a proof"),
        ("double = 1", "assert double == 1", "print(double)", ""),
        ("", f"import math\n{TRUE}", "print(math.pi)", "'math' is set by a proof"),
        ("", "print(2)", "print(1)", "This proof asserts nothing."),
        ("", "torch.testing.assert_close(1, 1)", "print(1)", ""),
        ("", "with fails(ZeroDivisionError):\n    1 / 0", "print(1)", ""),
        ("", "for n in (1, 2):\n    assert n", "print(n)", "'n' is set by a proof"),
    ],
)
def test_what_other_cells_need_is_not_in_a_proof(
    above: str, proof: str, below: str, message: str, tmp_path: Path
) -> None:
    before = f"# %%\n{above}\n\n" if above else ""
    text = with_proof(proof, before).replace("# %%\npicture", f"# %%\n{below}\n\n# %%\npicture", 1)
    found = [problem.message for problem in findings(read(build_fixture.write(tmp_path, text))[0])]
    assert [one[: len(message)] for one in found] == ([message] if message else [])


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("assert 1\nassert 2",), ""),
        (("assert 1\nassert 2", "assert 3"), "more than 2 visible assertions in a section"),
        (("assert (\n    1\n)",), ""),
        (("assert (\n    1\n    + 1\n)",), "more than 3 lines"),
    ],
)
def test_a_learner_reads_few_assertions(
    cells: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    text = "# %% [markdown]\n# # Numbers\n\n" + "".join(f"# %%\n{cell}\n\n" for cell in cells)
    (path := tmp_path / "00_numbers.py").write_text(text, encoding="utf-8")
    found = [problem.message for problem in visible_assertions(read(path)[0])]
    assert [message in one for one in found] == ([True] if message else [])
