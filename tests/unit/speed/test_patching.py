"""A patch replaces a value only if it is the library's own."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.speed.patching import patch_of, source_digest


def test_a_patch_replaces_the_librarys_value_alone() -> None:
    class Library:
        work = "shipped"

    patch = patch_of(Library, "work", "fast")
    patch.apply()
    assert Library.work == patch.now == "fast"
    Library.work = "mine"
    patch.apply()
    assert Library.work == "mine"


def test_an_inherited_name_is_not_patched() -> None:
    class Derived(Path):
        pass

    with pytest.raises(AttributeError, match="'exists'"):
        patch_of(Derived, "exists", None)


def test_line_ends_do_not_change_the_digest_of_a_module(tmp_path: Path) -> None:
    texts = {"a": b"x = 1\ny = 2\n", "b": b"x = 1\r\ny = 2\r\n", "c": b"x = 1\ny = 3\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_bytes(text)
    same, windows, other = (
        source_digest([SimpleNamespace(__file__=tmp_path / f"{name}.py")]) for name in texts
    )
    assert same == windows != other
    assert source_digest([SimpleNamespace(__file__=tmp_path / "none.py")]) == ""
