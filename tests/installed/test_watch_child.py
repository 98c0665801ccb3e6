"""The real `fxcourse watch` command with its real child process, which checks a file."""

from __future__ import annotations

import time
from pathlib import Path

from autograder.builder.outputs.references import solve_sources
from autograder.watch.checker import Checker
from autograder.watch.job import Result

HEAD = "from collections.abc import Callable\nfrom typing import Any\nfrom torch import fx, nn\n"


def test_a_file_is_checked_elsewhere_and_can_be_stopped(tmp_path: Path) -> None:
    file, page = tmp_path / "retarget.py", tmp_path / "page.html"
    file.write_text(
        f"from mine import HELPER\n{HEAD}{solve_sources('03_manipulation')['retarget']}"
    )
    (tmp_path / "mine.py").write_text("HELPER = input\n")  # files import their neighbors
    with Checker(["torch", "no_such_module"]) as checker:
        check = checker.check("retarget", file, page, keys=True, lines=20)
        while not check.is_over:
            time.sleep(0.05)
        found = check.result()
        assert isinstance(found, Result) and found.status == "passed"
        assert "<svg" in page.read_text() and check.process.returncode == 0
        # The file catches every exception that could end it.
        file.write_text("import time\nwhile True:\n    try:\n        time.sleep(600)\n"
                        "    except BaseException:\n        pass\n")  # fmt: skip
        check = checker.check("retarget", file, page, keys=True, lines=20)
        time.sleep(0.2)
        assert check.result() is None and not check.is_over
        checker.stop()
        assert check.process.poll() is not None
        spare = checker._spare or checker._start()
        checker._spare = spare
    assert spare.poll() is not None
