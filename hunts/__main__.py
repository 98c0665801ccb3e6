"""Hunts for bugs in PyTorch's own passes: ``python -m hunts --minutes 5 --seed 1``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from rich.console import Console
from rich.status import Status
from rich.table import Table

from hunts.known import BUGS
from hunts.suspects import SUSPECTS
from hunts.upstream import UpstreamHunt
from hunts.vocabularies import OWN, of_exercises


def main() -> None:
    """Hunt, and print the findings."""
    wanted = _arguments(sys.argv[1:])
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False, emoji=False)
    suspects = [s for s in SUSPECTS if not wanted.only or any(w in s.name for w in wanted.only)]
    if not suspects:
        names = ", ".join(suspect.name for suspect in SUSPECTS)
        sys.exit(f"There is no such pass; there are: {names}.")
    vocabularies = {**OWN, **({} if wanted.own else of_exercises())}
    if wanted.kinds:
        vocabularies = {n: v for n, v in vocabularies.items() if any(k in n for k in wanted.kinds)}
    if not vocabularies:
        sys.exit(f"There is no such vocabulary; there are: {', '.join([*OWN, *of_exercises()])}.")
    hunt = UpstreamHunt(suspects, BUGS, vocabularies, wanted.seed)
    until = time.perf_counter() + 60 * wanted.minutes
    torch.set_num_threads(1)
    with _Progress(console) as show:
        try:
            for state in hunt.steps(lambda: time.perf_counter() < until):
                show(state)
        except KeyboardInterrupt:
            console.print("Stopped; this is what there is so far.")
    report(hunt, console)


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m hunts", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="how long (5)")
    parser.add_argument("--seed", type=int, default=0, help="where to begin (0)")
    parser.add_argument("--only", nargs="*", default=[], help="passes whose names hold this")
    parser.add_argument("--kinds", nargs="*", default=[], help="vocabularies whose names hold this")
    parser.add_argument(
        "--own", action="store_true", help="without the vocabularies of the exercises"
    )
    return parser.parse_args(words)


class _Progress:
    """Prints the progress of a hunt from time to time, in a terminal on one line."""

    def __init__(self, console: Console) -> None:
        self.console, self.last = console, time.perf_counter()
        terminal = console.is_terminal
        self.status: AbstractContextManager[object] = (
            Status("Hunting ...", console=console) if terminal else nullcontext()
        )

    def __enter__(self) -> Callable[[UpstreamHunt], None]:
        self.status.__enter__()
        return self.show

    def __exit__(self, *error: object) -> None:
        self.status.__exit__(*error)  # type: ignore[arg-type]

    def show(self, hunt: UpstreamHunt) -> None:
        """Print the progress, unless it was printed recently."""
        now = time.perf_counter()
        if now - self.last < (0.5 if isinstance(self.status, Status) else 30):
            return
        self.last = now
        if isinstance(self.status, Status):
            self.status.update(_so_far(hunt))
        else:
            self.console.print(_so_far(hunt))


def _so_far(hunt: UpstreamHunt) -> str:
    return (
        f"{hunt.drawn} models, {hunt.drawn / max(hunt.seconds, 1e-9):.0f} a second; "
        f"{len(hunt.hits)} of {len(hunt.bugs)} known bugs found again, {len(hunt.new)} new"
    )


def report(hunt: UpstreamHunt, console: Console) -> None:
    """Print the figures of each pass, the known bugs that were found again, and the new ones."""
    table = Table("pass or transport", box=None, padding=(0, 2, 0, 0))
    for heading in ("models", "known bugs", "refused", "new"):
        table.add_column(heading, justify="right")
    for name, tally in hunt.tallies.items():
        figures = (tally.tried, tally.known, tally.refused, len(tally.new))
        table.add_row(name, *map(str, figures))
    console.print(table)
    known = Table("known bug", "upstream", box=None, padding=(0, 2, 0, 0))
    for heading in ("failing models", "first at model"):
        known.add_column(heading, justify="right")
    for bug in hunt.bugs:
        issues = " ".join(f"#{number}" for number in bug.issues)
        first = str(hunt.first.get(bug.name, "-"))
        known.add_row(bug.name, issues, str(hunt.hits[bug.name]), first)
    console.print(known)
    for finding in hunt.new:
        kind = "wrong in silence" if finding.silent else "raises"
        console.print(f"\n[bold]new, {kind}[/bold]: {finding.suspect}", highlight=False)
        console.print(f"({finding.model.vocabulary}) {finding.failure.says}", markup=False)
        console.print(finding.model.source, markup=False)
    useless = ", ".join(f"{count} {words}" for words, count in hunt.useless.most_common(4))
    console.print(f"models that could not be used: {sum(hunt.useless.values())} ({useless})")
    console.print(
        f"shrinking: {hunt.shrinking.tried} smaller models in {hunt.shrinking.seconds:.1f} s"
    )
    console.print(
        f"{hunt.drawn} models drawn, {hunt.tried} pairs of a model and a pass tried in "
        f"{hunt.seconds:.0f} s: {hunt.drawn / max(hunt.seconds, 1e-9):.1f} models a second, "
        f"{hunt.tried / max(hunt.seconds, 1e-9):.0f} pairs a second"
    )
    console.print(
        f"known bugs found again: {len(hunt.hits)} of {len(hunt.bugs)}; new: {len(hunt.new)}"
    )


if __name__ == "__main__":
    main()
