"""The answer key of `lower`: one call of a compiled module instead of each set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from autograder.authoring.key import (
    AnswerKey,
    DerivedGraph,
    Encoded,
    Evidence,
    Exercise,
    Finding,
    GraphRecord,
    Stage,
    caller_untouched,
    copies,
    kind_of,
    known_targets,
    model_itself,
    returns_graph_module,
    rule,
    runs,
    same_result,
    signature_kept,
    target_path,
    times,
    wellformed,
)
from autograder.exercises.ch13b_lowering.lower.key_places import (
    attributes,
    examples,
    meta_kept,
    nodes_in_their_places,
    what_comes_in,
    what_goes_out,
)

# ------------------------------------------------------------------ arguments of compile


@rule("compile is called", Stage.KIND)
def compile_is_called(evidence: Evidence) -> Iterable[Finding]:
    """The answer must call `compile` once per set, with a graph module and a tuple."""
    if not evidence.has_graph:
        return  # another rule reports it
    pieces, wanted = evidence.value["pieces"], len(evidence.trial.args[1])
    if len(pieces) != wanted:
        yield evidence.finding(
            "compile-count",
            f"`compile` was {_called(len(pieces))}, and there {_are_sets(wanted)}.",
            "Call it once for each set, even if the set is small or reads nothing.",
        )
        return
    for piece in pieces:
        if "kind" in piece:
            yield evidence.finding(
                "piece-kind",
                f"`compile` was given a `{piece['kind']}`, not a `GraphModule`.",
                "`fx.GraphModule(root, graph)` makes one of a graph.",
            )
        elif not (isinstance(piece["examples"], dict) and "tuple" in piece["examples"]):
            yield evidence.finding(
                "examples-kind",
                f"As examples, `compile` was given {kind_of(piece['examples'])}, not a `tuple`.",
                "`tuple(...)` makes one of a list, even of an empty one.",
            )
        elif (kind := _kind_of_result(piece["graph_module"])) != "a `tuple`":
            yield evidence.finding(
                "no-tuple",
                f"A graph that you gave to `compile` returns {kind}, not a `tuple`.",
                "It is a tuple even if there is one value: `graph.output((value,))`. Then a caller "
                "need not know how many there are.",
            )
        else:
            continue
        return


def _kind_of_result(description: GraphRecord) -> str:
    outputs = [row for row in description["nodes"] if row["op"] == "output"]
    args = outputs[0]["args"].get("tuple", ()) if outputs else ()
    if not args:
        return "nothing"
    return "one value" if isinstance(args[0], dict) and "node" in args[0] else kind_of(args[0])


def _called(count: int) -> str:
    return f"called {times(count)}" if count else "not called"


def _are_sets(count: int) -> str:
    return "is one set" if count == 1 else f"are {count or 'no'} sets"


@rule("compiled modules are called", Stage.KIND)
def compiled_modules_are_called(evidence: Evidence) -> Iterable[Finding]:
    """Each compiled module must be called once, with as many values as its graph takes."""
    if not evidence.has_graph:
        return
    value = evidence.outcome.value
    rows, compiled = value["graph_module"]["nodes"], value["compiled"]
    calls = [row for row in rows if row["op"] == "call_module" and row["target"] in compiled]
    taken = next((row for row in calls if _was_there(evidence, target_path(row))), None)
    if taken is not None:
        yield evidence.finding(
            "name-taken",
            f"The given module has something of its own under the name `{taken['target']}`; in "
            "your result this is the module that `compile` returned.",
            "Which names are free in the module? Ask `hasattr`.",
            (taken["name"],),
        )
        return
    for number, piece in enumerate(value["pieces"]):
        mine = [row for row in calls if compiled[target_path(row)] == number]
        if len(mine) != 1:
            yield evidence.finding(
                "compiled-count",
                f"The module that call {number + 1} of `compile` returned is {_called(len(mine))} "
                f"in your result{', not once' if mine else ''}.",
                "The result calls the module that `compile` returns, not its argument. All readers "
                "of the values of a set read them from one call.",
                tuple(row["name"] for row in mine),
            )
            return
        (call,) = mine
        given = call["args"].get("tuple", ())
        inputs = [row for row in piece["graph_module"]["nodes"] if row["op"] == "placeholder"]
        text = ""
        if call["kwargs"]["dict"] or not all(_is_node(each) for each in given):
            text = f"`{call['name']}` has arguments that are keywords, or not nodes."
        elif len(given) != len(inputs):
            text = f"`{call['name']}` passes {_values(len(given))} to a graph that takes "
            text += f"{_values(len(inputs))}."
        if text:
            yield evidence.finding(
                "call-arguments",
                text,
                "It passes the inputs of the set, one by one, in the order of the placeholders.",
                (call["name"],),
            )
            return


def _values(count: int) -> str:
    return "one value" if count == 1 else f"{count or 'no'} values"


def _is_node(data: Encoded) -> bool:
    return isinstance(data, dict) and type(data.get("node")) is int


def _was_there(evidence: Evidence, path: str) -> bool:
    """Whether a node outside all sets calls or reads this name in the given module."""
    gm, parts, _ = evidence.trial.args
    inside = set().union(*parts)
    return any(
        node.target == path
        for node in gm.graph.nodes
        if node.op in ("call_module", "get_attr") and node.name not in inside
    )


# ------------------------------------------------------------------ form


@dataclass(frozen=True)
class _Part:
    """The evidence about one compiled graph, for rules about one graph."""

    whole: Evidence
    number: int

    @property
    def graph(self) -> GraphRecord:
        """The description of this graph."""
        return self.whole.outcome.value["pieces"][self.number]["graph_module"]

    @property
    def derived(self) -> DerivedGraph:
        """Its derived form, which the judge computes from its rows."""
        return self.whole.derived_from(self.graph)

    @property
    def exercise(self) -> Exercise:
        """The exercise, which decides which user code a graph may call."""
        return self.whole.exercise

    def finding(self, *args: Any, **kwargs: Any) -> Finding:
        """A finding whose message names the graph."""
        found = self.whole.finding(*args, **kwargs)
        words = f"In the graph of call number {self.number + 1} of `compile`: "
        return replace(found, message=words + found.message)


@rule("wellformed pieces", Stage.FORM)
def wellformed_pieces(evidence: Evidence) -> Iterable[Finding]:
    """The compiled graphs must be well formed, too."""
    for number in range(len(evidence.value["pieces"])):
        part: Any = _Part(evidence, number)
        found = list(wellformed.find(part))
        if part.graph["codegen"] != "CodeGen":
            text = f"its code is written by `{part.graph['codegen']}`, not by FX itself."
            found = [part.finding("no-code", text, "What changes how code is written?")]
        if found:
            yield from found
            return


@rule("a module of its own", Stage.FORM)
def module_of_its_own(evidence: Evidence) -> Iterable[Finding]:
    """The result must be a new module with its own graph."""
    if not evidence.value["new"]:
        yield evidence.finding(
            "not-new",
            f"What {evidence.you} returned has the graph of the module that it was given.",
            "Return a module of its own, even if there are no sets.",
        )


KEY = AnswerKey(
    (
        returns_graph_module,
        compile_is_called.because("says what was given, before anything in it is looked at"),
        compiled_modules_are_called.because("names the call, before the values of any are named"),
        caller_untouched,
        wellformed,
        wellformed_pieces.because("says what is wrong with a graph, before its nodes are named"),
        known_targets,
        module_of_its_own.because("names what is shared, before anything in it is compared"),
        signature_kept,
        nodes_in_their_places,
        what_comes_in,
        what_goes_out,
        examples,
        attributes,
        meta_kept,
        runs,
        same_result,
        copies,
    ),
    model_itself,
)
