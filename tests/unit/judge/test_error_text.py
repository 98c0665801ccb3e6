"""The text of an exception on a card."""

from __future__ import annotations

import pytest

from autograder.judge.error_text import error_text, message_of


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("Use a tuple instead.", "`TypeError: Use a tuple instead`"),
        ("One. Two.", "`TypeError: One. Two`"),
        ("and so on ...", "`TypeError: and so on ...`"),
        ("no stop", "`TypeError: no stop`"),
        ("", "`TypeError`"),
    ],
)
def test_the_sentence_around_it_has_the_full_stop(message: str, text: str) -> None:
    assert error_text({"type": "TypeError", "message": message}) == text


def test_no_graph_stands_in_a_message() -> None:
    says = (
        "Argument 'b' of Node 'a' was used before it has been defined! Please check that Nodes in "
        "the graph are topologically ordered\ngraph():\n    %x : [num_users=1] = placeholder"
    )
    text = message_of({"type": "RuntimeError", "message": says.splitlines()[0], "says": says})
    assert text == "Argument 'b' of Node 'a' was used before it has been defined!"


def test_a_place_in_a_file_is_left_out_of_every_kind_of_syntax_error() -> None:
    kinds = ["IndentationError", "SyntaxError"]
    says = "expected a block (models.py:73, line 5)"
    error = {"type": kinds[0], "types": kinds, "message": "expected a block", "says": says}
    assert message_of(error) == "expected a block"
