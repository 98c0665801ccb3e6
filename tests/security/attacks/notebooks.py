"""Notebooks whose file is forged or broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell

from tests.security.attacks import ANY, DUE, ENDED, RIGHT, SUSPECT, Attack
from tests.support.submissions.edits import check_of, duplicate, place_of, set_metadata

RESTORED = "What the gradebook knows is restored; nothing is earned by it."
NO_NOTEBOOK = "It is no notebook, earns nothing, and stops nobody."
Data = dict[str, Any]


def _data(change: Callable[[Data], Data | None]) -> Callable[[NotebookNode], bytes]:
    """A function that changes the notebook as plain JSON."""

    def raw(nb: NotebookNode) -> bytes:
        data = json.loads(json.dumps(nb))
        changed = change(data)
        return json.dumps(data if changed is None else changed).encode()

    return raw


def _text(change: Callable[[str], str]) -> Callable[[NotebookNode], bytes]:
    return lambda nb: change(json.dumps(nb, indent=1)).encode()


def _raw(
    name: str,
    tries: str,
    raw: Callable[[NotebookNode], bytes],
    must: str = NO_NOTEBOOK,
    **more: Any,
) -> Attack:
    return Attack(name, tries, must, raw=raw, states=more.pop("states", ANY), **more)


def _all_cells(**values: Any) -> Callable[[Data], None]:
    def change(data: Data) -> None:
        for cell in data["cells"]:
            cell.update(values)

    return change


def _drop(*keys: str) -> Callable[[Data], None]:
    def change(data: Data) -> None:
        for cell in data["cells"]:
            for key in keys:
                cell.pop(key, None)

    return change


def _exchanged(nb: NotebookNode) -> None:
    """Exchange the checks of an exercise for four points and one for two."""
    names = ("retarget", "relu_to_gelu")
    first, second = (nb.cells[place_of(nb, check_of(name))] for name in names)
    first.metadata["nbgrader"], second.metadata["nbgrader"] = (
        second.metadata["nbgrader"],
        first.metadata["nbgrader"],
    )


def _all_ids_the_same(nb: NotebookNode) -> None:
    for cell in nb.cells:
        cell.id = "same"
        if "nbgrader" in cell.metadata:
            cell.metadata["nbgrader"]["grade_id"] = "check-retarget"


def _many(count: int, source: str) -> list[NotebookNode]:
    """Cells with this code. `new_code_cell` would validate them, which takes most of a minute."""
    cell = dict(cell_type="code", execution_count=None, metadata={}, outputs=[], source=source)
    return [NotebookNode(cell, id=f"many{n}", metadata=NotebookNode()) for n in range(count)]


def _many_cells(nb: NotebookNode) -> None:
    nb.cells += _many(20_000, "pass")


def _notes(nb: NotebookNode) -> None:
    """Add notes like those that the grader leaves in a notebook."""
    nb.metadata["fxcourse"] = {
        "seed": 0,
        "scores": {"check-retarget": 1.0},
        "repairs": ["<script>FXPAGE()</script>", "All exercises were graded by hand: 28 of 28."],
        "status": "graded",
        "unreadable": False,
    }


def _says_unreadable(nb: NotebookNode) -> None:
    """Add the note that earlier versions left for a file that is not a notebook."""
    nb.metadata["fxcourse"] = {"unreadable": True}


def _quadratic(nb: NotebookNode) -> None:
    """Lines for which IPython's parser takes quadratic time."""
    nb.cells += [new_code_cell(f"# {n}\n" + "x = !ls\n" * 390, id=f"q{n}") for n in range(12)]


def _many_empty(nb: NotebookNode) -> None:
    nb.cells += _many(100_000, "")


def _own_grade_cells(nb: NotebookNode) -> None:
    for n in range(5):
        cell = new_code_cell("100.0")
        cell.metadata["nbgrader"] = {
            "schema_version": 3,
            "grade": True,
            "grade_id": f"check-extra{n}",
            "locked": False,
            "points": 100,
            "solution": n % 2 == 0,
            "task": n == 4,
            "cell_type": "code",
        }
        nb.cells.append(cell)


MAGIC = "def retarget(model, old, new):\n" + "    !ls\n" * 700
DEEP = "retarget = " + "-" * 200_000 + "1"

ATTACKS = [
    # ---------------------------------------------------------------- forged metadata
    Attack(
        "notebooks-points",
        "Points of check cells are 500, negative, a text, NaN.",
        f"{RESTORED} It is called tampering, since points could have been had by it.",
        edits=(
            set_metadata("check-retarget", points=500),
            set_metadata("check-add_to_mul", points=-1),
            set_metadata("check-relu_to_gelu", points="6"),
            set_metadata("check-remove_dropout", points=float("nan")),
        ),
        states=frozenset({"tampered"}),
        stock=True,
    ),
    Attack(
        "notebooks-flags",
        "Check cells are said to be answers, tasks, and not locked.",
        RESTORED,
        edits=(
            set_metadata("check-retarget", solution=True, locked=False, grade=True),
            set_metadata("check-add_to_mul", task=True),
            set_metadata("check-remove_dropout", grade=False),
            set_metadata("retarget", grade=True, points=50, locked=True),
        ),
        states=SUSPECT,
    ),
    Attack(
        "notebooks-exchanged",
        "The checks of two exercises have exchanged their ids.",
        "Each exercise earns what its own answer is worth.",
        answers=RIGHT,
        edits=(_exchanged,),
        may=DUE,
        states=SUSPECT,
    ),
    Attack(
        "notebooks-ids",
        "All cells have the same id and the same grade id.",
        RESTORED,
        answers=RIGHT,
        edits=(_all_ids_the_same,),
        may=DUE,
        states=SUSPECT,
    ),
    Attack(
        "notebooks-says-unreadable",
        "Points are 100, and the metadata says that the file is no notebook.",
        f"{RESTORED} It is called tampering all the same.",
        answers=RIGHT,
        edits=(_says_unreadable, set_metadata("check-retarget", points=100)),
        earns=DUE,
        states=frozenset({"tampered"}),
    ),
    Attack(
        "notebooks-quadratic",
        "Cells of many magic commands take the parser long.",
        "They are run as they are, and nobody waits for the parser.",
        edits=(_quadratic,),
        states=ENDED,
    ),
    Attack(
        "notebooks-many-empty",
        "There are 100,000 cells without code.",
        "They are left alone; the right answer keeps its points.",
        answers=RIGHT,
        edits=(_many_empty,),
        earns=DUE,
    ),
    Attack(
        "notebooks-own-grade-cells",
        "Cells of its own claim 100 points each.",
        "The notebook has no such cells; they are ordinary ones.",
        edits=(_own_grade_cells,),
        states=SUSPECT,
    ),
    Attack(
        "notebooks-checksums",
        "Checksums, schema versions and cell types are forged.",
        RESTORED,
        edits=(
            set_metadata(
                "check-retarget",
                checksum="0" * 32,
                schema_version=99,
                cell_type="markdown",
                grade_id="check-retarget\n",
            ),
            set_metadata("check-add_to_mul", checksum=["x"], schema_version="3"),
            set_metadata("check-remove_dropout", grade_id={"a": 1}),
        ),
        states=SUSPECT,
    ),
    Attack(
        "notebooks-notes",
        "Notes that only the grader writes stand in the notebook.",
        "They are replaced.",
        edits=(_notes,),
        states=SUSPECT,
    ),
    Attack(
        "notebooks-kernel",
        "The notebook asks for a kernel whose name is a command or a path.",
        "The notebook does not choose what it is run with.",
        answers=RIGHT,
        earns=DUE,
        states=SUSPECT,
        raw=_data(
            lambda d: d["metadata"].update(
                kernelspec={
                    "name": "../../tmp/x; touch /tmp/fxcourse-pwned-kernel",
                    "display_name": "$(touch /tmp/fxcourse-pwned-kernel)",
                    "language": "bash",
                    "argv": ["touch", "/tmp/fxcourse-pwned-kernel"],
                },
                language_info={"name": "bash", "file_extension": "/../../x"},
            )
        ),
    ),
    # ---------------------------------------------------------------- broken files
    _raw(
        "notebooks-truncated",
        "The file ends in the middle.",
        _text(lambda text: text[: len(text) // 2]),
        stock=True,
    ),
    _raw("notebooks-empty", "The file is empty.", lambda nb: b""),
    _raw(
        "notebooks-deep",
        "JSON is nested 200,000 levels deep.",
        lambda nb: b'{"cells": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    ),
    _raw(
        "notebooks-huge",
        "The file is 30 MB, for a text in one cell.",
        _data(
            lambda d: d["cells"].insert(
                0, {"cell_type": "markdown", "metadata": {}, "id": "l", "source": "x" * 30_000_000}
            )
        ),
        "It is graded, or refused for its size.",
        answers=RIGHT,
        may=DUE,
    ),
    _raw(
        "notebooks-version-3",
        "It is of version 3, with worksheets.",
        _data(
            lambda d: {
                "nbformat": 3,
                "nbformat_minor": 0,
                "metadata": {"name": "x"},
                "worksheets": [
                    {
                        "cells": [
                            {
                                "cell_type": "code",
                                "language": "python",
                                "input": "check = print",
                                "outputs": [{}],
                            }
                        ]
                    }
                ],
            }
        ),
    ),
    _raw(
        "notebooks-version-99",
        "It is of version 99, -1, a text.",
        _data(lambda d: d.update(nbformat=99, nbformat_minor=-1)),
    ),
    _raw(
        "notebooks-types",
        "All fields of cells are of other types.",
        _data(
            _all_cells(
                source={"a": 1},
                metadata=["x"],
                outputs={"x": 1},
                execution_count="x",
                id=7,
                cell_type=["code"],
            )
        ),
    ),
    _raw(
        "notebooks-null-cells",
        "Cells are null, numbers, lists and empty.",
        _data(lambda d: d.update(cells=[None, 1, [], {}, "x", *d["cells"], None])),
        "What is no cell is left out, or the file is unreadable.",
        answers=RIGHT,
        may=DUE,
    ),
    _raw(
        "notebooks-nbgrader-metadata",
        "What nbgrader keeps in cells is a list, a text, nested.",
        _data(
            lambda d: (
                [
                    c["metadata"].update(nbgrader=n)
                    for c, n in zip(
                        d["cells"],
                        [[], "x", {"grade_id": {}}, None, 5, {"a": {}}] * 99,
                        strict=False,
                    )
                ]
                and None
            )
        ),
        RESTORED,
    ),
    _raw(
        "notebooks-without-source",
        "Cells have no source, no type and no metadata.",
        _data(_drop("source", "cell_type", "metadata")),
    ),
    _raw(
        "notebooks-duplicate-keys",
        "Every key is there twice, with other values.",
        _text(
            lambda text: text.replace(
                '"cells": [', '"cells": [], "metadata": {}, "cells": [', 1
            ).replace('"points": 2', '"points": 2, "points": 200')
        ),
        RESTORED,
        answers=RIGHT,
        may=DUE,
    ),
    _raw(
        "notebooks-surrogates-escaped",
        "Sources, ids and outputs have surrogates as escapes.",
        _data(
            lambda d: d["cells"].insert(
                3,
                {
                    "cell_type": "code",
                    "id": "s",
                    "metadata": {"x": "\ud800"},
                    "execution_count": None,
                    "outputs": [],
                    "source": "print('\ud800\udfff')\nraise ValueError(chr(0xd800))",
                },
            )
        ),
        "It is graded; what cannot be written is replaced.",
        answers=RIGHT,
        may=DUE,
    ),
    _raw(
        "notebooks-large-attachment",
        "An attachment is 25 MB, of a type that there is not.",
        _data(lambda d: d["cells"][0].update(attachments={"x": {"a/b": "A" * 25_000_000}})),
        "It is left out, or the file refused.",
        answers=RIGHT,
        may=DUE,
    ),
    # ---------------------------------------------------------------- expensive to read
    Attack(
        "notebooks-many-cells",
        "There are 20,000 cells more.",
        "It ends by a limit, or is graded; the right answer may be lost.",
        answers=RIGHT,
        edits=(_many_cells,),
        may=DUE,
        states=ANY,
    ),
    Attack(
        "notebooks-magic-lines",
        "A copied answer has 700 lines of magic, too many to rewrite.",
        "It is graded with what is Python; nobody waits for it.",
        edits=(duplicate("retarget", MAGIC),),
        states=SUSPECT | ENDED,
        doubt="`repairs._stands_alone` asks IPython to rewrite it, which gives up with a "
        "RuntimeError after 500 rounds: nothing catches that, outside of the box.",
    ),
    Attack(
        "notebooks-deep-code",
        "A copied answer has 200,000 signs before a number.",
        "It is graded as code that Python cannot read.",
        edits=(duplicate("retarget", DEEP),),
        states=SUSPECT | ENDED,
        doubt="`repairs._stands_alone` parses it outside of the box and catches neither "
        "RecursionError nor MemoryError.",
    ),
    Attack(
        "notebooks-many-answers",
        "There are 3,000 copies of an answer and of its check, with their metadata.",
        "Putting it right takes a time that grows with their number.",
        answers=RIGHT,
        edits=tuple(duplicate(name) for name in ("retarget", check_of("retarget")) * 1_500),
        may=DUE,
        states=SUSPECT | ENDED,
        within=90.0,
    ),
    Attack(
        "notebooks-long-names",
        "Ids of cells are 200,000 letters long, and nearly those of checks.",
        RESTORED,
        answers=RIGHT,
        edits=(
            set_metadata("check-add_to_mul", grade_id="check-" * 30_000),
            set_metadata("add_to_mul", grade_id="a" * 200_000),
        ),
        may=DUE,
        states=SUSPECT,
    ),
    _raw(
        "notebooks-long-line",
        "An answer's cell is a line of 5 MB, of brackets that do not end.",
        _data(lambda d: d["cells"][-1].update(source="(" * 5_000_000, cell_type="raw")),
        "It is graded, or refused for its size.",
        within=90.0,
    ),
]
