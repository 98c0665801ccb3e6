"""The answer key of `OpTimer`: names, counts, sums and order, but never speed.

Every rule also works on a busy machine: it compares times with the processor time used, with each
other, and with the wall time of the same run.
"""

from __future__ import annotations

import contextlib
import copy
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import fx

from autograder.authoring.key import (
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    Reference,
    Stage,
    Tagged,
    TimerRecord,
    Trial,
    advice_for,
    caller_untouched,
    came_from,
    error_text,
    kind_of,
    made_from_the_class,
    rule,
    runs_as_asked,
    runs_of,
    show,
)
from autograder.exercises.ch06b_measuring.OpTimer.cases import Timing
from autograder.exercises.ch06b_measuring.OpTimer.models import SPIN

# Clocks have a limited resolution: a time may be shorter than the work by this factor, and a sum of
# times longer.
AT_LEAST, AT_MOST, TICK = 0.8, 1.5, 0.005


def call_names(evidence: Evidence) -> list[str]:
    """The names of the graph's ``call_*`` nodes, in order."""
    nodes = evidence.trial.args[0].graph.nodes
    return [node.name for node in nodes if node.op.startswith("call_")]


def records(evidence: Evidence) -> Iterator[tuple[int, TimerRecord]]:
    """The records taken after each run of the first timer."""
    for i in range(len(evidence.trial.inputs)):
        yield i, evidence.outcome.runs[i]["timer"]


class _Places(fx.Interpreter):
    """Runs a graph and keeps the name of the current node."""

    at = ""

    def run_node(self, n: fx.Node) -> object:
        self.at = n.name
        return super().run_node(n)


def refusing(evidence: Evidence) -> list[str | None]:
    """For each run, the node of the given graph that raises in it.

    This runs the graph, which can be slow, so it happens once for all answers.
    """
    found: list[str | None] = evidence.known("refusing", lambda: _refusing(evidence))
    return found


def _refusing(evidence: Evidence) -> list[str | None]:
    trial: Trial = evidence.trial
    found: list[str | None] = []
    for i, inputs in enumerate(trial.inputs):
        places = _Places(trial.args[0])
        if "error" not in evidence.reference.runs[i]:
            found.append(None)
            continue
        with torch.no_grad(), contextlib.suppress(Exception):
            places.run(*copy.deepcopy(inputs))
        found.append(places.at)
    return found


def _table(data: Tagged) -> dict[str, Any]:
    return {str(key): value for key, value in data["dict"]}


@rule("dictionaries and lists", Stage.FORM)
def dictionaries_and_lists(evidence: Evidence) -> Iterable[Finding]:
    """`seconds` and `calls` map names to numbers; `slowest` returns names."""
    for _, note in records(evidence):
        both = ("seconds", note["seconds"], (float, int)), ("calls", note["calls"], (int,))
        for word, table, kinds in both:
            text = _dictionary_problem(table, kinds)
            if text:
                advice = "The exercise says what the keys and the values are."
                yield evidence.finding("wrong-kind", f"`{word}` {text}.", advice)
                return
        for n, names in note["slowest"]:
            listed = isinstance(names, dict) and "list" in names
            if not (listed and all(isinstance(name, str) for name in names["list"])):
                text = f"`slowest({n})` gave {kind_of(names)}" + " of other things" * listed
                advice = "It should give a list of names."
                yield evidence.finding("wrong-kind", f"{text}, not a list of names.", advice)
                return


def _dictionary_problem(data: Encoded, kinds: tuple[type, ...]) -> str | None:
    if not (isinstance(data, dict) and "dict" in data):
        return f"is {kind_of(data)}, not a dictionary"
    for key, value in data["dict"]:
        if not isinstance(key, str):
            return f"has {kind_of(key)} as a key, not a name"
        if type(value) not in kinds:
            return f"has {show(value)} at the key {key!r}"
    return None


# ------------------------------------------------------------------ counts


@rule("every call counted", Stage.STRUCTURE)
def every_call_counted(evidence: Evidence) -> Iterable[Finding]:
    """After each run, every call node has the right count; a call that raised does not count."""
    names = call_names(evidence)
    known = {node.name for node in evidence.trial.args[0].graph.nodes}
    for i, note in records(evidence):
        calls, seconds = _table(note["calls"]), _table(note["seconds"])
        strange = next((key for key in (*calls, *seconds) if key not in known), None)
        if strange is not None:
            key = re.sub(r" at 0x[0-9a-fA-F]+", "", strange)
            text = f"`calls` or `seconds` has a key {key!r}, which is not a node's name"
            yield evidence.finding("extra-key", f"{text}.", "Names are unique, targets are not.")
            return
        for name, times in zip(names, _counts(evidence, names, i), strict=True):
            finding = _count_problem(evidence, name, times, i, calls, seconds)
            if finding:
                yield finding
                return


def _counts(evidence: Evidence, names: list[str], i: int) -> list[int]:
    """The count of each node after run `i`, including nodes that ran before an error."""
    refused = [name for name in refusing(evidence)[: i + 1] if name]
    whole = i + 1 - len(refused)
    return [whole + sum(j < names.index(name) for name in refused) for j in range(len(names))]


def _count_problem(
    evidence: Evidence, name: str, times: int, i: int,
    calls: dict[str, Any], seconds: dict[str, Any],
) -> Finding | None:  # fmt: skip
    count = calls.get(name, 0)
    if count == times and (name in seconds or not count):
        return None
    after, refused = f"After run {i + 1}", [at for at in refusing(evidence)[: i + 1] if at]
    if name not in calls or name not in seconds:
        error = evidence.outcome.runs[i]["forward"].get("error")
        if error and "error" not in evidence.reference.runs[i]:
            return evidence.finding(
                "missing-node",
                f"Run {i + 1} did not finish: `{name}` is not counted, and `run` raised "
                f"{error_text(error)}.{came_from(error)}",
                advice_for(evidence.exercise, error, "run")
                or "Did every earlier node get its value? A method without `return` gives `None`.",
                (name,),
            )
        word = "seconds" if name in calls else "calls"
        return evidence.finding(
            "missing-node",
            f"{after}, `{word}` has no entry for `{name}`, which has run.",
            (_LOOK_BEFORE_ERROR if refused else "")
            + "Functions, methods and modules all count, whatever they return, by the node's name.",
            (name,),
        )
    if name in refused and count > times:
        return evidence.finding(
            "counted-error",
            f"{after}, `calls[{name!r}]` is {count}, but only {times} of these calls "
            "finished; the others raised.",
            "Which lines of yours still run when an operation raises?",
            (name,),
        )
    return evidence.finding(
        "wrong-count",
        f"{after}, `calls[{name!r}]` is {count}; this node has run {times} times.",
        (_LOOK_BEFORE_ERROR if refused else "")
        + "Counts and times are summed over all runs of one timer.",
        (name,),
    )


_LOOK_BEFORE_ERROR = "Operations before the one that raised count, too. "


@rule("each timer its own", Stage.STRUCTURE)
def each_timer_its_own(evidence: Evidence) -> Iterable[Finding]:
    """A second timer, which makes the last run, begins at zero."""
    if not evidence.expects(Timing).second_timer:
        return
    calls = _table(evidence.outcome.runs[len(evidence.trial.inputs)]["timer"]["calls"])
    first = _table(evidence.outcome.runs[0]["timer"]["calls"])
    names = call_names(evidence)
    # The second timer made one run on the same input as the first timer's first run.
    for name, times in zip(names, _counts(evidence, names, 0), strict=True):
        if calls.get(name, 0) not in (times, first.get(name, 0)):
            yield evidence.finding(
                "leaks-state",
                f"A second `OpTimer` ran the graph once, and its `calls[{name!r}]` is "
                f"{show(calls.get(name))}.",
                "Where is your dictionary made: once for the class, or once for each timer?",
                (name,),
            )
            return


# ------------------------------------------------------------------ times


@rule("times are possible", Stage.RUNS)
def times_are_possible(evidence: Evidence) -> Iterable[Finding]:
    """Times are sums of the time spent in each node, in seconds."""
    before: dict[str, float] = {}
    names = call_names(evidence)
    for i, note in records(evidence):
        seconds = _table(note["seconds"])
        now = {name: float(seconds.get(name, 0.0)) for name in names}
        text = _time_problem(evidence, i, before, now, note["wall"])
        if text:
            advice = "Seconds, from just before the operation to just after it, added up over runs."
            yield evidence.finding("wrong-time", f"After run {i + 1}, {text}.", advice)
            return
        before = now


def _time_problem(
    evidence: Evidence, i: int, before: dict[str, float], now: dict[str, float], wall: float
) -> str | None:
    for name, value in now.items():
        if not math.isfinite(value) or value < 0:
            return f"`seconds[{name!r}]` is {value}"
        if value < before.get(name, 0.0):
            return f"`seconds[{name!r}]` is smaller than it was before this run"
    for name, times in evidence.expects(Timing).slow.items():
        least = AT_LEAST * SPIN * times * (i + 1)
        if now[name] < least:
            spent = f"{SPIN * times * (i + 1):.4f} s of work"
            return f"`seconds[{name!r}]` is {now[name]:.4f}, less than the {spent} that it did"
    refuses = refusing(evidence)[i]
    if refuses and now[refuses] > before.get(refuses, 0):
        return f"`seconds[{refuses!r}]` has grown in a run in which this node raised"
    added = sum(now.values()) - sum(before.values())
    if added > AT_MOST * wall + TICK:
        return f"the nodes' times add up to {added:.3f} more seconds; the run took {wall:.3f}"
    return None


# ------------------------------------------------------------------ the slowest


@rule("slowest first", Stage.RESULT)
def slowest_first(evidence: Evidence) -> Iterable[Finding]:
    """`slowest(n)` returns the n names with the most time, longest first."""
    if not evidence.expects(Timing).ranked:
        return
    for i, note in records(evidence):
        seconds, calls = _table(note["seconds"]), _table(note["calls"])
        names = [name for name in call_names(evidence) if name in seconds]
        choices = ([n for n in names if calls.get(n)], names, list(seconds))
        for n, answer in note["slowest"]:
            got = answer["list"]
            if all(len(got) < min(n, len(choice)) for choice in choices):
                yield evidence.finding(
                    "wrong-order",
                    f"After run {i + 1}, `slowest({n})` gave {len(got)} names, and `seconds` has "
                    f"{len(seconds)}.",
                    "Which of its names are not there, and why?",
                )
                return
            if not any(_is_top(got, n, choice, seconds) for choice in choices):
                yield evidence.finding(
                    "wrong-order",
                    f"After run {i + 1}, `slowest({n})` gave {show(answer)}, while `seconds` was "
                    f"{_times(seconds)}.",
                    "At most `n` names, by the time spent, longest first.",
                )
                return


def _is_top(got: list[str], n: int, names: list[str], seconds: dict[str, float]) -> bool:
    """Whether these are the n slowest; names with equal times may have any order."""
    best = sorted((seconds[name] for name in names), reverse=True)[:n]
    return (
        len(set(got)) == len(got)
        and set(got) <= set(names)
        and [seconds[name] for name in got] == best
    )


def _times(seconds: dict[str, float]) -> str:
    return "{" + ", ".join(f"{name!r}: {value:.4f}" for name, value in seconds.items()) + "}"


def ran_twice(trial: Trial) -> Reference:
    """The results of the model itself on each input, and again on the first."""
    trial = replace(trial, inputs=(*trial.inputs, trial.inputs[0]))
    return runs_of(trial.given_model.forward, trial)


KEY = AnswerKey(
    (
        made_from_the_class.because("names what came in place of a class"),
        caller_untouched,
        dictionaries_and_lists.because("keeps other kinds of data away from the next rules"),
        every_call_counted,
        each_timer_its_own,
        times_are_possible,
        runs_as_asked,
        slowest_first,
    ),
    ran_twice,
)
