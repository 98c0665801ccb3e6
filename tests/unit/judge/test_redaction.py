"""Redaction of texts about hidden cases: an answer wrote them, and has seen these cases."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import pytest
from torch import fx, nn

from autograder.core.verdict import Verdict
from autograder.exercises import EXERCISES
from autograder.judge import judge
from autograder.judge.redaction import _texts, own_words
from autograder.runner import run_cases
from tests.security.attacks._judged import HEAD
from tests.security.attacks.leaking import ATTACKS

SHOWN = ("raised", "error-name", "stderr", "returned", "node-names", "target-names")


def on_hidden(name: str, answer: Callable[..., Any], *, visible: bool = False) -> Verdict:
    """The verdict on an exercise's hidden cases alone, or on all cases."""
    exercise = EXERCISES[name]
    cases = tuple(case for case in exercise.cases if visible or case.hidden)
    return judge(exercise, run_cases(exercise, answer, cases), cases)


def words(verdict: Verdict) -> str:
    """All text of a verdict that a card may show."""
    return repr((verdict.findings, verdict.error, verdict.printed, verdict.example))


@pytest.mark.parametrize("name", SHOWN)
def test_a_hidden_model_is_told_in_no_text(name: str) -> None:
    (attack,) = (each for each in ATTACKS if each.name == f"leaking-{name}")
    names: dict[str, Any] = {"__name__": "__main__"}
    for text in (HEAD, attack.cell, *attack.answers.values()):
        exec(compile(text, "<cell>", "exec"), names)
    verdict = on_hidden("add_to_mul", names["add_to_mul"], visible=True)
    assert verdict.findings
    assert verdict.example.case.startswith("redraw")
    said = words(verdict)
    assert "LOOT" not in said
    assert "torch.add(" not in said
    assert "return " not in said


def test_a_random_model_is_shown_without_the_words_of_an_answer_that_saw_hidden_ones() -> None:
    (attack,) = (each for each in ATTACKS if each.name == "leaking-random")
    names: dict[str, Any] = {"__name__": "__main__"}
    for text in (HEAD, attack.cell, *attack.answers.values()):
        exec(compile(text, "<cell>", "exec"), names)
    exercise = EXERCISES["add_to_mul"]
    assert exercise.random is not None
    drawn = exercise.random.cases(0, 3)
    cases = (*exercise.cases, *drawn)
    outcomes = run_cases(exercise, names["add_to_mul"], cases)
    sealed = judge(exercise, outcomes, cases, sealed=frozenset(case.name for case in drawn))
    assert "LOOT" in words(judge(exercise, outcomes, cases))
    assert "LOOT" not in words(sealed)
    assert sealed.example is not None and "def forward" in sealed.example.source
    assert sealed.error.startswith("ValueError: ")


def test_an_error_is_told_by_its_kind_and_by_names_of_the_case() -> None:
    def forgets(model: nn.Module) -> fx.GraphModule:
        nodes = fx.symbolic_trace(model).graph.nodes
        return {}[[node.name for node in nodes if node.op.startswith("call")][0]]

    verdict = on_hidden("add_to_mul", forgets)
    message = verdict.findings[0].message
    assert message.startswith("`add_to_mul` raised `KeyError: '")
    assert "…" not in message
    assert "is a node of the trace" in verdict.findings[0].advice

    def raises(model: nn.Module) -> fx.GraphModule:
        raise ValueError(f"what {type(model).__name__} has: {fx.symbolic_trace(model).code}")

    verdict = on_hidden("add_to_mul", raises)
    assert verdict.findings[0].message == "`add_to_mul` raised `ValueError: …`."
    assert verdict.error.startswith("ValueError: …\nline ")


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("add_to_mul", lambda model: None, "`add_to_mul` returned `None`."),
        ("add_to_mul", lambda model: fx.symbolic_trace(model).graph, "not a `GraphModule`."),
        ("count_ops", lambda model: {"secret words": 1}, ", which is not an opcode."),
        ("node_names", lambda model: ["one", "two", "three"], "When the model is traced, no node"),
        ("node_names", lambda model: ["placeholder"], "the kind of a node, not its name."),
        ("relu_to_gelu", fx.symbolic_trace, "relu"),
    ],
)
def test_a_message_about_a_hidden_case_is_readable(
    name: str, answer: Callable[..., Any], said: str
) -> None:
    message = on_hidden(name, answer).findings[0].message
    assert any(each in message for each in said.split("|")), message
    assert "secret" not in message


def test_what_is_returned_is_cut_wherever_it_is_shown() -> None:
    def tells(model: nn.Module) -> list[str]:
        return [fx.symbolic_trace(model).code] * len(fx.symbolic_trace(model).graph.nodes)

    verdict = on_hidden("node_names", tells)
    assert "…" in verdict.findings[0].message
    assert "def forward" not in words(verdict)


def test_a_visible_case_is_shown_first_and_in_the_answer_s_own_words() -> None:
    def raises(model: nn.Module) -> fx.GraphModule:
        raise ValueError("these are my own words")

    verdict = on_hidden("add_to_mul", raises, visible=True)
    assert not verdict.example.case.startswith("redraw")
    assert "these are my own words" in verdict.findings[0].message
    hidden = [f for f in verdict.findings if f.case.startswith("redraw")]
    assert hidden
    assert all("my own words" not in f.message for f in hidden)


def test_own_words_come_to_an_end_where_builtins_hold_themselves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`vars(builtins)` contains itself once code has run in it, which PyTorch does."""
    key = "autograder.exercises.ch03_manipulation.retarget.key"
    plain = own_words.__wrapped__(key)
    monkeypatch.setitem(vars(builtins), "__builtins__", vars(builtins))
    assert own_words.__wrapped__(key) == plain


def test_texts_of_data_that_holds_itself_are_read_once() -> None:
    data: list[Any] = ["a", {"b": ("c", "c")}]
    data[1]["self"] = data
    assert sorted(_texts([data, data])) == ["a", "b", "c", "c", "self"]
