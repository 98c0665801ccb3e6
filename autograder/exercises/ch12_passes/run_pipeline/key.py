"""The answer key of `run_pipeline`: the result of the sound passes, and a report of the others."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from torch import fx
from torch.fx.passes.infra.pass_base import PassResult

from autograder.authoring.key import (
    AdviceRow,
    AnswerKey,
    Encoded,
    Evidence,
    Finding,
    Stage,
    caller_untouched,
    difference,
    kind_of,
    rule,
    show,
    unrecorded,
)
from autograder.exercises.ch12_passes.keys import (
    argument_finding,
    driving,
    kind_named,
    said_in,
    table,
)

FREE = "(any text)"
"""Marks free text in the expected report."""


@rule("ends as it must", Stage.KIND)
def ends_as_it_must(evidence: Evidence) -> Iterable[Finding]:
    """The answer must return a graph module and a list of texts; an interrupt must pass through."""
    got, want = said_in(evidence)
    if got.get("ended") not in ("returned", "interrupted"):
        yield unrecorded(evidence)
    elif got["ended"] != want["ended"]:
        yield evidence.finding(
            "swallowed-interrupt",
            f"A pass or a check was interrupted with Ctrl-C, and {evidence.you} went on.",
            "`KeyboardInterrupt` is not an `Exception`. Which of your `except` lines catches it?",
        )
    elif got["ended"] == "interrupted":
        yield from argument_finding(evidence)
    elif "kind" not in got:
        if got["pair"] is not True or not got.keys() >= want.keys():
            yield unrecorded(evidence)
    elif got["pair"] is not True:
        yield evidence.finding(
            "wrong-kind",
            f"{evidence.you} returned {kind_named(got['kind'])}, not a tuple of two.",
            "`return gm, report`: the module that all of this ends with, and the list of texts.",
        )
    else:
        yield evidence.finding(
            "wrong-kind",
            f"The first item of the tuple is {kind_named(got['kind'])}, not a graph module.",
            "A `PassResult` holds a graph module; what comes back at the end is the module alone.",
        )


def _returned(evidence: Evidence) -> tuple[dict[str, Encoded], dict[str, Encoded]] | None:
    got, want = said_in(evidence)
    return (got, want) if got["ended"] == "returned" else None


@rule("the caller's lists", Stage.FORM)
def the_callers_lists(evidence: Evidence) -> Iterable[Finding]:
    """The answer must not change the caller's lists of passes and checks."""
    pair = _returned(evidence)
    if pair and pair[0]["lists"] is not True:
        yield evidence.finding(
            "lists-changed",
            "The lists of passes and checks are not as they were before the call.",
            "They belong to the caller. Where do you note what is not tried again?",
        )


@rule("the report", Stage.STRUCTURE)
def the_report(evidence: Evidence) -> Iterable[Finding]:
    """The report must have one text for each undone pass, in order."""
    pair = _returned(evidence)
    if not pair:
        return
    got, want = pair[0]["report"], pair[1]["report"]["list"]
    if not isinstance(got, dict) or "list" not in got:
        yield evidence.finding(
            "report-kind",
            f"The report is {kind_of(got)}, not a list.",
            "One text for each pass that was undone; an empty list if there was none.",
        )
        return
    ours = got["list"]
    for i, text in enumerate(want):
        if i < len(ours) and _is(ours[i], text):
            continue
        if i < len(ours) and not isinstance(ours[i], str):
            words = f"Item {i + 1} of the report is {kind_of(ours[i])}, not a text"
        elif i < len(ours):
            words = f"Item {i + 1} of the report is {show(ours[i])}, not {show(text)}"
        else:
            words = f"The report has {_items(len(ours))}; {show(text)} is missing"
        yield evidence.finding("wrong-report", f"{words}.", _LOOKS)
        return
    if len(ours) > len(want):
        first = show(ours[len(want)])
        words = f"{_items(len(ours))}, {first} among them, not {_items(len(want))}"
        if not want:
            words = f"{_items(len(ours))}, and should be empty; the first is {first}"
        yield evidence.finding(
            "too-much-reported",
            f"The report has {words}.",
            "A pass that is undone is not tried again in a later round. A pass that holds is not "
            "reported, however little it did. And a check is broken only if it raises.",
        )


_LOOKS = (
    "Go through the rounds by hand: which pass raises, which returns no `PassResult`, and after "
    "which one does a check raise? Each of these is reported when it happens, with its name and "
    "the exception."
)


def _is(got: Encoded, want: str) -> bool:
    if want.endswith(FREE):
        return isinstance(got, str) and got.startswith(want.removesuffix(FREE).rstrip())
    return bool(got == want)


def _items(count: int) -> str:
    return "no item" if not count else "one item" if count == 1 else f"{count} items"


@rule("the graph", Stage.STRUCTURE)
def the_graph(evidence: Evidence) -> Iterable[Finding]:
    """The graph must be the result of the passes that were kept."""
    pair = _returned(evidence)
    if not pair:
        return
    got, want = (each["rows"]["list"] for each in pair)
    if got == want:
        return
    ours, theirs = (
        ", ".join(
            _short(row["tuple"][1]) for row in rows if str(row["tuple"][0]).startswith("call_")
        )
        for rows in (got, want)
    )
    if ours == theirs:
        text = "The graph that came back has the right calls, but they read something else"
    else:
        text = f"The graph that came back calls {ours or 'nothing'}; it should call "
        text += theirs or "nothing"
    yield evidence.finding(
        "wrong-graph",
        f"{text}.",
        "Which passes hold, and in which round does none of them say `modified` any more? What a "
        "pass does before it fails must be gone, and what held before it must be there.",
    )


def _short(target: Encoded) -> str:
    return str(target).rpartition(".")[2]


_MODES = {True: "training mode", False: "eval mode"}


@rule("layers and weights", Stage.STRUCTURE)
def layers_and_weights(evidence: Evidence) -> Iterable[Finding]:
    """Changes of an undone pass to layers and tensors must be undone."""
    pair = _returned(evidence)
    if not pair:
        return
    got, want = pair
    if got["layers"] != want["layers"]:
        yield evidence.finding(
            "wrong-layers",
            f"The module that came back has the layers {show(got['layers'])}, "
            f"not {show(want['layers'])}.",
            "A pass that fails may have put layers in, or out. What do you keep before each pass?",
        )
        return
    ours, theirs = table(got["modes"]), table(want["modes"])
    odd = next((path for path in theirs if ours.get(path) is not theirs[path]), None)
    if odd is not None:
        which = f"`{odd}` of the module" if odd else "The module"
        yield evidence.finding(
            "wrong-modes",
            f"{which} that came back is in {_MODES[not theirs[odd]]}, not in "
            f"{_MODES[bool(theirs[odd])]}.",
            "No pass here sets a mode. Which line of yours does, or makes a new module?",
        )
        return
    tables = evidence.outcome.tensors, evidence.reference.tensors
    found = difference(got["tensors"], tables[0], want["tensors"], tables[1], "the tensors")
    if found:
        yield evidence.finding(
            "wrong-weights",
            f"In the module that came back, {found.text}.",
            "A pass may write into parameters and buffers, and then fail. A trace shares them, and "
            "so does a shallow copy.",
        )


@rule("recompiled", Stage.STRUCTURE)
def recompiled(evidence: Evidence) -> Iterable[Finding]:
    """The code must match the graph, and the module must run."""
    pair = _returned(evidence)
    if not pair:
        return
    got, want = pair
    how = got["result"]["tuple"]
    if got["recompiled"] is not True:
        text = "The code of the module that came back is not what its graph says"
    elif how[0] == "raised" and want["result"]["tuple"][0] == "value":
        text = f"Calling the module that came back raised {show(how[1])}"
    else:
        yield from _result_finding(evidence, how, want["result"]["tuple"])
        return
    advice = "If you put an old graph back: what is the code of the module then?"
    yield evidence.finding("stale-code", f"{text}.", advice)


def _result_finding(
    evidence: Evidence, got: list[Encoded], want: list[Encoded]
) -> Iterable[Finding]:
    tables = evidence.outcome.tensors, evidence.reference.tensors
    found = difference(got[1], tables[0], want[1], tables[1])
    if got[0] != want[0]:
        yield unrecorded(evidence)
    elif found:
        text = f"The module that you returned does not compute what it should: {found.text}."
        advice = (
            "By hand, run the passes that hold, in their order and as often. After which of them "
            "does your module begin to differ?"
        )
        yield evidence.finding(found.code, text, advice)
    else:
        yield from argument_finding(evidence)


def ours(
    gm: fx.GraphModule, passes: Sequence[Any], checks: Sequence[Any] = (), limit: int = 20
) -> tuple[fx.GraphModule, list[str]]:
    """Give each pass a copy, and keep it if all checks succeed."""
    current, undone, report = copy.deepcopy(gm), set(), []
    for _ in range(limit):
        modified = False
        for each in passes:
            if id(each) in undone:
                continue
            text = FREE
            error: Exception | None
            try:
                result = each(copy.deepcopy(current))
                error = None if isinstance(result, PassResult) else TypeError(text)
                for check in () if error else checks:
                    check(result.graph_module)
            except Exception as raised:
                error = raised
            if error is None:
                current, modified = result.graph_module, modified or result.modified
            else:
                undone.add(id(each))
                name = getattr(each, "__name__", type(each).__name__)
                report.append(f"{name}: {type(error).__name__}: {error}")
        if not modified:
            return current, report
    raise RuntimeError(f"round {limit} still modifies")


ADVICE = (
    AdviceRow(
        ("Exception",),
        r"^(?:a half is enough|'nothing to tidy up'|tanh|no exp, please|"
        r"the graph is not in order|a weight is too large:\s+above 100|three times neg|)$",
        "A pass or a check raises this, and your function lets it out. What does the exercise ask "
        "for when one of them raises, and which lines of yours have to be ready for that?",
        where="call",
    ),
    AdviceRow(
        ("AttributeError",),
        r"'(\w+)' object has no attribute '(?:graph_module|modified)'",
        "What a pass gave back here is of the type `{1}`, and no `PassResult`. What should "
        "happen to such a pass, and where do you find out?",
        where="call",
    ),
    AdviceRow(
        ("TypeError",),
        r"cannot unpack non-iterable (\w+) object",
        "What a pass gave back here is of the type `{1}`, and no `PassResult`. What should "
        "happen to such a pass, and where do you find out?",
        where="call",
    ),
)

KEY = AnswerKey(
    (
        ends_as_it_must.because("names the kind that came back, before it is looked at"),
        caller_untouched,
        the_callers_lists,
        the_report,
        the_graph.because("names the calls, before results are compared"),
        layers_and_weights.because("names the layer or the weight, before results are compared"),
        recompiled,
    ),
    driving(ours),
    oracle_only=True,
    advice=ADVICE,
)
