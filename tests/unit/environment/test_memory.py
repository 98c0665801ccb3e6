"""The memory that chapters need, and the limits of control groups."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.builder.paths import COURSE
from autograder.environment import memory


def test_later_chapters_need_more() -> None:
    assert memory.needed(["03_manipulation"]) == 0.72
    assert memory.needed(["03_manipulation", "07_features"]) == 1.36
    assert memory.needed([path.stem for path in COURSE.glob("*.ipynb")]) == 1.72


@pytest.mark.parametrize(("chapter", "other"), [("00_start", "03"), ("08b_shapes", "07")])
def test_a_chapter_that_was_not_measured_counts_as_another(chapter: str, other: str) -> None:
    expected = [memory.needed([other])] if chapter > "03" else [memory.needed(["15"])]
    assert [memory.needed([chapter])] == expected


def test_the_limit_has_a_margin() -> None:
    limits = [memory.server_limit([name]) for name in ("03_a", "07_b", "15_c")]
    assert limits == [1.5, 2.0, 2.5]


def groups(home: Path, line: str, files: dict[str, str]) -> tuple[Path, Path]:
    """A list of groups with this line, and a file system of groups with these files."""
    (home / "cgroup").write_text(f"{line}\n", encoding="utf-8")
    for name, text in files.items():
        path = home / "mounted" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return home / "cgroup", home / "mounted"


def test_the_limit_of_a_pod(tmp_path: Path) -> None:
    found = groups(tmp_path, "0::/", {"memory.max": "1500000000\n"})
    assert memory.limit(*found) == 1.5


def test_the_least_limit_of_all_parents(tmp_path: Path) -> None:
    files = {"a/b/memory.max": "max\n", "a/memory.max": "768000000\n", "memory.max": "max\n"}
    assert memory.limit(*groups(tmp_path, "0::/a/b", files)) == 0.77


def test_groups_of_version_1(tmp_path: Path) -> None:
    files = {
        "memory/a/memory.limit_in_bytes": "2000000000",
        "memory/a/memory.oom_control": "oom_kill 2\n",
    }
    for controllers in ("memory", "cpu,memory"):
        found = groups(tmp_path, f"4:{controllers}:/a", files)
        assert memory.limit(*found) == 2.0 and memory.times_used_up(*found) == 2


def test_a_machine_without_a_limit(tmp_path: Path) -> None:
    found = groups(tmp_path, "4:memory:/", {"memory/memory.limit_in_bytes": str(2**63 - 4096)})
    (tmp_path / "vmstat").write_text("pgfault 9\noom_kill 3\n", encoding="utf-8")
    assert memory.limit(*found) is None
    assert memory.times_used_up(*found, tmp_path / "vmstat") == 3
    assert memory.limit(tmp_path / "none", tmp_path) is None
    assert memory.times_used_up(tmp_path / "none", tmp_path, tmp_path / "none") == 0


def test_a_sandbox_that_reaches_its_own_limit_does_not_count(tmp_path: Path) -> None:
    files = {
        "memory.max": "2000000000",
        "memory.events": "oom 5\noom_kill 5\n",
        "memory.events.local": "oom 1\noom_kill 4\n",
    }
    assert memory.times_used_up(*groups(tmp_path, "0::/", files)) == 1


def test_the_sentence_names_both_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "times_used_up", lambda: 4)
    monkeypatch.setattr(memory, "limit", lambda: 0.77)
    assert memory.explain(4) == ""
    said = memory.explain(3)
    assert "0.77 GB may be used here" in said and "needs 1.5 GB" in said


@pytest.mark.skipif(os.name == "nt", reason="control groups are Linux's")
def test_this_machine_can_be_asked() -> None:
    given = memory.given()
    assert given is not None and given > 0.1
    assert memory.limit() is None or memory.limit() >= given
    assert memory.times_used_up() >= 0
