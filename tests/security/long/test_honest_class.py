"""A dozen unusual but honest submissions that are graded in the sandbox lose nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.security.test_honest import EVERYONE
from tests.security.unusual_but_honest.__main__ import grade, losses, make_room

SOME = (
    "an-object awaits checks-moved class-answers displays doubles file-bom file-colab folder-tmp "
    "run-file threads warns-when-called"
).split()
"""One of each kind; `make attacks` grades all of them."""


def test_a_dozen_lose_nothing(tmp_path: Path) -> None:
    pytest.importorskip("autograder.classroom.grading.grade_class")
    some = [one for one in EVERYONE if one.student in SOME]
    make_room(tmp_path / "class", some)
    said = grade(tmp_path / "class")
    assert dict(losses(tmp_path / "class", some, said)) == {}
