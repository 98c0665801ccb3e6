"""Statements that hold for some versions of PyTorch are rows of a table."""

from __future__ import annotations

import re

import pytest

from autograder.builder.paths import ROOT, chapters
from autograder.environment.torch_changes import holds, statements

MOST = 20
"""The course teaches FX, and not its history."""


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.13.0+cpu", False),
        ("2.14.0", True),
        ("2.14.1", True),
        ("2.15.0.dev20261101+cpu", False),
        ("2.15.0", False),
        ("2.16.0a0+gitabc", False),
    ],
)
def test_builds_and_previews_count_as_their_version(version: str, expected: bool) -> None:
    assert holds(since="2.14", until="2.15", version=version) is expected
    assert holds(version=version)


def test_a_row_has_a_version_and_a_place() -> None:
    assert 0 < len(statements()) <= MOST
    for row in statements():
        assert row.since or row.until, row
        assert row.says and row.changed and row.told, row


def test_chapters_name_the_versions_of_their_rows() -> None:
    dated = set()
    for path in chapters():
        text = path.read_text(encoding="utf-8")
        section = ""
        for line in text.splitlines():
            if heading := re.match(r"# #+ (?:\d+\w?\.\d+ )?(.+)", line):
                section = f"{path.stem}: {heading[1]}"
            if found := re.search(r"with fails\(.*until=\"([\d.]+)\"", line):
                dated.add((section, found[1]))
    rows = {(place, row.until) for row in statements() for place in row.told if ": " in place}
    assert dated <= rows
    known = {f"{path.stem}: " for path in chapters()}
    for place, _ in rows - dated:
        assert place.startswith(tuple(known)), place


def test_the_page_about_installing_has_the_rows() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    for row in statements():
        when = f"until {row.until}" if row.until else f"since {row.since}"
        assert f"| {row.says} | {when} | {row.changed} |" in page


def test_no_other_file_compares_versions_of_pytorch() -> None:
    files = [*(ROOT / "autograder").rglob("*.py"), *(ROOT / "hunts").rglob("*.py")]
    pattern = re.compile(r"torch\.__version__.*[<>]|[<>].*torch\.__version__|TorchVersion")
    assert [path for path in files if pattern.search(path.read_text(encoding="utf-8"))] == []
