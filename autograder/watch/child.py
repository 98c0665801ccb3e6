"""The process that checks a file: ``python -m autograder.watch.child``.

It imports the slow modules, and waits for a job as one line of JSON. It writes the result to a
file, and then the page with the picture. It can be stopped at any moment.
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
        modules: the modules to import while there is no job.
    """
    from autograder.watch import check_file  # it imports PyTorch and the exercises

    for module in modules:
        with contextlib.suppress(Exception):  # checking the file will show the error
            importlib.import_module(module)
    line = sys.stdin.readline()
    if not line:
        return  # the parent process has ended
    job = Job(**json.loads(line))
    # An answer that reads input gets an end of file, instead of waiting.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path.append(str(Path(job.file).parent))
    page = check_file.do(job)
    sys.stdout.flush()
    if page is not None:
        check_file.write_page(page, Path(job.page))


if __name__ == "__main__":
    main(sys.argv[1:])
