"""Every link on the project's pages works, as GitHub shows them."""

from __future__ import annotations

import posixpath
from pathlib import Path

import pytest

from autograder.book import docs_pages
from autograder.book.docs_pages import DOCS
from autograder.builder.paths import ROOT
from tests.support.pages import github_pages

PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
FOLDERS = sorted({path.parent for path in docs_pages.pages()})


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_every_link_leads_somewhere(path: Path) -> None:
    assert list(github_pages.broken(path, ROOT)) == []


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=name)
def test_a_page_needs_nothing_but_github(path: Path) -> None:
    assert github_pages.only_for_sphinx(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_the_first_page_of_a_folder_links_to_the_others(folder: Path) -> None:
    """GitHub has no sidebar, and the book orders its pages by these links."""
    links = github_pages.page(folder / "index.md").links
    linked = {posixpath.normpath(link.partition("#")[0]) for link in links}
    here = {path.name for path in folder.glob("*.md")} - {"index.md"}
    below = {f"{path.parent.name}/index.md" for path in folder.glob("*/index.md")}
    assert (here | below) - linked == set()


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# One `two`: three!\n\n## Same\n\n## Same\n\n[x](#one-two-three) [x](b.md#same-1) `[x](y)`"
        "\n\n[x](a.md#same-1) [x](https://example.org/) ![x](c.png)\n\n```\n[x](y)\n```\n\n"
        '<picture>\n<img alt="" src="d.png">\n</picture>\n\n[x](../out.md)\n'
    )
    (tmp_path / "b.md").write_text('<a id="same"></a>\n\n# Title\n\n[x](a.md) [x](#same)\n')
    assert list(github_pages.broken(tmp_path / "a.md", tmp_path)) == [
        "a.md: b.md#same-1: no such heading",
        "a.md: c.png: no such file",
        "a.md: d.png: no such file",
        "a.md: ../out.md: no such file",
    ]
    assert list(github_pages.broken(tmp_path / "b.md", tmp_path)) == []


def test_what_only_sphinx_understands_is_found() -> None:
    text = (
        "```{toctree}\n```\n\n(label)=\n# T\n\n:::{note}\n:::\n\nSee {ref}`x`.\n\n```python\n```\n"
    )
    assert len(github_pages.only_for_sphinx(text)) == 5
