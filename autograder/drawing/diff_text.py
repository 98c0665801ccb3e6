"""Text form of a before/after pair: one list of lines, each with a sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from autograder.core.verdict import NodeBox
from autograder.drawing.diff import compare, counterparts, marks_in_words
from autograder.drawing.text import LONGEST_ALT, SIGNS, notes, statement

LONG = 14  # a longer list omits unchanged nodes
CONTEXT = 2

_Row = tuple[str, str]  # a mark, and the line


def diff_text(before: Sequence[NodeBox], after: Sequence[NodeBox]) -> str:
    """The changes by a pass: ``-`` removed, ``+`` added, ``~`` changed, no sign for the rest."""
    old, new = compare(before, after)
    rows = list(_rows(old, new))
    lines = [f"{SIGNS.get(mark, '?')} {line}" for mark, line in rows]
    if len(rows) > LONG:
        lines = list(_without_the_same(rows, lines))
    return "\n".join([headline(before, after), *lines])


def diff_alt(before: Sequence[NodeBox], after: Sequence[NodeBox]) -> str:
    """The pair in a text that is short enough for a picture's alternative text."""
    text = diff_text(before, after)
    if len(text) <= LONGEST_ALT:
        return text
    cut = text[:LONGEST_ALT].rpartition("\n")[0]
    return f"{cut}\nThe whole comparison is in the text form below the picture."


def headline(before: Sequence[NodeBox], after: Sequence[NodeBox]) -> str:
    """``Before: 5 nodes, 1 removed. After: 5 nodes, 1 added.``"""
    old, new = compare(before, after)
    parts = []
    for when, boxes in (("Before", old), ("After", new)):
        nodes = f"{len(boxes)} node{'' if len(boxes) == 1 else 's'}"
        marks = marks_in_words(boxes)
        parts.append(f"{when}: {nodes}{', ' + marks if marks else ''}.")
    return " ".join(parts)


def _rows(old: Sequence[NodeBox], new: Sequence[NodeBox]) -> Iterator[_Row]:
    """Both graphs merged into one list, in an order that is possible in both."""
    there = counterparts(old, new)
    a = [there.get(box.name, f"{box.name} before") for box in old]  # no name has a space
    b = [box.name for box in new]
    for what, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if what == "equal":
            for was, now in zip(old[i:j], new[k:m], strict=True):
                yield now.mark, _both(was, now)
            continue
        yield from (("removed", _said(box)) for box in old[i:j] if box.name not in there)
        for box in new[k:m]:
            moved = box.name in a
            yield (
                box.mark or ("changed" if moved else ""),
                _said(box) + ("  (it is at another place)" if moved else ""),
            )


def _both(was: NodeBox, now: NodeBox) -> str:
    if not now.mark:
        return _said(now)
    before, after = _said(was), _said(now)
    if before != after:
        return f"{before}  becomes  {after}"
    return f"{after}  ({was.op} becomes {now.op})" if was.op != now.op else after


def _said(box: NodeBox) -> str:
    extra = [note for note in notes(box) if note != box.mark]
    return statement(box) + (f"  ({', '.join(extra)})" if extra else "")


def _without_the_same(rows: Sequence[_Row], lines: Sequence[str]) -> Iterator[str]:
    """The lines near a mark; the others are replaced by their number."""
    marked = [i for i, (mark, _) in enumerate(rows) if mark]
    near = {j for i in marked for j in range(i - CONTEXT, i + CONTEXT + 1)}
    hidden = 0
    for i, line in enumerate(lines):
        if i in near:
            if hidden:
                yield _hidden(hidden)
            hidden = 0
            yield line
        else:
            hidden += 1
    if hidden:
        yield _hidden(hidden)


def _hidden(count: int) -> str:
    return f"  … {count} node{'' if count == 1 else 's'} as before …"
