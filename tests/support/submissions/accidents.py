"""Accidents that happen to notebooks with right answers, the same in every chapter.

Each function makes one student's submission of a chapter from right answers. `on` is the exercise
to which it happens. Unless `earns` says otherwise, all answers earn their points.
`[accidents]` in a `submissions.toml` names the function, and the arguments after the answers.
"""

from __future__ import annotations

from autograder.exercises import of_chapter
from tests.support.submissions import ALL, NOTHING, Submission
from tests.support.submissions.edits import (
    add,
    check_of,
    delete,
    duplicate,
    fill,
    lose_metadata,
    retype,
    set_metadata,
    split,
)

Answers = dict[str, str]


def endless_cell(chapter: str, answers: Answers, on: str) -> Submission:
    """A student's cell never ends; its effects up to the timeout remain."""
    lines = "before = 1\nwhile True:\n    pass"
    edits = (add(lines, above=on), add("before + 1", below=on))
    return Submission("hugo", chapter, "a cell with an endless loop", answers, edits)


def endless_answer(chapter: str, answers: Answers, on: str) -> Submission:
    """One answer never ends."""
    return Submission(
        "hugo",
        chapter,
        f"{on} never ends",
        answers | {on: f"def {on}(*args, **kwargs):\n    while True:\n        pass"},
        earns={on: NOTHING},
    )


def killed(chapter: str, answers: Answers, on: str, by: str) -> Submission:
    """A student's cell ends Python."""
    return Submission(
        "iris", chapter, f"a cell with {by}", answers, (add(f"import os, ctypes\n{by}", below=on),)
    )


def killed_in_answer_cell(chapter: str, answers: Answers, on: str) -> Submission:
    """The cell of an answer ends Python, so that the answer is never defined."""
    text = f"{answers[on]}\n\nimport os\nos._exit(0)"
    return Submission(
        "iris", chapter, f"the cell of {on} ends Python", answers | {on: text}, earns={on: NOTHING}
    )


def killer(chapter: str, answers: Answers, on: str, by: str) -> Submission:
    """One answer ends Python when it is called."""
    text = f"import ctypes, os, signal\n\ndef {on}(*args, **kwargs):\n    {by}"
    return Submission(
        "jack", chapter, f"{on} calls {by}", answers | {on: text}, earns={on: NOTHING}
    )


def flood(chapter: str, answers: Answers, on: str) -> Submission:
    """A cell prints 100 MB, and an answer prints 10 MB whenever it is called."""
    text = (
        f"{answers[on]}\n\n"
        f"quiet = {on}\n\n"
        f"def {on}(*args, **kwargs):\n"
        f"    print('y' * 10_000_000)\n"
        f"    return quiet(*args, **kwargs)"
    )
    lines = "for _ in range(100_000):\n    print('x' * 1_000)"
    edits = (add(lines, above=on),)
    return Submission("kate", chapter, "floods of text", answers | {on: text}, edits)


def stderr(chapter: str, answers: Answers, on: str) -> Submission:
    """Warnings and text on standard error, from cells and from an answer."""
    text = (
        f"import sys, warnings\n"
        f"warnings.warn('this will change')\n\n"
        f"{answers[on]}\n\n"
        f"silent = {on}\n\n"
        f"def {on}(*args, **kwargs):\n"
        f"    warnings.warn('called')\n"
        f"    print('called', file=sys.stderr)\n"
        f"    return silent(*args, **kwargs)"
    )
    edits = (add("import sys\nprint('careful', file=sys.stderr)", below=check_of(on)),)
    return Submission("liam", chapter, "warnings on stderr", answers | {on: text}, edits)


def deleted_checks(chapter: str, answers: Answers, on: list[str]) -> Submission:
    """Check cells are missing."""
    edits = tuple(delete(check_of(name)) for name in on)
    return Submission("mona", chapter, f"{len(edits)} check cells deleted", answers, edits)


def duplicated_checks(chapter: str, answers: Answers, on: str, other: str) -> Submission:
    """Check cells were copied: below themselves, to the end, and with changes."""
    edits = (
        duplicate(check_of(on)),
        duplicate(check_of(on), at_end=True),
        duplicate(check_of(other), f"print('checking')\ncheck({other})"),
    )
    return Submission("nico", chapter, "check cells duplicated", answers, edits)


def edited_check(chapter: str, answers: Answers, on: str) -> Submission:
    """A check cell was edited to pass without an answer."""
    left = {name: text for name, text in answers.items() if name != on}
    edits = (fill(check_of(on), "assert True\n4.0"),)
    return Submission("olga", chapter, f"the check of {on} edited", left, edits)


def duplicated_answers(chapter: str, answers: Answers, on: str, other: str) -> Submission:
    """One answer is in a copy below the stub, the other above an untouched copy of it."""
    left = {name: text for name, text in answers.items() if name not in (on, other)}
    edits = (duplicate(on, answers[on]), duplicate(other), fill(other, answers[other]))
    earns = {on: ALL, other: ALL}
    return Submission("paul", chapter, "answer cells duplicated", left, edits, earns)


def retyped(chapter: str, answers: Answers, on: str, other: str) -> Submission:
    """An answer and checks were turned into text cells."""
    edits = (retype(on), retype(check_of(on), "raw"), retype(check_of(other)))
    return Submission("quin", chapter, "cells made markdown and raw", answers, edits)


def raises(chapter: str, answers: Answers, on: str) -> Submission:
    """Cells in the middle raise; one does not even parse."""
    edits = (add("1 / 0", above=on), add("this is no Python", below=on), add("check(nothing)"))
    return Submission("rosa", chapter, "cells that raise", answers, edits)


def split_cells(chapter: str, answers: Answers, on: str) -> Submission:
    """An answer was split in the middle of its last function, and its check too."""
    line = len(answers[on].split("\n")) - 1
    edits = (split(on, line), split(check_of(on), 0))
    return Submission("sven", chapter, f"the cell of {on} split", answers, edits)


def lost_metadata(chapter: str, answers: Answers) -> Submission:
    """A converter dropped all metadata and all cell ids."""
    names = [exercise.name for exercise in of_chapter(chapter)]
    edits = tuple(lose_metadata(cell) for name in names for cell in (check_of(name), name))
    return Submission("tess", chapter, "no metadata left", answers, edits)


def forged(chapter: str, answers: Answers, on: str, other: str) -> Submission:
    """Points and flags were changed; `on` has no answer."""
    left = {name: text for name, text in answers.items() if name != on}
    edits = (
        set_metadata(check_of(on), points=100, solution=True, locked=False),
        set_metadata(check_of(other), points=100),
        set_metadata(other, grade=True, points=50),
        add("print(4.0)\n4.0", above=check_of(on)),
    )
    return Submission("ugo", chapter, "points and flags forged", left, edits)


def broken_file(chapter: str, answers: Answers) -> Submission:
    """The file is truncated."""
    nothing = dict.fromkeys(answers, NOTHING)
    return Submission("vera", chapter, "half a file", answers, earns=nothing, broken=True)


def files_beside(chapter: str, answers: Answers, on: str) -> Submission:
    """The answer imports a module of the student; another file has the name of a package."""
    files = {"torch.py": "raise SystemExit", "my_own_part.py": "ready = True"}
    text = f"from my_own_part import ready\n{answers[on]}"
    return Submission("walt", chapter, "files beside it", answers | {on: text}, extra_files=files)


def below(chapter: str, answers: Answers, on: str) -> Submission:
    """An answer was written into a new cell at the end; its own cell is still the stub."""
    left = {name: text for name, text in answers.items() if name != on}
    edits = (add(answers[on]),)
    return Submission("xena", chapter, f"{on} at the end", left, edits, earns={on: ALL})
