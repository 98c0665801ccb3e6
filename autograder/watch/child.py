"""A process of its own in which a file is checked: ``python -m autograder.watch.child``.

It imports what takes long, and waits for a job as one line of JSON. What came of it is written to
a file; then the page with the picture. It can be stopped at any moment.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from pathlib import Path

from autograder.watch.job import Job


def main(modules: list[str]) -> None:
    """Do one job.

    Args:
        modules: what to import while there is nothing to do.
    """
    from autograder.watch import check_file  # it imports PyTorch and the exercises

    for module in modules:
        with contextlib.suppress(Exception):  # the file itself says what is wrong with it
            importlib.import_module(module)
    line = sys.stdin.readline()
    if not line:
        return  # nobody waits any more
    job = Job(**json.loads(line))
    # An answer that asks for input gets an end of file, and does not wait.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path.insert(0, str(Path(job.file).parent))
    page = check_file.do(job)
    sys.stdout.flush()
    if page is not None:
        check_file.write_page(page, Path(job.page))


if __name__ == "__main__":
    main(sys.argv[1:])
