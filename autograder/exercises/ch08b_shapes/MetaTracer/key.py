"""The answer key of `MetaTracer`: graphs, exceptions, and the list `assumed`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, TypedDict, cast

from autograder.authoring.key import (
    AnswerKey,
    CallRecord,
    Encoded,
    ErrorRecord,
    Evidence,
    Finding,
    Part,
    Stage,
    came_from,
    error_text,
    kind_of,
    made_from_the_class,
    rule,
)
from autograder.exercises.ch08b_shapes.MetaTracer.cases import Told
from autograder.exercises.ch08b_shapes.MetaTracer.oracle import worked_out
from autograder.exercises.ch08b_shapes.MetaTracer.reading import Reading, first_difference


class Traced(TypedDict):
    """A graph, the contents of `assumed`, and the model's tensors that lost their data."""

    graph: list[CallRecord]
    assumed: Any
    empty: list[str]


class Refusal(ErrorRecord, total=False):
    """An exception; an expected one also has its kinds, the reason, and the graph so far."""

    kinds: list[str]
    why: str
    rows: Traced


class Turn(TypedDict, total=False):
    """The result of one trace."""

    value: Traced
    error: Refusal


def _turns(evidence: Evidence) -> Iterator[tuple[str, Turn, Turn]]:
    """For each trace: the beginning of a sentence about it, the actual and the expected result."""
    several = len(evidence.reference.runs) > 1
    for i, want in enumerate(evidence.reference.runs):
        where = f"In trace {i + 1}, " if several else ""
        yield where, cast(Turn, evidence.outcome.runs[i]["forward"]), cast(Turn, want)


def _sentence(where: str, text: str) -> str:
    return f"{where}{text}" if where else text[:1].upper() + text[1:]


def _readings(got: Turn, want: Turn) -> tuple[Reading, Reading]:
    numbers: dict[str, int] = {}
    return (
        Reading(got["value"]["graph"], numbers),
        Reading(want["value"]["graph"], numbers),
    )


@rule("left as given", Stage.CALLER)
def left_as_given(evidence: Evidence) -> Iterable[Finding]:
    """The model, the examples and the random state must not change."""
    changed = evidence.outcome.changed
    if not changed:
        return
    part = changed[0].part
    what = "an example was changed" if part == Part.TENSOR else changed[0]
    advice = {
        Part.TENSOR: "Which line of yours gives this very tensor to an operation? A model may "
        "change its argument in place.",
        Part.RANDOM_STATE: "Some operations make a tensor from a shape alone. On which device do "
        "they make it, and where do they draw their numbers from?",
    }.get(
        part,
        "Layers are run on meta tensors during the trace. Which module does your line run, or "
        "move to meta: one of the model, or a copy? Some layers change their own buffers when "
        "they run.",
    )
    yield evidence.finding("caller-changed", f"After {evidence.you}, {what}.", advice)


@rule("answers", Stage.STRUCTURE)
def answers(evidence: Evidence) -> Iterable[Finding]:
    """Tracing must continue if a question has an answer, and raise if it has none."""
    for where, got, want in _turns(evidence):
        found = _exception_problem(evidence, where, got, want)
        if found:
            yield found
            return


def _exception_problem(evidence: Evidence, where: str, got: Turn, want: Turn) -> Finding | None:
    error, wanted = got.get("error"), want.get("error")
    if wanted is None:
        asked = bool(want["value"]["assumed"]["list"])
        return None if error is None else _should_not_raise(evidence, where, error, asked)
    what = _what_is_asked(wanted)
    if error is None:
        if wanted["type"] == "ValueError":
            return evidence.finding(
                "wrong-number-accepted",
                _sentence(where, "`trace` gave a graph, but the model unpacks into a number of "
                          "names that does not fit. Without any trace it raises `ValueError`."),
                "How many items does your `__iter__` give, and who decides that: the line of the "
                "model, or what you know of the value?",
            )  # fmt: skip
        return evidence.finding(
            "answered-unknown",
            _sentence(where, f"`trace` gave a graph, but it must raise `TraceError`: {what}."),
            "What does your answer take for this value, and where does it get that from?",
        )
    if not set(wanted["kinds"]) & set(error["types"]):
        return evidence.finding(
            "wrong-exception",
            _sentence(where, f"`trace` raised {error_text(error)}{_at(error)}; it must raise "
                      f"`{wanted['type']}`: {what}.{came_from(error)}"),
            "Which method of yours is asked here, and what does it do where nothing is known?",
            error=error,
        )  # fmt: skip
    return None


def _what_is_asked(wanted: Refusal) -> str:
    """Describe the question that Python asks, and why it has no answer."""
    if "rows" not in wanted:
        return f"the model itself raises it ({wanted['why']})"
    found = wanted["rows"]
    asked = Reading(found["graph"], {}).node(found["assumed"]["list"][0])
    return f"Python asks about `{asked}`, and {wanted['why']}"


def _at(error: ErrorRecord) -> str:
    """The model's line that the error names, as the end of a sentence."""
    return f" at the model's line `{error['asked']}`" if error.get("asked") else ""


def _should_not_raise(evidence: Evidence, where: str, error: ErrorRecord, asked: bool) -> Finding:
    why = "all that is asked here can be known from the examples"
    advice = (
        "Which question does Python ask on this line, of which node? Print what your tracer knows "
        "of that node, and of the nodes that it reads."
    )
    if not asked:
        why = "nothing is asked here"
        advice = (
            "If an operation cannot run on meta tensors, nothing is known of its value, and that "
            "alone is not an error. Which exceptions does your line that runs it catch?"
        )
    return evidence.finding(
        "trace-raises",
        _sentence(where, f"`trace` raised {error_text(error)}{_at(error)}. It must give a graph: "
                  f"{why}.{came_from(error)}"),
        advice,
        error=error,
    )  # fmt: skip


@rule("the graph", Stage.RUNS)
def the_graph(evidence: Evidence) -> Iterable[Finding]:
    """A trace that asks nothing must give the graph of `fx.Tracer`, any other an equivalent one."""
    for where, got, want in _turns(evidence):
        if "value" not in want:
            continue
        if got["value"]["empty"]:
            yield _without_data(evidence, where, got["value"]["empty"][0])
            return
        mine, other = _readings(got, want)
        if not want["value"]["assumed"]["list"]:
            if mine.plain != other.plain:
                yield _changed_graph(evidence, where, mine, other)
                return
            continue
        same = mine.parameters == other.parameters and mine.output == other.output
        if not (same and mine.in_place == other.in_place):
            yield _wrong_graph(evidence, where, mine, other)
            return


def _without_data(evidence: Evidence, where: str, name: str) -> Finding:
    return evidence.finding(
        "no-data",
        _sentence(where, f"the constant `{name}` that your graph reads has no data: the model's "
                  "own code has made it on meta."),
        "Which of your lines is around the whole trace, and not only around your own run on meta?",
    )  # fmt: skip


def _changed_graph(evidence: Evidence, where: str, mine: Reading, other: Reading) -> Finding:
    text = "nothing is asked here, so the graph must be that of `fx.Tracer`, node by node"
    missing = Counter(other.names) - Counter(mine.names)
    extra = Counter(mine.names) - Counter(other.names)
    advice = (
        "A comparison, a size or an attribute that is only handed on is not a question. When does "
        "Python really ask, and which method does it call then?"
    )
    if extra:
        text += f". Yours has a node more: `{next(iter(extra))}`"
        advice += (
            " And what runs on meta tensors must not be recorded: is your switch for that right, "
            "even after a layer that raised?"
        )
    elif missing:
        text += f". Yours lacks `{next(iter(missing))}`"
    elif mine.output != other.output:
        a, b = first_difference(mine, other)
        text += f". Yours has `{a}` instead of `{b}`"
    return evidence.finding(
        "changed-graph",
        _sentence(where, f"{text}."),
        advice,
    )


def _wrong_graph(evidence: Evidence, where: str, mine: Reading, other: Reading) -> Finding:
    if mine.parameters != other.parameters:
        text = "your graph has other parameters than the model"
    elif mine.output != other.output:
        a, b = first_difference(mine, other)
        text = f"your graph computes something else: it has `{a}` instead of `{b}`"
    else:
        text = "your graph lacks an operation in place, or has it in another order"
    return evidence.finding(
        "wrong-graph",
        _sentence(where, f"{text}."),
        "Only what Python asks about is decided while tracing. Did Python ask about this, and is "
        "the answer the one that the model itself would get?",
    )


@rule("what was asked", Stage.RESULT)
def what_was_asked(evidence: Evidence) -> Iterable[Finding]:
    """`assumed` must contain the names of the nodes that Python asked about."""
    asked_for = evidence.expects(Told).assumed
    before: list[str] = []
    for where, got, want in _turns(evidence):
        if "value" not in want:
            continue
        names = _names(got["value"]["assumed"])
        if asked_for == "all":
            found = _assumed_problem(evidence, where, got, want)
        else:
            found = _old_name(evidence, where, names or [], want, before) if asked_for else None
        if found:
            yield found
            return
        before = names or []


def _names(said: Encoded) -> list[str] | None:
    """The names in `assumed`, or ``None`` if it is not a list of names."""
    names: Any = said.get("list") if isinstance(said, dict) else None
    sound = isinstance(names, list) and all(type(name) is str for name in names)
    return names if sound else None


def _old_name(
    evidence: Evidence, where: str, names: list[str], want: Turn, before: list[str]
) -> Finding | None:
    """Find a name of an earlier trace that this trace did not ask about, or less often."""
    wanted, count, earlier = want["value"]["assumed"]["list"], Counter(names), Counter(before)
    for name in names:
        if name in earlier and (name not in wanted or count[name] > earlier[name]):
            return evidence.finding(
                "assumed-old",
                _sentence(where, f"`assumed` still has `{name}` of an earlier trace."),
                "When does a new trace begin for your tracer, and what does it do then?",
            )
    return None


def _assumed_problem(evidence: Evidence, where: str, got: Turn, want: Turn) -> Finding | None:
    said, wanted = got["value"]["assumed"], want["value"]["assumed"]["list"]
    names = _names(said)
    if names is None:
        return evidence.finding(
            "assumed-kind",
            _sentence(where, f"`assumed` must be a list of names. It is {_kind(said)}."),
            "What do you put into it: nodes, Proxies, or their names? Where is it made?",
        )
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        return evidence.finding(
            "assumed-twice",
            _sentence(where, f"`assumed` has `{twice}` more than once."),
            "Python may ask the same question again. What do you do then?",
        )
    mine, other = _readings(got, want)
    keys = {name: other.ids[other.names.index(name)] for name in wanted}
    known = dict(zip(mine.names, mine.ids, strict=True))
    found = [known.get(name, keys.get(name, -1)) for name in names]
    asked = [keys[name] for name in wanted]
    return _first_wrong_name(evidence, where, (names, found), (wanted, asked), (mine, other))


def _first_wrong_name(
    evidence: Evidence,
    where: str,
    said: tuple[list[str], list[int]],
    wanted: tuple[list[str], list[int]],
    readings: tuple[Reading, Reading],
) -> Finding | None:
    extra, missing = Counter(said[1]) - Counter(wanted[1]), Counter(wanted[1]) - Counter(said[1])
    for name, key in zip(*said, strict=True):
        if key in extra:
            reads = readings[0].node(name)
            there = f" (`{reads}`)" if name in readings[0].names else ", no node of your graph"
            return evidence.finding(
                "assumed-extra",
                _sentence(where, f"`assumed` has `{name}`{there}. Python asked nothing about it."),
                "Which line of yours adds this name? Is it reached only by a question?",
            )
    for name, key in zip(*wanted, strict=True):
        if key in missing:
            return evidence.finding(
                "assumed-missing",
                _sentence(where, "`assumed` lacks a node that Python asked about: "
                          f"`{readings[1].node(name)}`. It has {_listed(said[0])}."),
                "Through which of your methods does this question come, and does each of them "
                "note the node?",
            )  # fmt: skip
    if said[1] != wanted[1]:
        return evidence.finding(
            "assumed-order",
            _sentence(where, f"`assumed` has the right names in another order: {_listed(said[0])}."
                      ),
            "The order is that of the first questions, which need not be the order of the graph.",
        )  # fmt: skip
    return None


def _kind(said: Encoded) -> str:
    if said is None:
        return "missing, or `None`"
    if isinstance(said, dict) and "list" in said:
        other = next((item for item in said["list"] if type(item) is not str), None)
        return f"a list that holds {kind_of(other)}"
    return kind_of(said)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "no names"


KEY = AnswerKey(
    (made_from_the_class, left_as_given, answers, the_graph, what_was_asked),
    worked_out,
    oracle_only=True,
)
