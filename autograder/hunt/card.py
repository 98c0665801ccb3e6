"""A counterexample as a card, in text and in HTML."""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch import fx

from autograder.core.codec import show, show_values
from autograder.core.verdict import NodeBox
from autograder.drawing import html
from autograder.drawing.draw import Picture, pair
from autograder.drawing.sketch import sketch
from autograder.hunt.behaviour import AGAIN, KEYWORDS, RESULT, STEPS, behaviour, by_position
from autograder.hunt.search import Counterexample
from autograder.hunt.standalone import TooLong, limited
from autograder.hunt.trying import ENDLESS, Failure, Question, Subject, expected_from, quiet
from autograder.judge.evidence import describe_inputs
from autograder.judge.repro_code import pasteable, piece_of

WIDTH = 88
SMALLEST = "The smallest model that shows it"
NOT_MINIMAL = (
    "A model that shows it. It is not minimal: the hunt tried as many smaller ones as it may"
)
_RED = "#b3360b"


@dataclass(frozen=True)
class Card:
    """The contents of the card of a counterexample.

    Attributes:
        title: the name of the pass, and the number of models on which it is wrong.
        says: one sentence about the mistake.
        hint: advice about common mistakes.
        source: the code of the model.
        heading: the line above that code.
        facts: names and values: mode, inputs, the expected result and the obtained one.
        before: the graph that the pass got.
        after: the graph that the pass returned; empty if it did not return one.
        code: the code of this graph.
        others: sentences about further counterexamples.
    """

    title: str
    says: str
    hint: str
    source: str
    heading: str
    facts: tuple[tuple[str, str], ...]
    before: tuple[NodeBox, ...]
    after: tuple[NodeBox, ...]
    code: str
    others: tuple[str, ...] = ()

    @property
    def picture(self) -> Picture | None:
        """The graphs before and after, with marks at the differences."""
        if self.before and self.after:
            return pair(self.before, self.after)
        return Picture([("", self.before)]) if self.before else None

    def text(self) -> str:
        """The card for a terminal."""
        return html.clean("\n".join(self._lines()))

    def _lines(self) -> Iterator[str]:
        yield f"✗ {self.title}"
        yield textwrap.fill(self.says, WIDTH)
        if self.hint:
            yield textwrap.fill(f"Where to look: {self.hint}", WIDTH)
        yield f"{self.heading}:"
        yield textwrap.indent(html.bounded(self.source, 60), "    ")
        for name, value in self.facts:
            lead = f"{name + ':':<11}"
            yield lead + value.replace("\n", "\n" + " " * len(lead))
        if self.picture is not None:
            yield "Before and after:" if self.after else "The input of the pass:"
            yield textwrap.indent(html.bounded(self.picture.text, 80), "    ")
        if self.others:
            yield "Also found:"
            yield from (f"  - {other}" for other in self.others)

    def page(self) -> str:
        """The card as a page of its own."""
        parts = [
            f'<div style="margin:0 0 3px 0"><span style="background:{_RED};color:#ffffff;'
            "border-radius:11px;padding:1px 11px 1px 9px;font-weight:600;"
            'margin-right:10px">✗</span>'
            f"<strong>{html.rich(self.title)}</strong></div>",
            f'<p style="font-weight:600;margin:6px 0">{html.rich(self.says)}</p>',
        ]
        if self.hint:
            hint = html.rich(self.hint)
            parts.append(f'<p style="margin:6px 0"><strong>Where to look.</strong> {hint}</p>')
        parts += [_label(self.heading), html.block(self.source)]
        for name, value in self.facts:
            parts += [_label(name), html.block(value, lines=24)]
        picture = self.picture
        if picture is not None:
            parts.append(_label("Before and after" if self.after else "The input of the pass"))
            parts.append(picture.html())
        if self.code:
            parts.append(html.folded("The code of the result", html.block(self.code, 80)))
        if self.others:
            rows = "".join(f"<li>{html.rich(other)}</li>" for other in self.others)
            parts.append(_label("Also found") + f'<ul style="margin:3px 0">{rows}</ul>')
        body = html.framed("".join(parts), edge=_RED)
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{html.escaped(self.title)}</title></head>\n<body>{body}</body></html>\n"
        )


def _label(text: str) -> str:
    return f'<div style="margin:8px 0 0 0;font-size:12.5px;font-weight:600">{text}</div>'


def card_of(
    found: Counterexample,
    question: Question,
    title: str,
    others: Sequence[Counterexample] = (),
) -> Card:
    """The card of a counterexample.

    Args:
        found: the counterexample.
        question: the pass, and how it is tested.
        title: the first line of the card.
        others: further counterexamples, listed at the end.
    """
    subject = found.model.subject(question)
    endless = found.failure.aspect == ENDLESS
    changed, after = (None, ()) if endless else _changed(subject, question)
    expected, obtained = _values(subject, question, changed, found.failure)
    facts = [("In mode", "training" if subject.model.training else "eval")]
    calls = [call.args for call in subject.calls if call.aspect == RESULT]
    described = [describe_inputs(args) for args in calls or subject.inputs[:1]]
    facts.append(("On inputs", "\n".join(described)))
    if expected or obtained:
        facts += [("Expected", expected), ("Obtained", obtained)]
    return Card(
        title=title,
        says=" ".join(filter(None, (sentence(found.failure.says), found.failure.where))),
        hint=_hint(changed, found.failure),
        source=pasteable([piece_of(subject.model)]).strip(),
        heading=SMALLEST if found.minimal else NOT_MINIMAL,
        facts=tuple(facts),
        before=_boxes(subject.graph) if subject.graph else (),
        after=after,
        code=changed.code.strip() if isinstance(changed, fx.GraphModule) else "",
        others=tuple(dict.fromkeys(n for n in map(_named, others) if n != _named(found))),
    )


def _named(found: Counterexample) -> str:
    """A counterexample in one line, with the last computing line of its model."""
    last = [line for line in found.model.source.splitlines() if " = " in line][-1:]
    return found.failure.says + (f" (such as: `{last[0].strip()}`)" if last else "")


def sentence(clause: str) -> str:
    """A clause as a sentence."""
    return clause[:1].upper() + clause[1:].rstrip(".") + "."


def _boxes(gm: fx.GraphModule) -> tuple[NodeBox, ...]:
    try:
        return sketch(gm)
    except Exception:  # a broken graph must not prevent the card
        return ()


def _changed(subject: Subject, question: Question) -> tuple[Any, tuple[NodeBox, ...]]:
    """The result of the pass, and its graph."""
    try:
        with quiet(), limited(question.seconds):
            changed = question.change(subject.own(), subject.inputs)
    except (Exception, SystemExit, TooLong):
        return None, ()
    return changed, _boxes(changed) if isinstance(changed, fx.GraphModule) else ()


def _values(
    subject: Subject, question: Question, changed: Any, failure: Failure
) -> tuple[str, str]:
    """The expected and the obtained result of the first call in which they differ."""
    if changed is None or failure.aspect not in (RESULT, AGAIN, KEYWORDS, *STEPS):
        return "", ""
    with quiet():
        right = expected_from(copy.deepcopy(subject.model), question)
        calls = by_position(subject.calls) if question.oracle else subject.calls
        want, got = behaviour(right, calls, [RESULT]), behaviour(changed, subject.calls, [RESULT])
    for key, row in want.rows.items():
        mine = got.rows.get(key, {})
        if key[0] != failure.aspect or "value" not in row or "value" not in mine:
            continue
        texts = [
            show_values(each["value"], found.tensors) or show(each["value"])
            for each, found in ((row, want), (mine, got))
        ]
        if texts[0] != texts[1]:
            return texts[0], texts[1]
    return "", ""


def _hint(changed: Any, failure: Failure) -> str:
    """Advice about common mistakes."""
    if failure.aspect == ENDLESS:
        return (
            "a loop over `graph.nodes` also visits the nodes that it inserts. Loop over "
            "`list(graph.nodes)`."
        )
    if isinstance(changed, fx.GraphModule) and failure.aspect == RESULT:
        try:
            fresh = changed.graph.python_code("self").src
        except Exception:
            return ""
        if fresh != changed.code:
            return (
                "the code of the result does not match its graph. Call `recompile()` after the "
                "last change."
            )
    if "Placeholder" in failure.says or "positional argument" in failure.says:
        return "the parameters of the result: their names, stars and defaults."
    return ""
