"""Prints all figures, or those that are asked for: ``python -m tests.bench checks random``."""

from __future__ import annotations

import sys

from rich.console import Console

from tests.bench import checks, randoms

PARTS = {"checks": checks.report, "random": randoms.report}


def main() -> None:
    """Print the figures."""
    wanted = sys.argv[1:] or list(PARTS)
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        sys.exit(f"There is no part {unknown[0]!r}; there are {', '.join(PARTS)}.")
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    for name in wanted:
        PARTS[name](console)


if __name__ == "__main__":
    main()
