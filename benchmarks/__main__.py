"""Prints all figures, or the parts named: ``python -m benchmarks checks random``."""

from __future__ import annotations

import sys

from rich.console import Console

from benchmarks import (
    checks,
    grading,
    grading_commits,
    grading_kills,
    grading_size,
    parts,
    randoms,
)

ALONE = {
    "throughput": grading.throughput,
    "commits": grading_commits.report,
    "size": grading_size.report,
    "kills": grading_kills.report,
    "beside": grading_kills.report_beside,
}
"""The parts of ``grading``, which can also be run one by one."""


def _grading(console: Console) -> None:
    """Print all tables about grading."""
    for part in ALONE.values():
        part(console)


PARTS = {"checks": checks.report, "random": randoms.report, "grading": _grading}
"""The parts that run by default."""


def main() -> None:
    """Print the figures."""
    known = PARTS | ALONE | {"parts": parts.report}
    wanted = sys.argv[1:] or list(PARTS)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"There is no part {unknown[0]!r}; there are {', '.join(known)}.")
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False, emoji=False)
    for name in wanted:
        known[name](console)


if __name__ == "__main__":
    main()
