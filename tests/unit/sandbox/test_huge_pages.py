"""A fork server moves the memory it shares into large pages, with its contents unchanged."""

from __future__ import annotations

import subprocess
import sys

import pytest

from autograder.sandbox import huge_pages, syscalls
from autograder.sandbox.huge_pages import SIZE

MAPS = f"""\
{SIZE:x}-{4 * SIZE + 4096:x} rw-p 00000000 00:00 0
{5 * SIZE + 4096:x}-{8 * SIZE:x} rw-p 00000000 00:00 0                          [heap]
{9 * SIZE:x}-{9 * SIZE + 4096:x} rw-p 00000000 00:00 0
{10 * SIZE:x}-{12 * SIZE:x} rw-p 00000000 fd:00 77                              /lib/a.so
{13 * SIZE:x}-{15 * SIZE:x} r--p 00000000 00:00 0
"""


def test_only_memory_of_its_own_is_put_together_and_whole_pages_of_it() -> None:
    assert huge_pages._spans(MAPS) == [(SIZE, 4 * SIZE), (6 * SIZE, 8 * SIZE)]


_GATHER = """
from pathlib import Path
from autograder.sandbox.huge_pages import gather
held = [bytes([number % 251]) * 4096 for number in range(8192)]  # 32 MiB
pieces = sum(1 for _ in gather())
assert all(row == bytes([number % 251]) * 4096 for number, row in enumerate(held))
lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
(size,) = (int(line.split()[1]) for line in lines if line.startswith("AnonHugePages"))
print(pieces, size)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="large pages of Linux")
def test_memory_is_what_it_was_and_lies_in_large_pages_where_the_kernel_knows_how() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _GATHER], capture_output=True, text=True, check=True
    )
    pieces, kilobytes = map(int, run.stdout.split())
    if not syscalls._knows_how():
        pytest.skip("this kernel puts no pages together")
    assert pieces > 0 and kilobytes * 1024 >= 8 * SIZE


@pytest.mark.skipif(sys.platform != "linux", reason="large pages of Linux")
def test_memory_that_is_not_there_stops_nothing() -> None:
    assert syscalls.collapse(SIZE, SIZE) == syscalls._knows_how()
