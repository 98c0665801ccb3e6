"""A dozen attacks that are graded in the sandbox among honest students gain nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.security.attacks import all_attacks
from tests.security.attacks._class import AttackedClass

DOZEN = (
    "claiming-no-runs",
    "draining-semaphores",
    "equality-result",
    "escaping-signals",
    "escaping-unshare",
    "exhausting-daemon",
    "exhausting-heap",
    "faking-eval",
    "faking-quantized",
    "files-pipe-beside",
    "leaking-printed",
    "notebooks-magic-lines",
    "pages-html",
    "patching-displayhook",
    "prying-memory",
    "rebuilding-frame",
)
"""One or two of each kind, chosen because a small change would let them through."""


@pytest.mark.xdist_group("attacks")
def test_a_dozen_attacks_gain_nothing(tmp_path: Path) -> None:
    attacked = AttackedClass(tmp_path, [a for a in all_attacks() if a.name in DOZEN])
    assert len(attacked.attacks) == len(DOZEN)
    attacked.make()
    found = attacked.grade(jobs=1)
    assert (found.attacks, found.honest, found.room) == ({}, {}, [])
