"""A learner's first steps, on any system: `python -m tests.support.learners_path`.

Run the first chapter in a kernel three times: unchanged, with a right answer, and with a wrong one.
Each time the check must give the correct verdict and show a card. The script needs only what
learners install, so it also runs without make, sandbox and browser: on macOS and Windows.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass

import nbformat
from nbclient import NotebookClient

from autograder.builder.paths import COURSE

CHAPTER = COURSE / "00_start.ipynb"
EXERCISE = "node_names"


@dataclass(frozen=True)
class Attempt:
    """An answer and the expected verdict; without code, the answer cell stays unchanged."""

    what: str
    status: str
    codes: tuple[str, ...] = ()
    code: str = ""


ATTEMPTS = (
    Attempt("the chapter as it comes", "failed", codes=("wrong-value",)),
    Attempt(
        "a right answer",
        "passed",
        code="""\
def node_names(model):
    return [node.name for node in fx.symbolic_trace(model).graph.nodes]
""",
    ),
    Attempt(
        "a wrong answer",
        "failed",
        codes=("wrong-value",),
        code="""\
def node_names(model):
    return [n.name for n in fx.symbolic_trace(model).graph.nodes if n.op != "output"]
""",
    ),
)

ASK = f"""\
import json
from autograder import grade
verdict = grade("{EXERCISE}", {EXERCISE})
print(json.dumps([verdict.status, sorted({{finding.code for finding in verdict.findings}})]))
"""


def said(attempt: Attempt) -> tuple[str, tuple[str, ...], bool]:
    """The check's status, the codes of its findings, and whether it shows a card."""
    notebook = nbformat.read(CHAPTER, as_version=4)
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
    if attempt.code:
        cells[EXERCISE].source = attempt.code
    check = cells[f"check-{EXERCISE}"]
    asked = nbformat.v4.new_code_cell(ASK)
    notebook.cells.insert(notebook.cells.index(check) + 1, asked)
    # Windows cannot remove the folder of a kernel that has only just ended.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        # A failed check is an error in its cell; the cells after it must still run.
        client = NotebookClient(
            notebook,
            timeout=300,
            kernel_name="python3",
            allow_errors=True,
            resources={"metadata": {"path": folder}},
        )
        client.execute()
    text = "".join(output.get("text", "") for output in asked.outputs)
    if not text:
        raise SystemExit(f"{attempt.what}: no verdict; the cell gave {asked.outputs}")
    status, codes = json.loads(text.strip().splitlines()[-1])
    card = any("text/html" in output.get("data", {}) for output in check.outputs)
    return status, tuple(codes), card


def main() -> int:
    """Make every attempt; return 1 if a check gave an unexpected verdict."""
    failed = 0
    for attempt in ATTEMPTS:
        status, codes, card = said(attempt)
        well = (status, codes, card) == (attempt.status, attempt.codes, True)
        failed += not well
        found = f" ({', '.join(codes)})" if codes else ""
        print(f"{'ok    ' if well else 'FAILED'}  {attempt.what}: {status}{found}", flush=True)
        if not well:
            print(f"        must be {attempt.status} {attempt.codes}; a card was shown: {card}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
