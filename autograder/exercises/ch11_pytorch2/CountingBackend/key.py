"""The answer key of `CountingBackend`: figures after each run, and unchanged results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from autograder.authoring.key import (
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
)
from autograder.exercises.ch11_pytorch2.CountingBackend.models import Training, TrainingByHand
from autograder.exercises.ch11_pytorch2.keys import compiled_code_runs


def _table(data: Encoded) -> dict[str, Encoded]:
    return {show(key).strip("'"): value for key, value in data["dict"]}


Figures = tuple[dict[str, Encoded], dict[str, Encoded]]


def _figures(evidence: Evidence) -> Iterator[tuple[str, Figures]]:
    """The actual and expected figures of the backend, before and after each run."""
    for i, want in enumerate(evidence.reference.runs):
        got = _table(evidence.outcome.runs[i]["forward"]["value"])
        known = _table(want["value"])
        for when in ("before", "after"):
            yield f"{when.capitalize()} run {i + 1}", (_table(got[when]), _table(known[when]))


@rule("figures", Stage.STRUCTURE)
def kinds_of_figures(evidence: Evidence) -> Iterable[Finding]:
    """`graphs` must be an `int`, and `ops` a dictionary from names to numbers."""
    for _, (got, _) in _figures(evidence):
        if type(got["graphs"]) is not int:
            kind = "a method" if got["graphs"] == {"opaque": "graphs"} else kind_of(got["graphs"])
            yield evidence.finding(
                "wrong-kind",
                f"`graphs` is {kind}, not an `int`.",
                "It is asked how many graphs there were, not which.",
            )
            return
        ops = got["ops"]
        if not (isinstance(ops, dict) and "dict" in ops):
            advice = "It is a `Counter`: a dictionary from names to numbers."
            yield evidence.finding("wrong-kind", f"`ops` is {kind_of(ops)}.", advice)
            return
        odd = next((key for key, _ in ops["dict"] if not isinstance(key, str)), None)
        if odd is not None:
            kind = kind_of(odd).replace("a function", "a function or class")
            yield evidence.finding(
                "wrong-kind",
                f"`ops` has {kind} as a key, not a name.",
                "A function and a class have a name of their own; the target of a method is one.",
            )
            return


@rule("graphs counted", Stage.RESULT)
def graphs_counted(evidence: Evidence) -> Iterable[Finding]:
    """`graphs` must be the number of graphs compiled so far."""
    for when, (got, want) in _figures(evidence):
        if got["graphs"] != want["graphs"]:
            yield evidence.finding(
                "wrong-graphs",
                f"{when}, `graphs` is {show(got['graphs'])}, not {show(want['graphs'])}.",
                "The backend is called once for each graph that is compiled, and not when a graph "
                "runs. Which of your lines counts, and for which backend?",
            )
            return


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_OF_THE_CLASS = (
    "What is made in the body of a class belongs to all its objects; what is made in `__init__` "
    "belongs to one."
)


@rule("operations counted", Stage.RESULT)
def operations_counted(evidence: Evidence) -> Iterable[Finding]:
    """`ops` must count the calls of each name in all graphs so far."""
    for when, (got, want) in _figures(evidence):
        ours = {name: n for name, n in _table(got["ops"]).items() if n != 0}
        theirs = _table(want["ops"])
        extra = next((name for name in ours if name not in theirs), None)
        if ours and not theirs:
            yield evidence.finding(
                "leaks-state",
                f"{when}, `ops` is not empty, though this backend was given no graph so far.",
                _OF_THE_CLASS,
            )
            return
        if extra is not None:
            extra = _ADDRESS.sub("", extra)
            yield evidence.finding(
                "extra-name",
                f"{when}, `ops` has a key '{extra}', which no call of the graphs is named.",
                "A function and a method count by their own name, a module by its class; other "
                "nodes do not count.",
            )
            return
        for name, number in theirs.items():
            if ours.get(name, 0) != number or type(ours.get(name, 0)) is not int:
                yield evidence.finding(
                    "wrong-count",
                    f"{when}, `ops` has {show(ours.get(name, 0))} under '{name}', not {number}.",
                    "Print the graphs that the backend is given. Are all calls of this name "
                    "counted, in each graph, whether somebody reads them or not?",
                )
                return


_SAYS = {
    "runs nothing": (
        "runs-the-graph",
        "The graph ran when the backend was called: compile it then, and do not run it.",
        "Which line of yours calls the graph module?",
    ),
    "same graph": (
        "graph-changed",
        "The graph module is not as it was before the backend was called.",
        "Counting only looks at nodes. Which line of yours writes into the graph, into `meta` or "
        "into a module's mode?",
    ),
    "same inputs": (
        "inputs-changed",
        "The example inputs are not as they were before the backend was called.",
        "The list and its tensors belong to the caller. Which line of yours writes into them?",
    ),
}


@rule("nothing else happens", Stage.RESULT)
def nothing_else_happens(evidence: Evidence) -> Iterable[Finding]:
    """Calling the backend must run nothing, and not change the graph or the example inputs."""
    for run, want in zip(evidence.outcome.runs, evidence.reference.runs, strict=True):
        said, known = _table(run["forward"]["value"]), _table(want["value"])
        for key, (code, text, advice) in _SAYS.items():
            if key in known and said.get(key) is not True:
                yield evidence.finding(code, text, advice)
                return


_RUN_IN_PLACE = "What your backend returns is run in place of the graph, with the graph's inputs."
_GRADIENTS_TOO = (
    "After the result come the gradients, of the inputs and of the graph's parameters. What your "
    "backend returns must use these parameters themselves; those of a copy are others."
)


@rule("same results", Stage.RESULT)
def same_results(evidence: Evidence) -> Iterable[Finding]:
    """Compiled code must compute what the model does, including gradients."""
    for i, want in enumerate(evidence.reference.runs):
        got = evidence.outcome.runs[i]["forward"]
        tables = evidence.outcome.tensors, evidence.reference.tensors
        pair = [_table(each["value"])["result"] for each in (got, want)]
        if evidence.trial.args[0].says.startswith("two"):
            pair = [{"tuple": each["tuple"][:2]} for each in pair]
        found = difference(pair[0], tables[0], pair[1], tables[1]) or difference(
            got["args"], tables[0], want["args"], tables[1], "the arguments afterwards"
        )
        if found:
            trained = isinstance(evidence.trial.args[0], (Training, TrainingByHand))
            yield evidence.finding(
                found.code,
                f"In run {i + 1}, on {evidence.inputs_text(i)}, {found.text}.",
                _GRADIENTS_TOO if trained else _RUN_IN_PLACE,
            )
            return


@rule("figures of another backend", Stage.RESULT)
def figures_of_another(evidence: Evidence) -> Iterable[Finding]:
    """A second backend must count only its own graphs."""
    if not evidence.trial.args[0].says.startswith("two"):
        return
    for i, want in enumerate(evidence.reference.runs):
        got = evidence.outcome.runs[i]["forward"]
        pair = [_table(_table(each["value"])["result"]["tuple"][2]) for each in (got, want)]
        if difference({"dict": list(map(list, pair[0].items()))}, [],
                      {"dict": list(map(list, pair[1].items()))}, []):  # fmt: skip
            yield evidence.finding(
                "leaks-state",
                f"In run {i + 1} the second backend says something of graphs that it was not "
                "given, or not of those that it was.",
                _OF_THE_CLASS,
            )
            return


KEY = AnswerKey(
    (
        caller_untouched,
        compiled_code_runs,
        kinds_of_figures.because("names the kind that came back, before anything is compared"),
        graphs_counted,
        operations_counted,
        nothing_else_happens,
        same_results,
        figures_of_another.because(
            "names the cause where a second backend shares what the first one has counted"
        ),
    ),
)
