"""Grades a class with attackers in it, and says which attacks did not hold: `make attacks`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path

from tests.attacks import HONEST, all_attacks
from tests.attacks._class import AttackedClass
from tests.attacks._stock import try_stock
from tests.attacks._traces import orphans


def main(words: list[str] | None = None) -> int:
    """Try the attacks; 1 if any did not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    parser.add_argument("names", nargs="*", help="beginnings of attacks' names; all by default")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes grade")
    parser.add_argument("--stock", action="store_true", help="try nbgrader alone, too")
    options = parser.parse_args(words)
    attacks = [a for a in all_attacks() if a.name.startswith(tuple(options.names) or "")]
    if not attacks:
        parser.error("no attack's name begins so")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        attacked = AttackedClass(Path(name), attacks)
        attacked.make()
        found = attacked.grade(options.jobs)
        for who, sentences in {**found.attacks, **found.honest}.items():
            print(f"{who}: {'; '.join(sentences)}")
        for sentence in found.room:
            print(sentence)
        print(f"attacks held: {len(attacks) - len(found.attacks)} of {len(attacks)}")
        kept = len(HONEST) - len(found.honest)
        print(f"honest students who kept all their points: {kept} of {len(HONEST)}")
        if options.stock:
            _compare([a for a in attacks if a.stock], set(found.attacks), Path(name))
    return int(bool(found.attacks or found.honest or found.room))


def _compare(attacks: list, ours: set[str], folder: Path) -> None:
    held, ended = try_stock(folder, attacks, print)
    for pid in orphans():
        os.kill(pid, signal.SIGKILL)
    own = sum(attack.name not in ours for attack in attacks)
    print(f"of {len(attacks)} attacks tried on both: held here {own}, by nbgrader alone {held}")
    print(f"runs of nbgrader alone that ended well: {ended} of {len(attacks)}")


if __name__ == "__main__":
    sys.exit(main())
