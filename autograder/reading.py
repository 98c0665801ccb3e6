"""Plain data, read: as text for people, and as what a node reads."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.plain import Plain


def show(value: Plain, limit: int = 160) -> str:
    """A plain value as Python would write it, cut to size."""
    text = _show(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _show(value: Plain) -> str:
    if not isinstance(value, dict) or len(value) != 1:
        return repr(value)  # what is not plain data is claimed, too
    ((kind, body),) = value.items()
    if kind == "list":
        return "[" + ", ".join(map(_show, body)) + "]"
    if kind == "tuple":
        return "(" + ", ".join(map(_show, body)) + (",)" if len(body) == 1 else ")")
    if kind == "dict":
        return "{" + ", ".join(f"{_show(k)}: {_show(v)}" for k, v in body) + "}"
    if kind == "set":
        return "{" + ", ".join(map(_show, body)) + "}" if body else "set()"
    return f"<tensor {body}>" if kind == "tensor" else str(body)


def leaves(data: Plain) -> Iterator[dict[str, Plain]]:
    """Every non-container leaf of plain arguments, however deeply nested."""
    if not isinstance(data, dict) or len(data) != 1:
        return
    ((kind, body),) = data.items()
    if kind in ("list", "tuple", "slice", "set"):
        for item in body:
            yield from leaves(item)
    elif kind == "dict":
        for key, value in body:
            yield from leaves(key)
            yield from leaves(value)
    else:
        yield data


def reads(row: Plain) -> list[dict[str, Plain]]:
    """The leaves of a node's arguments."""
    return [*leaves(row["args"]), *leaves(row["kwargs"])]
