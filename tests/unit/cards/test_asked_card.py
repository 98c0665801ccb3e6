"""The card of the questions about a learner's code."""

from __future__ import annotations

from dataclasses import replace

from autograder.cards.asked_card import AskedCard, AskedOption, AskedQuestion

OPTIONS = (
    AskedOption("a", "`add`", "Not this one."),
    AskedOption("b", "`relu`", "This one."),
    AskedOption("c", "`<b>`", "Nor this."),
)
ASKED = AskedQuestion("Which node?", "class Model: ...", "call  add", OPTIONS, "b")
CARD = AskedCard(
    "retarget", "def retarget(gm):\n    return gm\n", (ASKED,), 'ask_me("retarget", "?")'
)


def test_an_open_question_does_not_tell_its_answer() -> None:
    for text in (repr(CARD), CARD.html()):
        assert "Which node?" in text and "class Model" in text
        assert "This one." not in text and "✓" not in text
    assert 'run the cell: `ask_me("retarget", "?")`' in repr(CARD)
    assert "  2      return gm" in repr(CARD)


def test_a_pick_shows_all_reasons() -> None:
    picked = replace(CARD, questions=(replace(ASKED, pick="a", first="a"),))
    text = repr(picked)
    assert "You picked a, and b is right." in text
    assert "✓ b  `relu`" in text and "a  `add`  (your pick)" in text
    assert "This one." in text and "Write your letters" not in text


def test_the_first_pick_counts() -> None:
    picked = replace(CARD, questions=(replace(ASKED, pick="b", first="a"),))
    assert "that is right. Your first pick, a, is the one that counts." in repr(picked)


def test_texts_are_escaped() -> None:
    assert "<b>" not in CARD.html() and "&lt;b&gt;" in CARD.html()
