"""Rules for a single cell, whatever cells are around it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from autograder.builder.predictions import predictions_are_sound
from autograder.builder.problems import Problem
from autograder.builder.release import released
from autograder.builder.solution_regions import BEGIN, END, OWN_STUB, markers
from autograder.builder.source import FLAGS, TAGS, Cell

Rule = Callable[[Cell], Iterator[Problem]]


def tags_are_known(cell: Cell) -> Iterator[Problem]:
    """A header has only known tags, each on the right kind of cell."""
    known = ", ".join(TAGS)
    for key, value in cell.header.items():
        if key not in TAGS:
            said = value if key in ("incorrectly_encoded_metadata", "title") else key
            advice = f'The tags are {known}; write them as card="name".'
            yield Problem(cell.line, f"The cell header says '{said}', which is not a tag.", advice)
        elif key in FLAGS:
            if value is not True:
                yield Problem(cell.line, f"The tag '{key}' has a value.", f"Write {key}=true.")
        elif not isinstance(value, str) or not value.isidentifier():
            advice = f'Write {key}="name".'
            yield Problem(cell.line, f"The tag '{key}' does not give a name.", advice)
        elif TAGS[key] != cell.kind:
            advice = f"Make it a {TAGS[key]} cell."
            yield Problem(cell.line, f"The tag '{key}' is on a {cell.kind} cell.", advice)
    if sum(key in TAGS for key in cell.header) > 1:
        yield Problem(cell.line, "The cell header has more than one tag.", "Keep one.")


def markers_are_balanced(cell: Cell) -> Iterator[Problem]:
    """Solution markers are in solve cells, in pairs; only the builder adds hidden tests."""
    is_open = 0
    for line, marker in markers(cell):
        if marker not in (BEGIN, END):
            advice = "Remove it: the builder adds the hidden tests."
            yield Problem(line, f"'{marker}' is in a chapter.", advice)
        elif cell.tag != "solve":
            advice = "Only solve cells have solution markers."
            yield Problem(line, f"'{marker}' is in a cell that is not a solve cell.", advice)
        elif marker == BEGIN and is_open:
            advice = f"Close it with '### {END}' before the next one begins."
            yield Problem(is_open, f"This '{BEGIN}' is not closed.", advice)
            is_open = line
        elif marker == BEGIN:
            is_open = line
        elif not is_open:
            yield Problem(line, f"This '{END}' closes nothing.", f"Add '### {BEGIN}' above it.")
        else:
            is_open = 0
    if is_open:
        yield Problem(is_open, f"This '{BEGIN}' is not closed.", f"Add '### {END}' below it.")


def solution_is_marked(cell: Cell) -> Iterator[Problem]:
    """A solve cell has a region, and its last region ends the cell."""
    if cell.tag != "solve":
        return
    found = [marker for _, marker in markers(cell)]
    if BEGIN not in found:
        advice = f"Put the body between '### {BEGIN}' and '### {END}'."
        yield Problem(cell.line, f"The solve cell of '{cell.value}' marks no solution.", advice)
    elif END in found and END not in cell.source.rstrip().splitlines()[-1]:
        advice = f"Let '### {END}' be the cell's last line."
        yield Problem(cell.line, f"The solve cell of '{cell.value}' continues below it.", advice)


def own_stub_is_in_a_region(cell: Cell) -> Iterator[Problem]:
    """A line ``### STUB`` is in a solution region, because nothing removes it elsewhere."""
    inside = False
    for place, line in enumerate(cell.source.splitlines(), 1):
        if BEGIN in line or END in line:
            inside = BEGIN in line
        elif line.lstrip().startswith(OWN_STUB.strip()) and not inside:
            advice = f"Move it between '### {BEGIN}' and '### {END}'."
            yield Problem(cell.line + place, "This stub is in no solution.", advice)


def stub_defines_the_answer(cell: Cell) -> Iterator[Problem]:
    """The released cell runs, and defines the name that the check uses."""
    if cell.tag != "solve" or _unbalanced(cell):
        return
    try:
        body = ast.parse(released(cell.source)).body
    except SyntaxError as error:
        line = cell.line + (error.lineno or 0)
        advice = "Keep the signature and the docstring outside the solution markers."
        yield Problem(line, f"Without its solution, this cell is no Python: {error.msg}.", advice)
        return
    raises = [part for part in body if isinstance(part, ast.Raise)]
    for part in body:
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and part.name == cell.value:
            if isinstance(part, ast.ClassDef):
                raises += [line for line in part.body if isinstance(line, ast.Raise)]
            break
    else:
        advice = f"Keep 'def {cell.value}(...)' or 'class {cell.value}' outside the markers."
        yield Problem(cell.line, f"Without its solution, it defines no '{cell.value}'.", advice)
        return
    if raises:
        advice = "Put the markers inside the methods."
        yield Problem(cell.line, "Without its solution, this cell raises when it is run.", advice)


def calls_are_exact(cell: Cell) -> Iterator[Problem]:
    """Check and hint cells contain one call and nothing else, so that they are all alike."""
    wanted = {"check": f"check({cell.value})", "hint": f'hint("{cell.value}")'}.get(cell.tag)
    if wanted and cell.source.strip() != wanted:
        advice = f"Write {wanted} and nothing else."
        yield Problem(cell.line, f"The {cell.tag} cell of '{cell.value}' holds other code.", advice)


def code_holds_no_heading(cell: Cell) -> Iterator[Problem]:
    """A code cell has no heading in a comment, because a learner would not see it as a heading."""
    for place, line in enumerate(cell.source.splitlines(), 1):
        if cell.kind == "code" and re.match(r"# #{2,4} ", line):
            advice = "Put '# %% [markdown]' above it."
            yield Problem(cell.line + place, "This heading is in a code cell.", advice)


def _unbalanced(cell: Cell) -> bool:
    return any(True for _ in markers_are_balanced(cell)) or not markers(cell)


RULES: tuple[Rule, ...] = (
    tags_are_known,
    markers_are_balanced,
    solution_is_marked,
    own_stub_is_in_a_region,
    stub_defines_the_answer,
    calls_are_exact,
    code_holds_no_heading,
    predictions_are_sound,
)


def examine(cell: Cell) -> list[Problem]:
    """All problems of a cell."""
    return [problem for rule in RULES for problem in rule(cell)]
