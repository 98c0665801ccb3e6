"""Grades a class with attackers in it, and lists the attacks that succeeded: `make attacks`."""

from __future__ import annotations

import argparse
import itertools
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.text import Text

from tests.security.attacks import Attack, all_attacks
from tests.security.attacks._class import AttackedClass, Found, Loss
from tests.security.attacks._stock import try_stock
from tests.security.attacks._traces import orphans
from tests.security.attacks.graph_fuzz import fuzz
from tests.security.unusual_but_honest.__main__ import honest_who_lost

GRAPHS = 100_000
"""Number of graphs that the fuzzer draws if all attacks are tried."""


def main(words: list[str] | None = None) -> int:
    """Try the attacks; return 1 if any succeeded."""
    options = _options(words)
    attacks = chosen(options.only.split(",") if options.only else options.names)
    if not attacks:
        print("No kind is called so, and no attack's name begins so.")
        return 2
    whole = len(attacks) == len(all_attacks())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        attacked = AttackedClass(Path(name), attacks)
        attacked.make()
        found = attacked.grade(options.jobs, say=_on_the_way(len(attacks)))
        if options.stock:
            _compare([a for a in attacks if a.stock], set(found.attacks), Path(name))
    if whole or options.honest:
        lost = honest_who_lost(jobs=options.jobs)
        found.honest |= {who: [Loss("accused", text)] for who, text in lost.items()}
    if whole or options.graphs:
        tally = fuzz(options.graphs or GRAPHS, say=print)
        print(tally)
        found.room += [Loss("ran", f"graph {seed}: {text}") for seed, text in tally.found]
    _tell_accepted(attacks, found)
    for who, losses in {**found.attacks, **found.honest, "the class": found.room}.items():
        for loss in losses:
            print(f"{loss.column}: {who}: {loss.says}")
    counts = found.counts()
    print(f"attacks {len(attacks)}: {', '.join(f'{c} {n}' for c, n in counts.items())}", flush=True)
    return int(any(counts.values()))


def _on_the_way(attacks: int) -> Callable[[str], None]:
    """A function that reports progress on stderr, because grading takes most of an hour."""
    counted = itertools.count(1)
    began = time.monotonic()

    def say(line: str) -> None:
        minutes, told = (time.monotonic() - began) / 60, Text.from_markup(line).plain
        print(
            f"{minutes:5.1f} min, notebook {next(counted)} ({attacks} attacks): {told[:100]!r}",
            file=sys.stderr,
            flush=True,
        )

    return say


def _tell_accepted(attacks: list[Attack], found: Found) -> None:
    """Print the accepted risks that still exist, and remove them from the counts."""
    for name in [attack.name for attack in attacks if attack.accepted]:
        for loss in found.attacks.pop(name, []):
            if loss.column == "gained":
                print(f"a risk that docs/explanation/sandbox.md names: {name}: {loss.says}")
            else:
                found.attacks.setdefault(name, []).append(loss)


def _options(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.security.attacks", description=__doc__)
    parser.add_argument("names", nargs="*", help="beginnings of attacks' names; all by default")
    parser.add_argument("--only", default="", help="the same, between commas; kinds, too")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes grade")
    parser.add_argument("--stock", action="store_true", help="try nbgrader alone, too")
    parser.add_argument("--honest", action="store_true", help="odd but honest work, too")
    parser.add_argument("--graphs", type=int, default=0, help="so many drawn graphs, too")
    return parser.parse_args(words)


def chosen(beginnings: list[str]) -> list[Attack]:
    """The attacks whose names begin with one of these; all of them by default."""
    wanted = tuple(word.strip() for word in beginnings if word.strip())
    return [attack for attack in all_attacks() if not wanted or attack.name.startswith(wanted)]


def _compare(attacks: list, ours: set[str], folder: Path) -> None:
    held, ended = try_stock(folder, attacks, print)
    for pid in orphans():
        os.kill(pid, signal.SIGKILL)
    own = sum(attack.name not in ours for attack in attacks)
    print(f"of {len(attacks)} attacks tried on both: held here {own}, by nbgrader alone {held}")
    print(f"runs of nbgrader alone that ended well: {ended} of {len(attacks)}")


if __name__ == "__main__":
    sys.exit(main())
