"""Accidental changes to the course's own cells, which must not cost points or count as tampering.

Checks that were timed, printed below, commented out or merged; cells from other chapters; notebooks
that students fetched before an instructor changed something.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.builder.paths import COURSE
from tests.security.unusual_but_honest import RETARGET, Honest, honest
from tests.support.submissions.edits import (
    Edit,
    delete,
    duplicate,
    fill,
    lose_metadata,
    place_of,
    retype,
    set_metadata,
)

CHECK = "check-retarget"


def change(change_text: Callable[[str], str], grade_id: str = CHECK) -> Edit:
    """Change the text of a cell, by default of the check."""

    def edit(nb: NotebookNode) -> None:
        cell = nb.cells[place_of(nb, grade_id)]
        cell.source = change_text(cell.source)

    return edit


def every(change_cell: Callable[[NotebookNode], Any]) -> Edit:
    """Change every cell."""

    def edit(nb: NotebookNode) -> None:
        for cell in nb.cells:
            change_cell(cell)

    return edit


def code(change_text: Callable[[str], str]) -> Edit:
    """Change the text of all code cells."""

    def one(cell: NotebookNode) -> None:
        if cell.cell_type == "code":
            cell.source = change_text(cell.source)

    return every(one)


def graded(change_table: Callable[[dict[str, Any]], Any], *names: str) -> Edit:
    """Change the nbgrader metadata of all cells, or of the named ones."""

    def one(cell: NotebookNode) -> None:
        table = cell.metadata.get("nbgrader")
        if table and (not names or table["grade_id"] in names):
            change_table(table)

    return every(one)


def pasted(chapter: str, *names: str, place: int = 5) -> Edit:
    """Paste cells of another chapter, including their metadata."""

    def edit(nb: NotebookNode) -> None:
        other = nbformat.read(COURSE / f"{chapter}.ipynb", as_version=4)
        nb.cells[place:place] = [copy.deepcopy(other.cells[place_of(other, n)]) for n in names]

    return edit


def merged(first: str, second: str, *, into: str) -> Edit:
    """Merge two cells and keep the metadata of one, as Jupyter does."""

    def edit(nb: NotebookNode) -> None:
        one, two = nb.cells[place_of(nb, first)], nb.cells[place_of(nb, second)]
        text = f"{one.source}\n{two.source}"
        nb.cells[place_of(nb, into)].source = text
        delete(second if into == first else first)(nb)

    return edit


def below(grade_id: str, *cells: NotebookNode) -> Edit:
    """Insert cells below another one."""

    def edit(nb: NotebookNode) -> None:
        at = place_of(nb, grade_id) + 1
        nb.cells[at:at] = copy.deepcopy(list(cells))

    return edit


def in_place_of(grade_id: str, source: str) -> Edit:
    """Replace a cell by a new one without metadata."""

    def edit(nb: NotebookNode) -> None:
        nb.cells[place_of(nb, grade_id)] = new_code_cell(source)

    return edit


def annotated(nb: NotebookNode) -> None:
    """Add a student's note to a locked text."""
    for cell in nb.cells:
        table = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "markdown" and (table.get("locked") or "retarget" in cell.source):
            cell.source += "\n\n*ask about this!*"
            return
    raise ValueError("there is no such text")


def renamed(table: dict[str, Any]) -> None:
    """Give the exercise a name that it had in an earlier release."""
    table["grade_id"] = table["grade_id"].replace("retarget", "replace_calls")


def fewer_points(table: dict[str, Any]) -> None:
    """Lower the points, as in an earlier release; raising them would count as tampering."""
    if "points" in table:
        table["points"] -= 1


def as_text(table: dict[str, Any]) -> None:
    """Write points as text, as some tools do."""
    if "points" in table:
        table["points"] = str(table["points"])


def as_fraction(table: dict[str, Any]) -> None:
    """Write points as floats, as some tools do."""
    if "points" in table:
        table["points"] = float(table["points"])


def by_way_of_3(nb: NotebookNode) -> str:
    """Convert to nbformat 3 and back."""
    return nbformat.writes(nbformat.convert(nbformat.convert(nb, 3), 4))


def by_way_of_script(nb: NotebookNode) -> str:
    """Convert to a script with jupytext and back."""
    import jupytext

    script = jupytext.writes(nb, fmt="py:percent")
    return nbformat.writes(jupytext.reads(script, fmt="py:percent"))


def stripped(nb: NotebookNode) -> str:
    """Remove all metadata, as `nbstripout --extra-keys` does."""
    data = json.loads(nbformat.writes(nb))
    data["metadata"] = {}
    for cell in data["cells"]:
        cell["metadata"] = {}
    return json.dumps(data)


def _check(name: str, does: str, change_text: Callable[[str], str]) -> Honest:
    """A submission in which the text of a check was changed."""
    return honest(f"check-{name}", does, change(change_text))


TRACE = "print(retarget(nn.ReLU(), torch.relu, torch.sigmoid).code)"

SUBMISSIONS = [
    # ---------------------------------------------------------------- the text of a check
    _check("timed", "%%time above a check", lambda t: f"%%time\n{t}"),
    _check("timed-often", "%%timeit above a check", lambda t: f"%%timeit -n1 -r1\n{t}"),
    _check("captured", "%%capture above a check", lambda t: f"%%capture\n{t}"),
    _check("time-line", "%time before a check", lambda t: f"%time {t}"),
    _check("with-print", "a print below a check", lambda t: f"{t}\n{TRACE}"),
    _check("with-print-above", "a print above a check", lambda t: f"print('now')\n{t}"),
    _check("with-semicolon", "a semicolon behind a check", lambda t: f"{t};"),
    _check("with-comment", "a comment behind a check", lambda t: f"{t}  # finally!"),
    _check("with-comment-above", "a comment above a check", lambda t: f"# does it work?\n{t}"),
    _check("with-blank-lines", "blank lines around a check", lambda t: f"\n\n{t}\n\n"),
    _check("with-trailing-blanks", "blanks at the end of a check", lambda t: f"{t}   "),
    _check("commented-out", "a check that was commented out", lambda t: f"# {t}"),
    _check("emptied", "a check that was emptied", lambda t: ""),
    _check("assigned", "the result of a check is kept", lambda t: f"result = {t}"),
    _check("twice", "a check stands there twice", lambda t: f"{t}\n{t}"),
    _check("two-in-one", "two checks in one cell", lambda t: f"{t}\ncheck(add_to_mul)"),
    _check("hidden", "a check with an argument of its own",
           lambda t: t.replace("check(retarget)", "check(retarget, hidden=True)")),
    _check("without-hidden", "a check without the line that is added to it",
           lambda t: "check(retarget)"),
    _check("by-name", "a check of a name in quotes", lambda t: 'check("retarget")'),
    _check("in-if", "a check within if",
           lambda t: "if True:\n" + "\n".join(f"    {line}" for line in t.split("\n"))),
    _check("older", "a check as an older release had it",
           lambda t: "check(retarget)\n# See section 3.1."),
    _check("curly-quotes", "curly quotes in a check",
           lambda t: f"print(“checking”)\n{t}"),
    _check("no-break-spaces", "blanks that do not break", lambda t: f"\u00a0{t}\u00a0"),
    _check("crlf", "line ends of Windows in a check", lambda t: f"{t}\r\n"),
    _check("other-answer", "a check of a neighbouring exercise",
           lambda t: t.replace("retarget", "add_to_mul")),
    _check("hint-instead", "a hint in place of a check", lambda t: "hint('retarget')"),
    # ---------------------------------------------------------------- cells merged, moved, pasted
    honest("merged-down", "an answer merged with the check below it",
           merged("retarget", CHECK, into=CHECK)),
    honest("merged-up", "a check merged with the answer above it",
           merged("retarget", CHECK, into="retarget")),
    honest("merged-with-text", "an answer below a check in one new cell",
           in_place_of("retarget", RETARGET), fill(CHECK, "check(retarget)"), answers={},
           elsewhere=("retarget",)),
    honest("check-copied-to-end", "a check pasted again at the end", duplicate(CHECK, at_end=True)),
    honest("check-deleted", "a check that was deleted", delete(CHECK)),
    honest("check-unlocked", "a check that was unlocked", set_metadata(CHECK, locked=False)),
    honest("check-as-text", "a check that was turned into text", retype(CHECK)),
    honest("check-as-raw", "a check that was turned into a raw cell", retype(CHECK, "raw")),
    honest("check-without-metadata", "a check without its metadata", lose_metadata(CHECK)),
    honest("check-written-anew", "a check that was deleted and typed again",
           in_place_of(CHECK, "check(retarget)")),
    honest("answer-of-other-chapter", "an answer pasted from another chapter",
           pasted("02_nodes", "inputs_of")),
    honest("check-of-other-chapter", "a check pasted from another chapter",
           pasted("02_nodes", "check-inputs_of")),
    honest("exercise-of-other-chapter", "a whole exercise pasted from another chapter",
           pasted("02_nodes", "count_ops", "check-count_ops")),
    honest("exercise-of-later-chapter", "an exercise pasted from a later chapter, at the end",
           pasted("05_proxy", "decompose", "check-decompose", place=10_000)),
    honest("check-between-answers", "own checks between the cells",
           below("retarget", new_code_cell("check(retarget)"), new_markdown_cell("it works!"))),
    honest("answer-below-check", "an answer that stands again below its check",
           below(CHECK, new_code_cell(RETARGET))),
    # ---------------------------------------------------------------- metadata
    honest("points-as-text", "points as text in the metadata", graded(as_text)),
    honest("points-as-fraction", "points as fractions in the metadata", graded(as_fraction)),
    honest("points-of-older-release", "fetched before the points were changed",
           graded(fewer_points, CHECK)),
    honest("points-of-all-older", "fetched before all points were changed", graded(fewer_points)),
    honest("name-of-older-release", "fetched before the exercise was renamed",
           graded(renamed, "retarget", CHECK)),
    honest("checksum-of-older-release", "fetched before checksums were made anew",
           graded(lambda table: table.update(checksum="0" * 32))),
    honest("schema-of-older-release", "fetched from an older nbgrader",
           graded(lambda table: table.update(schema_version=2))),
    honest("graded-by-hand", "a click in Create Assignment: graded by hand",
           set_metadata("retarget", grade=True, points=0)),
    honest("unlocked-everything", "a click in Create Assignment: nothing is locked",
           graded(lambda table: table.update(locked=False))),
    honest("no-metadata-at-all", "all metadata stripped", write=stripped),
    honest("by-way-of-nbformat-3", "converted to nbformat 3 and back", write=by_way_of_3),
    honest("by-way-of-jupytext", "converted to a script and back", write=by_way_of_script),
    honest("text-annotated", "a note within a locked text", annotated),
    # ---------------------------------------------------------------- all cells
    honest("all-crlf", "line ends of Windows within all code",
           code(lambda t: t.replace("\n", "\r\n"))),
    honest("all-trailing-blanks", "blanks at the end of every line of code",
           code(lambda t: "\n".join(f"{line}  " for line in t.split("\n")))),
    honest("all-double-quotes", "double quotes everywhere, as black has them",
           code(lambda t: t.replace("'", '"') if '"' not in t else t)),
    honest("all-tabs", "an empty line at the end of all code", code(lambda t: f"{t}\n")),
]  # fmt: skip
