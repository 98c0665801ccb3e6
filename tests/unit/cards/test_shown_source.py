"""A case's source on a card, and the card as text."""

from __future__ import annotations

import re

import pytest

from autograder.api import verdict_on
from autograder.cards.card import card_html
from autograder.cards.card_text import MOST_LINES as MOST_LINES_OF_A_CARD
from autograder.cards.card_text import WIDTH, card_text
from autograder.cards.shown_source import LEFT_OUT, MOST_LINES, VISIBLE_LINES, shown_source
from autograder.cards.wording import printed_title
from autograder.core.limits import BoundedText
from autograder.core.verdict import Example, Finding, Verdict
from autograder.exercises import EXERCISES

MODEL = '''\
import torch
from torch import nn

class Net(nn.Module):
    """A model."""

    def __init__(self):
        super().__init__()

    def forward(self, x):
        """Compute it."""

        return torch.relu(x)

class Part(nn.Module):
    def __init__(self, size=3):
        super().__init__()
        self.layer = nn.Linear(size, size)

    def forward(self, x):
        return self.layer(x)  # a comment stays
'''


def test_what_nobody_needs_to_see_is_left_out() -> None:
    assert shown_source(MODEL).splitlines() == [
        "class Net(nn.Module):",
        "    def forward(self, x):",
        "        return torch.relu(x)",
        "class Part(nn.Module):",
        "    def __init__(self, size=3):",
        "        self.layer = nn.Linear(size, size)",
        "    def forward(self, x):",
        "        return self.layer(x)  # a comment stays",
    ]


def test_a_model_of_ten_lines_is_shown_whole() -> None:
    calls = "\n".join(f"        x = x + {i}" for i in range(7))
    text = f"class Net(nn.Module):\n    def forward(self, x):\n{calls}\n        return x"
    assert len(text.splitlines()) == 10
    assert shown_source(text) == text


def test_the_return_of_a_long_model_is_seen() -> None:
    layers = "\n".join(f"        self.layer{i} = nn.Linear(3, 3)" for i in range(20))
    calls = "\n".join(f"        x = self.layer{i}(x)" for i in range(20))
    text = f"class Net(nn.Module):\n    def __init__(self):\n{layers}\n"
    text += f"    def forward(self, x):\n{calls}\n        return x\n"
    lines = shown_source(text).splitlines()
    assert len(lines) <= VISIBLE_LINES
    assert lines[-1].strip() == "return x" and any(line.strip() == LEFT_OUT for line in lines)


def test_a_long_source_is_shown_in_a_few_lines() -> None:
    text = "\n".join(MODEL.replace("Net", f"Net{i}").replace("Part", f"P{i}") for i in range(9))
    lines = shown_source(text).splitlines()
    assert len(lines) <= MOST_LINES and f"class P8(nn.Module): {LEFT_OUT}" in lines


def test_the_code_of_a_graph_is_shown_without_what_frees_memory() -> None:
    text = "def forward(self, x):\n    a = x + 1;  x = None\n    return a\n"
    assert shown_source(text) == "def forward(self, x):\n    a = x + 1\n    return a"


def verdict_with(**more: str) -> Verdict:
    example = Example(case="a case", source=MODEL, call="node_names(model)", **more)  # type: ignore[arg-type]
    return Verdict("node_names", "failed", 0.0, (Finding("x", "It is wrong."),), example=example)


def test_the_first_difference_is_marked() -> None:
    expected = str([f"node_{i}" for i in range(30)])
    verdict = verdict_with(expected=expected, obtained=expected.replace("node_9'", "nodes'"))
    text = card_text(verdict, EXERCISES["node_names"])
    assert "»'node_9'«" in text and "»'nodes'«" in text
    html = card_html(verdict, EXERCISES["node_names"])
    assert "<strong><u>'nodes'</u></strong>" in html.replace("&#39;", "'").replace("&#x27;", "'")
    assert "white-space:pre-wrap" in html


@pytest.mark.parametrize("name", ["minimize", "wellformed", "node_table", "is_faithful"])
def test_a_card_as_text_fits_into_a_terminal(name: str) -> None:
    def wrong(*args: object, **kwargs: object) -> object:
        print("\n".join(map(str, range(9_999))))
        return args[0].no_such_thing if name == "minimize" else []  # type: ignore[attr-defined]

    exercise = EXERCISES[name]
    lines = card_text(verdict_on(exercise, wrong, hidden=False), exercise).splitlines()
    assert len(lines) <= MOST_LINES_OF_A_CARD and max(map(len, lines)) <= WIDTH
    assert not re.search(r"class (?:Bad|Notes|Draws|Plan)\b", "\n".join(lines))


def test_all_printed_lines_are_counted() -> None:
    text = BoundedText(100)
    text.write("1234\n" * 170_000)
    assert printed_title(text.getvalue()) == "Your code printed 170,000 lines"
    assert printed_title("one") == "Your code printed 1 line"
