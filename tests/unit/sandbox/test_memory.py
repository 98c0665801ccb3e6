"""The memory that a control group gives, in both versions of control groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.sandbox import memory
from autograder.sandbox.resource_limits import MIB


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A folder like /proc/self, for a process in the group /a/b."""
    proc, home = tmp_path / "proc", tmp_path / "groups"
    (home / "a" / "b").mkdir(parents=True)
    proc.mkdir()
    (proc / "mountinfo").write_text(f"30 1 0:26 / {home} rw - cgroup2 cgroup2 rw\n")
    (proc / "cgroup").write_text("0::/a/b\n")
    return proc


def test_the_smallest_limit_of_a_group_and_those_above_it_counts(proc: Path) -> None:
    home, none = proc.parent / "groups", proc.parent / "none"
    machine = memory.limit(proc, none)
    (home / "a/b/memory.max").write_text("max\n")
    assert memory.limit(proc, none) == machine
    (home / "a/memory.max").write_text(f"{768 * MIB}\n")
    assert memory.limit(proc, none) == 768


def test_killed_processes_of_the_group_are_counted(proc: Path) -> None:
    home, none = proc.parent / "groups", proc.parent / "none"
    assert memory.kills(proc, none) == 0
    (home / "a/b/memory.events.local").write_text("low 0\noom 9\noom_kill 2\n")
    assert memory.kills(proc, none) == 2


@pytest.mark.parametrize("group", ["memory/a/b", "memory"], ids=["as a folder", "in a container"])
def test_the_first_version_of_groups_is_read_too(proc: Path, group: str) -> None:
    (proc / "cgroup").write_text("5:cpu,memory:/a/b\n1:name=systemd:/\n")
    home = proc.parent / group
    home.mkdir(parents=True)
    (home / "memory.limit_in_bytes").write_text(f"{512 * MIB}\n")
    (home / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n")
    assert memory.limit(proc, proc.parent / "memory") == 512
    assert memory.kills(proc, proc.parent / "memory") == 3
