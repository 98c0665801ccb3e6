"""Rules of `lower` about the graph of each node, and the values passed between graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from autograder.authoring.key import (
    Encoded,
    Encoder,
    Evidence,
    Finding,
    NodeRecord,
    Stage,
    difference,
    rule,
    show,
    target_path,
    times,
)
from autograder.exercises.ch13b_lowering.lower.key_values import Lowered, Piece, reads_of


@lru_cache(maxsize=1)
def _of(evidence: Evidence) -> Lowered:
    """A result with the value of each node, computed once."""
    return Lowered(evidence)


def _set_text(names: Iterable[str]) -> str:
    return f"`{show({'set': sorted(names)}, 80)}`"


def _for(evidence: Evidence, piece: Piece) -> str:
    names = _of(evidence).given.sets[piece.set]
    return f"the graph that you gave to `compile` for {_set_text(names)}"


# ------------------------------------------------------------------ the graph of each node


@rule("nodes in their places", Stage.STRUCTURE)
def nodes_in_their_places(evidence: Evidence) -> Iterable[Finding]:
    """A set's calls must be in its graph, all others outside, each as often as before."""
    lowered = _of(evidence)
    given = lowered.given
    for piece in lowered.pieces:
        rows = [(piece.rows[i], piece.numbers[i]) for i in piece.calls()]
        where = _for(evidence, piece)
        found = _misplaced(evidence, rows, piece.parts, given.members(piece.set), where)
        if found:
            yield found
            return
    outside = [
        (row, lowered.numbers[i])
        for i, row in enumerate(lowered.rows)
        if row["op"].startswith("call_")
        and i not in lowered.taken
        and i not in lowered.calls.values()
    ]
    found = _misplaced(evidence, outside, lowered.parts, given.outside, "your result")
    if found:
        yield found


def _misplaced(
    evidence: Evidence,
    rows: list[tuple[NodeRecord, Any]],
    parts: Any,
    places: list[int],
    where: str,
) -> Finding | None:
    """Find a fault in the calls of one graph.

    Args:
        evidence: the evidence.
        rows: the calls, and the numbers of their values.
        parts: what they call.
        places: the nodes of the given graph that belong there.
        where: the graph, in words.
    """
    given = _of(evidence).given
    want = Counter(given.numbers[i] for i in places)
    got: Counter[Any] = Counter()
    for row, number in rows:
        got[number] += 1
        if got[number] <= want[number]:
            continue
        name = given.named(number)
        if name is not None and number not in want:
            home = given.set_of[given.names.index(name)]
            home_text = "in no set" if home is None else f"in {_set_text(given.sets[home])}"
            return evidence.finding(
                "wrong-place",
                f"In {where} there is a call like `{name}`, which is {home_text}.",
                "Each node of the given graph is in one place: in the graph of its set, or outside "
                "if it is in none.",
                (row["name"],),
            )
        if name is not None:
            return evidence.finding(
                "too-often",
                f"In {where} a call like `{name}` is there {times(got[number])}, not "
                f"{times(want[number])}.",
                "Nothing is computed twice. Which of your lines copies this node?",
                (row["name"],),
            )
        like = next((i for i in places if given.is_like(row, parts, i)), None)
        if like is None:
            return evidence.finding(
                "wrong-place",
                f"In {where} there is a call `{row['name']}` that none of its nodes makes.",
                "Only nodes of the given graph are there, as they were, and only those that belong "
                "there.",
                (row["name"],),
            )
        return evidence.finding(
            "reads-otherwise",
            f"In {where}, `{row['name']}` is a call like the given graph's `{given.names[like]}`, "
            "but it does not read the same values, or has other arguments.",
            "Find the sources of its inputs. Are the values in the order of the placeholders? "
            "Does `getitem` select the right one?",
            (row["name"],),
        )
    for i in places:
        if got[given.numbers[i]] < want[given.numbers[i]]:
            return evidence.finding(
                "node-missing",
                f"In {where} there is no call like `{given.names[i]}`."
                if not got[given.numbers[i]]
                else f"In {where} calls like `{given.names[i]}` are too few.",
                "Each node is in one place, even one that nobody reads, and even one of several "
                "that are alike.",
                (given.names[i],),
            )
    return None


# ------------------------------------------------------------------ passed values


@rule("what comes in", Stage.STRUCTURE)
def what_comes_in(evidence: Evidence) -> Iterable[Finding]:
    """Each outside value that a set reads must be passed in once, and nothing else."""
    lowered = _of(evidence)
    for piece in lowered.pieces:
        where = _for(evidence, piece)
        rows = [lowered.rows[place] for place in piece.arguments]
        attribute = next((row for row in rows if row["op"] == "get_attr"), None)
        unread = [*piece.unread("placeholder"), *piece.unread("get_attr")]
        given = lowered.given
        want = Counter(given.numbers[i] for i in given.incoming(piece.set))
        got = Counter(piece.incoming)
        pairs = zip(rows, piece.incoming, strict=True)
        twice = next((row for row, number in pairs if got[number] > max(want[number], 1)), None)
        if attribute is not None:
            yield evidence.finding(
                "attribute-crosses",
                f"`{attribute['target']}` is passed to {where}.",
                "A parameter or buffer that a set reads is read inside, with a `get_attr` node of "
                "its own. What does `fx.GraphModule(gm, graph)` do for such a node?",
                (attribute["name"],),
            )
        elif unread:
            yield evidence.finding(
                "unread-input",
                f"Nobody reads `{unread[0]}` in {where}.",
                "Only values that the nodes of the set read are inputs.",
                (unread[0],),
            )
        elif twice is not None:
            yield evidence.finding(
                "comes-in-twice",
                f"`{twice['name']}` is passed to {where} more than once.",
                "However many nodes of the set read a value, it has one placeholder.",
                (twice["name"],),
            )
        else:
            continue
        return


@rule("what goes out", Stage.STRUCTURE)
def what_goes_out(evidence: Evidence) -> Iterable[Finding]:
    """Each value of a set that is read outside must be returned once, read by `getitem`."""
    lowered = _of(evidence)
    given = lowered.given
    for piece in lowered.pieces:
        places = given.outgoing(piece.set)
        want, got = Counter(given.numbers[i] for i in places), Counter(piece.outgoing)
        for number in got:
            if got[number] > want[number]:
                name = given.named(number)
                what = "something" if name is None else f"the value of `{name}`"
                more = f" {times(got[number])}" if want[number] else ""
                yield evidence.finding(
                    "goes-out-too-much",
                    f"The result of {_for(evidence, piece)} has {what}{more}"
                    f"{'' if more else ', which nobody outside of the set reads'}.",
                    "Return each value once that is read outside: by nodes in no set, by other "
                    "sets, or by the output.",
                    () if name is None else (name,),
                )
                return
    calls = set(lowered.calls.values())
    for i, row in enumerate(lowered.rows):
        if i not in lowered.taken and calls.intersection(reads_of([row["args"], row["kwargs"]])):
            yield evidence.finding(
                "not-taken-out",
                f"`{row['name']}` reads a compiled call as a whole.",
                "`operator.getitem(call, i)` selects a value.",
                (row["name"],),
            )
            return


@rule("examples", Stage.STRUCTURE)
def examples(evidence: Evidence) -> Iterable[Finding]:
    """The examples must be the `val`s of the passed values, in the order of the placeholders."""
    for piece in _of(evidence).pieces:
        found = piece.examples["tuple"]
        if len(found) != len(piece.incoming):
            yield evidence.finding(
                "wrong-examples",
                f"With {_for(evidence, piece)} came {len(found)} examples, not "
                f"{len(piece.incoming)}.",
                "There is one for each placeholder, `None` if nothing is known.",
            )
            return
        for i, example in enumerate(found):
            wrong = _wrong_example(evidence, piece, i, example)
            if wrong is not None:
                name, text = wrong
                yield evidence.finding(
                    "wrong-examples",
                    f"For `{name}`, input number {i + 1} of {_for(evidence, piece)}, {text}.",
                    "An example is the `meta['val']` of the given graph's node, in the order of "
                    "the placeholders. A node without one has `None`.",
                    (name,),
                )
                return


def _wrong_example(
    evidence: Evidence, piece: Piece, i: int, example: Encoded
) -> tuple[str, str] | None:
    """The node with a wrong example and the difference; ``None`` if all are right.

    A value that is not in the given graph has no example; another rule reports it.
    """
    lowered = _of(evidence)
    given, table = lowered.given, evidence.outcome.tensors
    mark = evidence.graph["meta"][piece.arguments[i]].get("mark")
    alike = [p for p, number in enumerate(given.numbers) if number == piece.incoming[i]]
    alike = [p for p in alike if given.metas[p]["mark"] == mark] or alike
    differs = [_otherwise(example, table, given.metas[p].get("val")) for p in alike]
    if not alike or None in differs:
        return None
    others = (
        given.names[p]
        for p, meta in enumerate(given.metas)
        if meta.get("val") is not None and _otherwise(example, table, meta["val"]) is None
    )
    other = next(others, None)
    text = differs[0] if other is None else f"the example is that of `{other}`"
    return given.names[alike[0]], str(text)


def _otherwise(got: Encoded, table: list[Any], want: Any) -> str | None:
    """The difference between a plain value and the expected one; ``None`` if there is none."""
    encoder = Encoder()
    found = difference(got, table, encoder.encode(want), encoder.tensors, "the example")
    return None if found is None else found.text


# ------------------------------------------------------------------ attributes and meta


@rule("attributes", Stage.STRUCTURE)
def attributes(evidence: Evidence) -> Iterable[Finding]:
    """Graphs must read the given module's parameters, and outside only the needed ones."""
    lowered = _of(evidence)
    given = lowered.given
    for piece in lowered.pieces:
        for row in piece.rows:
            if row["op"] == "get_attr" and piece.parts.is_own_parameter(target_path(row)):
                yield evidence.finding(
                    "not-shared",
                    f"`{row['target']}` in {_for(evidence, piece)} is a copy, and not a parameter "
                    "of the module that was given.",
                    "A deep copy of a module copies its parameters. If both share them, training "
                    "the given module also trains the compiled one.",
                    (row["name"],),
                )
                return
    want = Counter(given.numbers[i] for i in given.attributes_outside)
    pairs = zip(lowered.rows, lowered.numbers, strict=True)
    rows = [(row, number) for row, number in pairs if row["op"] == "get_attr"]
    got = Counter(n for _, n in rows)
    for row, number in rows:
        if got[number] > want[number]:
            yield evidence.finding(
                "attribute-left",
                f"`{row['name']}` is still in your result, and only sets have read it.",
                "No node outside needs it any more: the sets read it inside.",
                (row["name"],),
            )
            return
    for i in given.attributes_outside:
        if got[given.numbers[i]] < want[given.numbers[i]]:
            yield evidence.finding(
                "node-missing",
                f"In your result there is no node like `{given.names[i]}`.",
                "A node in no set stays as it is. Remove a `get_attr` only if sets alone read it.",
                (given.names[i],),
            )
            return


@rule("meta kept", Stage.STRUCTURE)
def meta_kept(evidence: Evidence) -> Iterable[Finding]:
    """Outside nodes must keep their `meta`; a `getitem` must have its value's `meta`."""
    lowered = _of(evidence)
    given, table = lowered.given, evidence.outcome.tensors
    leaves = {i for number in range(len(given.sets)) for i in given.outgoing(number)}
    for place, row in enumerate(lowered.rows):
        if row["op"] == "output" or place in lowered.calls.values():
            continue
        number, meta = lowered.numbers[place], evidence.graph["meta"][place]
        places = leaves if place in lowered.taken else set(range(len(given.rows))) - leaves
        alike = [i for i in sorted(places) if given.numbers[i] == number]
        named = [i for i in alike if given.metas[i]["mark"] == meta.get("mark")]
        if not alike:
            continue  # another rule reports it
        name = given.names[(named or alike)[0]]
        key = None if not named else _lost(meta, table, given.metas[named[0]])
        if named and key is None:
            continue
        what = (
            f"`{row['name']}`, which selects the value of `{name}` from a compiled call,"
            if place in lowered.taken
            else f"`{row['name']}`"
        )
        key = key or "mark"
        if key in meta:
            text = f"{what} has another `meta[{key!r}]` than the given graph's `{name}`."
            advice = "Which node's `meta` does it carry, and which node's value does it have?"
        else:
            text = f"{what} has no `meta[{key!r}]`, which the given graph's `{name}` has."
            advice = "`node_copy` copies the `meta`; `call_function` and `placeholder` do not."
        yield evidence.finding("meta-lost", text, advice, (row["name"],))
        return


def _lost(meta: dict[str, Encoded], table: list[Any], want: dict[str, Any]) -> str | None:
    """The first changed key of a node's `meta`."""
    return next(
        (
            key
            for key, value in want.items()
            if key not in meta or _otherwise(meta[key], table, value)
        ),
        None,
    )
