"""The text of an exception on a card: its type and its message, in whole sentences."""

from __future__ import annotations

import re

from autograder.core.execution import ErrorRecord

LONGEST = 320
_OF_A_NODE = re.compile(r"Node \[graph = .*?, name = '(\w+)'\]", re.S)
_WHILE = re.compile(r"\s*While executing .*", re.S)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_DETAILS = re.compile(
    r", but expected one of:.*| If you are a user and see.*"
    r"| Please check that Nodes in the graph.*|\s*\bgraph\(\):\s.*",
    re.S,
)
"""Parts of messages that do not help a learner: lists of signatures, and a whole graph."""

_SENTENCE = re.compile(r"(?<=[.!?:])\s")


def error_text(error: ErrorRecord | None) -> str:
    """An exception as `` `Type: message` ``, without a full stop, for use within a sentence."""
    error = error or ErrorRecord()
    message = message_of(error)
    if not message.endswith(".."):
        message = message.removesuffix(".")
    return f"`{error.get('type', 'an exception')}{': ' if message else ''}{message}`"


def came_from(error: ErrorRecord) -> str:
    """The origin of an exception, as a sentence after a space; ``""`` if it is unknown."""
    if error.get("line") and error.get("text"):
        return f" It came from your line {error['line']}: `{error['text']}`."
    if error.get("generated"):
        line = error["generated"]
        line = line if len(line) < 160 else f"{line[:160].rpartition(' ')[0]} …"
        return f" It came from this line of the graph's code: `{line}`."
    return ""


def message_of(error: ErrorRecord) -> str:
    """The message in one line; a long one is cut at the end of a sentence."""
    first = str(error.get("message") or "")
    if "SyntaxError" in (error.get("type"), *error.get("types", ())):
        return first  # the other lines give the position, which the card shows anyway
    said = _OF_A_NODE.sub(r"The node \1:", str(error.get("says") or first))
    said = _DETAILS.sub("", _WHILE.sub("", said)) or first
    text = _ADDRESS.sub("", " ".join(said.split())).replace("`", "'")
    if len(text) <= LONGEST:
        return text.rstrip(" ,;")
    whole = ""
    for sentence in _SENTENCE.split(text):
        if len(whole) + len(sentence) > LONGEST:
            break
        whole = f"{whole} {sentence}".strip()
    return whole or f"{text[:LONGEST].rpartition(' ')[0]} …"


_NEAR = {
    "attribute": "`{owner}` has no `{typed}`.",
    "name": "`{typed}` is not defined on this line.",
    "keyword": "`{owner}` has no parameter `{typed}`.",
    "key": "This dictionary has no key `{typed}`.",
    "opcode": "`{typed}` is not an opcode.",
    "path": "The module has nothing under the path `{typed}`.",
    "call": "`{typed}` is used here as a value, and it is not called.",
    "builtin": "`{typed}` is a function of Python.",
    "value": "`{typed}` calls a value that is not a function.",
}
"""Sentences about a name that does not exist, by the kinds of `runner.near_names`."""


def near_advice(error: ErrorRecord) -> str:
    """A sentence about a name that does not exist, with similar names; ``""`` without those."""
    near: list[str] = error.get("near") or []
    if len(near) < 4 or near[0] not in _NEAR:
        return ""
    kind, typed, owner, *meant = near[:6]
    says = _NEAR[kind] if owner or kind != "keyword" else "There is no parameter `{typed}`."
    names = " or ".join(f"`{name}`" for name in meant)
    return f"{says.format(typed=typed, owner=owner)} Did you mean {names}?"
