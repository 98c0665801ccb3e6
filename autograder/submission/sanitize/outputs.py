"""Removes active content from the outputs of cells."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_output

from autograder.submission.sanitize.cells import clean_markdown
from autograder.submission.sanitize.fields import (
    LINK_IN_FORMULA,
    LONE_SURROGATE,
    PICTURES,
    joined,
    valid_picture,
    whole_number,
)
from autograder.submission.sanitize.rewrite import clean_html, clean_svg

MOST_RICH = 3_000_000
"""Most characters of HTML, drawings, markdown and formulas in the outputs of one cell."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]",
    re.S,
)


def clean_outputs(
    outputs: list[NotebookNode], taken: frozenset[str] = frozenset()
) -> list[NotebookNode]:
    """Clean the outputs of a student's cell; not for cards, which the course itself adds.

    The student's Python produced the outputs, so each part is checked, whatever its type.

    Args:
        outputs: the outputs of one cell.
        taken: the ids that the page uses already, see `taken_ids`.
    """
    shown = _Shown(taken)
    return [cleaned for output in outputs for cleaned in _clean_output(output, shown)]


class _Shown:
    """The outputs of one cell.

    Attributes:
        taken: the ids that nothing in them may have.
        left: the number of characters of rich content that are still allowed.
    """

    def __init__(self, taken: frozenset[str]) -> None:
        self.taken, self.left = taken, MOST_RICH

    def cleaned(self, mime: Any, value: Any) -> Any:
        """Clean a value of this type; ``None`` if it must not be shown."""
        if mime not in _RICH:
            return _OTHERS[mime](value) if mime in _OTHERS else None
        text = _printable(joined(value))
        self.left -= len(text)
        made = _RICH[mime](text, self.taken) if self.left >= 0 else None
        # Cleaning may turn a few unclosed tags into many.
        self.left -= max(len(made or "") - len(text), 0)
        return made if self.left >= 0 else None


def _clean_output(output: Any, shown: _Shown) -> Iterator[NotebookNode]:
    kind = output.get("output_type") if isinstance(output, dict) else None
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        yield new_output("stream", name=name, text=clean_text(joined(output.get("text"))))
    elif kind == "error":
        lines = output.get("traceback")
        yield new_output(
            "error",
            ename=clean_text(joined(output.get("ename"))),
            evalue=clean_text(joined(output.get("evalue"))),
            traceback=[clean_text(line) for line in lines if isinstance(line, str)]
            if isinstance(lines, list)
            else [],
        )
    elif kind in ("display_data", "execute_result"):
        data = output.get("data")
        kept = _clean_data(data if isinstance(data, dict) else {}, shown)
        metadata = _clean_metadata(output.get("metadata"))
        count = {"execution_count": whole_number(output.get("execution_count"))}
        yield new_output(
            kind, data=kept, metadata=metadata, **(count if kind == "execute_result" else {})
        )


def clean_text(text: str) -> str:
    """The text as a terminal shows it: colors stay, and an overwritten line shows its last text."""
    text = _printable(text, colours=True)
    if "\r" not in text:
        return text
    lines = ([part for part in line.split("\r") if part] for line in text.split("\n"))
    return "\n".join(parts[-1] if parts else "" for parts in lines)


def _printable(text: str, *, colours: bool = False) -> str:
    def kept(found: re.Match[str]) -> str:
        return found[0] if colours and _COLOUR.fullmatch(found[0]) else ""

    text = _CONTROL.sub(kept, text).replace("\r\n", "\n")
    return LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def _clean_data(data: dict[Any, Any], shown: _Shown) -> dict[str, Any]:
    kept, dropped = {}, []
    for mime, value in data.items():
        cleaned = shown.cleaned(mime, value)
        if cleaned is None:
            dropped.append(mime)
        else:
            kept[mime] = cleaned
    if dropped and not set(kept) - {"text/plain"}:
        names = ", ".join(sorted(m for m in dropped if re.fullmatch(r"[\w.+/-]{1,60}", str(m))))
        line = f"(not shown here: {names or 'an output of an unknown type'})"
        kept["text/plain"] = "\n".join(filter(None, (kept.get("text/plain", ""), line)))
    return kept


def _json(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return None


_RICH: dict[str, Callable[[str, frozenset[str]], str | None]] = {
    "text/html": lambda text, taken: clean_html(text),
    "image/svg+xml": lambda text, taken: clean_svg(text),
    "text/markdown": lambda text, taken: clean_markdown(text, taken)[0],
    "text/latex": lambda text, taken: LINK_IN_FORMULA.sub(r"\\href{#}", text),
}
_OTHERS: dict[str, Callable[[Any], Any]] = {
    "text/plain": lambda value: clean_text(joined(value)),
    "application/json": _json,
    **dict.fromkeys(PICTURES, valid_picture),
}


def _clean_metadata(metadata: Any) -> dict[str, Any]:
    """Keep only the sizes of pictures: the templates would write other values as attributes."""
    if not isinstance(metadata, dict):
        return {}
    kept: dict[str, Any] = {k: v for k, v in metadata.items() if _is_size(k, v)}
    for mime in PICTURES:
        if isinstance(metadata.get(mime), dict):
            kept[mime] = {k: v for k, v in metadata[mime].items() if _is_size(k, v)}
    if metadata.get("needs_background") in ("light", "dark"):
        kept["needs_background"] = metadata["needs_background"]
    return kept


def _is_size(key: Any, value: Any) -> bool:
    if key == "unconfined":
        return isinstance(value, bool)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return key in ("width", "height") and is_number and 0 < value < 10_000
