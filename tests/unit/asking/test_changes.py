"""Changes of one line: they are distinct, and no cell that can reach files is changed."""

from __future__ import annotations

import ast
from random import Random

import pytest

from autograder.asking.changes import changes_of
from autograder.asking.code import Code, definitions

CELL = """\
import torch
from torch import fx


def answer(model, limit=2):
    gm = fx.symbolic_trace(model)
    found = []
    for node in list(gm.graph.nodes):
        if node.op == "call_function" and not node.users:
            found.append(node)
        found = found[:limit + 1]
    gm.recompile()
    return gm
"""


def test_changes_are_distinct_and_change_one_line() -> None:
    changes = changes_of(Code("answer", CELL), Random(1))
    trees = {ast.dump(ast.parse(change.cell)) for change in changes}
    assert len(trees) == len(changes) > 8
    assert ast.dump(ast.parse(CELL)) not in trees
    old = CELL.splitlines()
    for change in changes:
        new = change.cell.splitlines()
        lines = [at for at, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b]
        assert lines == ([change.line, change.other] if change.other else [change.line])


def test_the_order_depends_on_the_seed_alone() -> None:
    def cells(seed: int) -> list[str]:
        return [change.cell for change in changes_of(Code("answer", CELL), Random(seed))]

    assert cells(1) == cells(1) != cells(2)


@pytest.mark.parametrize(
    "line",
    [
        "import os", "import shutil", "from pathlib import Path", "import subprocess as sp",
        "from torch import os", "open('a')", "torch.save({}, 'a')", "import numpy", "eval('1')",
    ],
)  # fmt: skip
def test_a_cell_that_can_reach_files_is_not_changed(line: str) -> None:
    assert changes_of(Code("answer", f"{line}\n{CELL}"), Random(1)) == []
    assert changes_of(Code("answer", CELL, before=line), Random(1)) == []


def test_comments_and_layout_do_not_count() -> None:
    other = CELL.replace("    gm.recompile()", "    # a comment\n    gm.recompile( )")
    assert Code("answer", CELL).digest == Code("answer", other).digest
    assert Code("answer", CELL).digest != Code("answer", CELL.replace("limit=2", "limit=3")).digest


def test_lines_that_only_do_something_are_left_out() -> None:
    text = "from autograder import check\nx = 1\ncheck(x)\nfx.wrap('f')\nprint(x)\n"
    assert definitions(text) == "\nx = 1\n\nfx.wrap('f')\n\n"
