"""Runs one part of the watch: ``python -m autograder.version_watch.child PART``.

Standard output has a line of JSON for each result. What the code under test prints goes elsewhere.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict

from autograder.version_watch.parts import results


def main(part: str) -> None:
    """Run a part, and write its results."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as lines:
        os.dup2(2, 1)  # also for what is printed by code in C, and by other processes
        for result in results(part):
            written = result if isinstance(result, int) else asdict(result)
            print(json.dumps(written), file=lines, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
