"""The same attacks on plain nbgrader, for comparison; only those that do no harm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from autograder.builder import as_text
from autograder.classroom.setup.create import choose
from tests.security.attacks import Attack
from tests.support.submissions import room as rooms

SECONDS = 60
CONFIG = "c = get_config()\nc.CourseDirectory.course_id = 'stock'\n"


def try_stock(
    folder: Path, attacks: list[Attack], say: Callable[[str], None] = lambda text: None
) -> tuple[int, int]:
    """Grade each attacker in a separate run, because one can stop the batch.

    Returns:
        The number of attackers who gained no points, and the number of runs that succeeded.
    """
    room = folder / "stock"
    chapters = sorted({attack.chapter for attack in attacks})
    for chapter, notebook in choose(",".join(chapters)).items():
        (room / "source" / chapter).mkdir(parents=True)
        (room / "source" / chapter / f"{chapter}.ipynb").write_text(as_text(notebook))
    (room / "nbgrader_config.py").write_text(CONFIG)
    for chapter in chapters:
        run = rooms.nbgrader(room, "generate_assignment", chapter, "--create")
        if run.returncode:
            raise RuntimeError(run.stdout[-2000:])
    held = ended = 0
    for attack in attacks:
        attack.put(room, rooms.released(room, attack.chapter))
        well = _autograde(room, attack)
        got = rooms.points(room, attack.chapter).get(attack.id, {})
        most = {name: points for name, (_, points) in attack.points().items()}
        gained = {n: p for n, p in got.items() if p and p > most.get(n, 0) + 1e-6}
        held, ended = held + (not gained), ended + well
        say(f"stock: {attack.name}: {f'gained {gained}' if gained else 'gained nothing'}")
    return held, ended


def _autograde(room: Path, attack: Attack) -> bool:
    words = [sys.executable, "-m", "nbgrader", "autograde", attack.chapter, "--student", attack.id]
    process = subprocess.Popen(
        words, cwd=room, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        return process.wait(SECONDS) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False
