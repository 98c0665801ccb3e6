"""The digest of answers is the same in each form of the same work, and differs for other work."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from autograder.submission.repair import read_forgivingly, repair
from autograder.submission.source_cells import SourceCell
from autograder.submission.work_digest import work_of

FOLD = "import torch\n\ndef fold(gm):\n    return clean(gm)\n"
WHY = "Because *both* nodes read it."
HELPER = "def clean(gm):\n    gm.recompile()\n    return gm"

SOURCE_CELLS = {
    cell.name: cell
    for cell in (
        SourceCell("fold", "code", "def fold(gm): ...", None, False, False, True, False, None),
        SourceCell("check-fold", "code", "check(fold)", None, True, True, False, False, 4.0),
        SourceCell("why", "markdown", "Why?", None, False, True, True, False, 2.0),
    )
}
Notebook = dict[str, Any]


def _cell(kind: str, source: str, name: str = "") -> dict[str, Any]:
    metadata = {"nbgrader": SOURCE_CELLS[name].metadata()} if name else {}
    cell = {"id": f"id-{abs(hash(source))}", "cell_type": kind, "metadata": metadata}
    code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return cell | {"source": source.splitlines(keepends=True)} | code


def _notebook() -> Notebook:
    cells = [
        _cell("markdown", "# A chapter"),
        _cell("code", "gm = trace(Net())\nprint(gm.code)"),
        _cell("code", HELPER),
        _cell("code", FOLD, "fold"),
        _cell("code", "check(fold)", "check-fold"),
        _cell("markdown", WHY, "why"),
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _digest(nb: Notebook, write: Callable[[Notebook], str] = json.dumps) -> str:
    parsed, why_unread = read_forgivingly(write(nb).encode())
    repair(parsed, SOURCE_CELLS, why_unread)
    return work_of(parsed)


def _in(nb: Notebook, index: int, change: Callable[[str], str]) -> None:
    nb["cells"][index]["source"] = change("".join(nb["cells"][index]["source"]))


def _run_again(nb: Notebook) -> None:
    for number, cell in enumerate(nb["cells"]):
        if cell["cell_type"] == "code":
            stream = {"output_type": "stream", "name": "stdout", "text": f"{number} again"}
            cell |= {"outputs": [stream], "execution_count": number}


def _save_in_vs_code(nb: Notebook) -> None:
    nb["metadata"] = {"language_info": {"version": "3.12.1"}, "vscode": {"interpreter": {}}}
    for cell in nb["cells"]:
        cell["source"] = "".join(cell["source"])
        cell["metadata"]["vscode"] = {"languageId": cell["cell_type"]}


def _lose_ids(nb: Notebook) -> None:
    nb["nbformat_minor"] = 4
    for cell in nb["cells"]:
        del cell["id"]


def _end_lines_as_windows_does(nb: Notebook) -> None:
    for index in range(len(nb["cells"])):
        _in(nb, index, lambda text: text.replace("\n", "\r\n"))


def _add_trailing_blanks(nb: Notebook) -> None:
    _in(nb, 3, lambda text: "\n".join(f"{line}  " for line in text.split("\n")) + "\n\n")


def _lose_metadata_of_the_answer(nb: Notebook) -> None:
    nb["cells"][3]["metadata"] = {}


def _add_a_note(nb: Notebook) -> None:
    nb["cells"].insert(1, _cell("markdown", "Ask about this in class."))


def _try_something_else(nb: Notebook) -> None:
    _in(nb, 1, lambda text: text.replace("Net()", "OtherNet()") + "\nfold(gm)")


def _change_a_check(nb: Notebook) -> None:
    _in(nb, 4, lambda text: text + "  # passes!")


SAME = [
    _run_again, _save_in_vs_code, _lose_ids, _end_lines_as_windows_does, _add_trailing_blanks,
    _lose_metadata_of_the_answer, _add_a_note, _try_something_else, _change_a_check,
]  # fmt: skip
"""Forms of the same work."""


def _change_one_character(nb: Notebook) -> None:
    _in(nb, 3, lambda text: text.replace("clean(gm)", "clean(gm )"))


def _change_a_written_answer(nb: Notebook) -> None:
    _in(nb, 5, lambda text: text.replace("both", "two"))


def _fix_a_helper(nb: Notebook) -> None:
    _in(nb, 2, lambda text: text.replace("gm.recompile()", "gm.graph.lint()"))


def _define_the_answer_below(nb: Notebook) -> None:
    nb["cells"].insert(4, _cell("code", "fold = better"))


def _patch_what_the_answer_calls(nb: Notebook) -> None:
    nb["cells"].insert(1, _cell("code", "torch.fx.Graph.lint = lambda graph: None"))


def _import_whatever(nb: Notebook) -> None:
    nb["cells"].insert(1, _cell("code", "from helpers import *"))


def _break_a_cell(nb: Notebook) -> None:
    nb["cells"].insert(1, _cell("code", "def clean(gm"))


OTHER = [
    _change_one_character, _change_a_written_answer, _fix_a_helper, _define_the_answer_below,
    _patch_what_the_answer_calls, _import_whatever, _break_a_cell,
]  # fmt: skip
"""Changes that make other work."""


@pytest.mark.parametrize("change", SAME, ids=lambda change: change.__name__)
def test_the_same_work_in_another_form(change: Callable[[Notebook], None]) -> None:
    nb = _notebook()
    change(nb)
    assert nb != _notebook()
    assert _digest(nb) == _digest(_notebook())


def test_another_layout_of_the_file_is_the_same_work() -> None:
    assert _digest(_notebook(), lambda nb: json.dumps(nb, indent=4)) == _digest(_notebook())


@pytest.mark.parametrize("change", OTHER, ids=lambda change: change.__name__)
def test_other_work(change: Callable[[Notebook], None]) -> None:
    nb = _notebook()
    change(nb)
    assert _digest(nb) != _digest(_notebook())


def test_answers_to_a_task_are_in_any_cell() -> None:
    task = SourceCell("task", "markdown", "Do it.", None, True, False, False, True, 3.0)
    digests = []
    for text in ("Done.", "Done!"):
        nb, _ = read_forgivingly(json.dumps(_notebook()).encode())
        nb.cells[1].source = text
        nb.cells[0].source = "Do it."
        nb.cells[0].metadata["nbgrader"] = task.metadata()
        repair(nb, SOURCE_CELLS | {"task": task})
        digests.append(work_of(nb))
    assert digests[0] != digests[1]


@pytest.mark.parametrize(
    "source", ["(" * 5_000, "x = " + "-" * 20_000 + "1", "\0", "a\u2028b", "%run x", "]" * 300]
)
def test_any_answer_has_a_digest(source: str) -> None:
    nb = _notebook()
    _in(nb, 3, lambda text: source)
    assert _digest(nb) != _digest(_notebook())
