"""Colors of a card in a terminal."""

from __future__ import annotations

import re

from rich.text import Text

_STYLES = {"✓": "bold green", "✗": "bold red", "!": "bold magenta", "○": "bold", "?": "bold"}
_CODE = re.compile(r"`[^`\n]+`")
_LABEL = re.compile(
    r"^(Where to look:|Also found:|Parts:|Expected:|Obtained:|Called as:|With inputs:"
    r"|The smallest case that breaks it:|Your code printed:|The file printed:|Before and after:)",
    re.M,
)


def styled(card: str) -> Text:
    """A card for a terminal, with colors for its first line, for code and for labels."""
    text = Text(card)
    head = card.partition("\n")[0]
    text.stylize(_STYLES.get(card[:1], "bold"), 0, len(head))
    text.highlight_regex(_CODE, "cyan")
    text.highlight_regex(_LABEL, "bold")
    return text
