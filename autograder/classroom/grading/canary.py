"""A notebook with known scores, graded before any submission.

A machine must not grade if it gives nothing for a right answer, or points for a wrong one. The
notebook has a right and a wrong answer of each kind that the chapter uses.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from autograder.classroom.grading.grade_submission import ChapterServers, grade_submission
from autograder.sandbox.walls import NoBox
from autograder.submission.contract import GradingConfig, PreloadSpec, Submission, Timeouts
from autograder.submission.result import SubmissionStatus
from autograder.submission.source_cells import CHECK, SourceCell

CHAPTER = "canary"

_FOLDER = Path(__file__).parents[2] / "runner" / "kinds"
KINDS = tuple(sorted(path.stem for path in _FOLDER.glob("[!_]*.py")))

_FIRST_CELL = """\
import copy
import operator
import torch
from torch import fx

def with_function(gm, function):
    for node in gm.graph.nodes:
        if node.target is torch.relu:
            node.target = function
    gm.recompile()
    return gm
"""


@cache
def answers(kind: str) -> dict[str, str]:
    """The texts of a kind's answers, the right one first, by the names of their exercises.

    They are read from the source of the kind's module, because importing it would import PyTorch.
    """
    tree = ast.parse((_FOLDER / f"{kind}.py").read_text(encoding="utf-8"))
    texts = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("RIGHT", "SPOILT")
    }
    right = texts["RIGHT"]
    wrong = right.replace(*texts.get("SPOILT", ("sigmoid", "tanh")))
    both = {f"right_{kind}": right, f"wrong_{kind}": wrong}
    return {name: text.replace("NAME", name) for name, text in both.items()}


def scores(kinds: Iterable[str] = KINDS) -> dict[str, float]:
    """The known scores, by the names of the exercises."""
    return {
        name: score for kind in kinds for name, score in zip(answers(kind), (1.0, 0.0), strict=True)
    }


def source_cells(kinds: Iterable[str] = KINDS) -> dict[str, SourceCell]:
    """The check cells, as they would be after a release."""
    found = (
        SourceCell(f"{CHECK}{name}", "code", f"check({name})", None, True, True, False, False, 1.0)
        for name in scores(kinds)
    )
    return {cell.name: cell for cell in found}


def notebook(kinds: Iterable[str] = KINDS) -> bytes:
    """The content of the notebook's file."""
    cells, checks = [new_code_cell(_FIRST_CELL)], source_cells(kinds)
    for name, text in (row for kind in kinds for row in answers(kind).items()):
        check = checks[f"{CHECK}{name}"]
        cells.append(new_code_cell(text))
        cells.append(new_code_cell(check.source, metadata={"nbgrader": check.metadata()}))
    text = nbformat.writes(new_notebook(cells=cells))
    return str(text).encode()


def prove(servers: ChapterServers, preload: PreloadSpec) -> None:
    """Grade the notebook, and compare its scores with the known ones.

    Raises:
        NoBox: they differ; the message says which, and what to do.
    """
    used = tuple(kind for kind in KINDS if kind in servers.kinds) or KINDS
    known, text = scores(used), notebook(used)
    config = GradingConfig(
        CHAPTER, source_cells(used), preload, Timeouts(case_cpu=20.0), servers.boxed
    )
    graded = grade_submission(Submission(CHAPTER, text, key=CHAPTER.encode()), config, servers)
    wrong = [
        f"a {'right' if score else 'wrong'} answer to `{name}` earned {earned}"
        for name, score in known.items()
        if (earned := graded.scores[f"{CHECK}{name}"].points) != score
    ]
    result = graded.result
    if wrong or result.status is not SubmissionStatus.GRADED:
        said = "; ".join([*wrong[:3], *result.notes[:3]])
        raise NoBox(
            "Nothing was graded: a notebook with known marks gets other marks on this machine, in "
            f"{len(wrong)} of {len(known)} answers ({result.status}; {said}). Run 'fxcourse "
            "doctor'. If it finds nothing, install the course again, in a new environment."
        )
