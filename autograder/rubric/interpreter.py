"""What the exercises of chapter 06 ask for, beyond what all exercises do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from autograder.core.codec import Encoder, Plain, kind_of, show
from autograder.core.verdict import Finding
from autograder.judge.compare import difference
from autograder.judge.rule import Rule, Stage, rule

if TYPE_CHECKING:
    from autograder.judge import Evidence

# ------------------------------------------------------------------ classes


def _made_from(evidence: Evidence) -> Iterable[Finding]:
    """The answer is a class made from the class that the exercise names."""
    said = evidence.outcome.value
    if isinstance(said, str):
        yield evidence.finding(
            "wrong-kind",
            f"{evidence.you} is {said}.",
            "Keep the line `class ...` of the cell as it was given.",
        )


# Before all others: nothing else can be said about what is no such class.
made_from_the_class = Rule(
    "made from the class", 0, _made_from,  # type: ignore[arg-type]
    reason="says what the answer is, where all that others see is that nothing was run",
)  # fmt: skip


@rule("runs as asked", Stage.RESULT)
def runs_as_asked(evidence: Evidence) -> Iterable[Finding]:
    """Each run gives what the reference gives: value, error, and effect on the arguments."""
    for i, want in enumerate(evidence.reference.runs):
        found = _run_problem(evidence, i, evidence.outcome.runs[i]["forward"], want)
        if found:
            yield found
            return


def _run_problem(evidence: Evidence, i: int, got: Plain, want: Plain) -> Finding | None:
    number = i % len(evidence.trial.inputs)
    where = f"run {i + 1}, on {evidence.inputs_text(number)}"
    if "error" in want:
        return _error_problem(evidence, where, got, want["error"])
    if "error" in got:
        error = got["error"]
        return evidence.finding(
            "result-raises",
            f"`run` raised `{error['type']}: {error['message']}` in {where}.",
            "Did an earlier node of this graph get the value that it should have? "
            "A method without `return` gives `None`.",
        )
    tables = evidence.outcome.tensors, evidence.reference.tensors
    if got["value"] is None and want["value"] is not None:
        return evidence.finding(
            "returned-none",
            f"`run` returned `None` in {where}.",
            "Follow a node that you do not treat specially: which method handles it, and what "
            "does that method return?",
        )
    found = difference(got["value"], tables[0], want["value"], tables[1])
    if found:
        look = "Go through the graph node by node: what should each of them compute?"
        return evidence.finding(found.code, f"In {where}, {found.text}.", look)
    found = difference(got["args"], tables[0], want["args"], tables[1], "the arguments afterwards")
    if found:
        look = "Look for an operation in place that the graph does not have."
        return evidence.finding("argument-changed", f"In {where}, {found.text}.", look)
    return None


def _error_problem(evidence: Evidence, where: str, got: Plain, want: Plain) -> Finding | None:
    if "error" not in got:
        return evidence.finding(
            "should-raise",
            f"A node of the graph raises `{want['type']}` in {where}, and `run` returned all the "
            "same.",
            "An error that is caught must be raised again.",
        )
    same_type = got["error"]["type"] == want["type"]
    if not same_type or want["message"] not in got["error"]["message"]:
        return evidence.finding(
            "wrong-exception",
            f"A node raises `{want['type']}: {want['message']}` in {where}, but out of `run` came "
            f"`{got['error']['type']}: {got['error']['message']}`.",
            "The error of the operation is to pass through as it is.",
        )
    return None


# ------------------------------------------------------------------ record_shapes


@rule("a shape for each node", Stage.RESULT)
def a_shape_for_each_node(evidence: Evidence) -> Iterable[Finding]:
    """Every node of a fresh trace is a key, no other is, and each has the right shape."""
    got = {show(key): value for key, value in evidence.outcome.value["dict"]}
    want = {show(key): value for key, value in evidence.reference.value["dict"]}
    missing = [key for key in want if key not in got]
    if missing:
        yield evidence.finding(
            "missing-node", f"Your dictionary has no key {', '.join(missing[:3])}.",
            "Every node of the trace has a value when the graph has run.",
            (key.strip("'") for key in missing),
        )  # fmt: skip
    extra = [key for key in got if key not in want]
    if extra:
        yield evidence.finding(
            "extra-key", f"Your dictionary has a key {extra[0]}, which is no node's name.",
            "The keys are the names of the nodes in a fresh trace.",
        )  # fmt: skip
    stars = {f"{n.name!r}" for n in evidence.traced.graph.nodes if str(n.target).startswith("*")}
    for key in want:
        if key not in got:
            continue
        shape = _as_list(got[key]) if key in stars else got[key]
        goal = _as_list(want[key]) if key in stars else want[key]
        if difference(shape, [], goal, []):
            yield evidence.finding(
                "wrong-shape",
                f"For {key} you give {show(got[key])}; its value has the shape {show(want[key])}.",
                "Print the value of this node while the graph runs.",
                (key.strip("'"),),
            )
            return


def _as_list(shape: Plain) -> Plain:
    """The values of ``*args`` are a list for some interpreters and a tuple for others."""
    if isinstance(shape, dict) and "tuple" in shape:
        return {"list": shape["tuple"]}
    return shape


# ------------------------------------------------------------------ first_nonfinite


@rule("a name or None", Stage.KIND)
def a_name_or_none(evidence: Evidence) -> Iterable[Finding]:
    """The result is the name of a node, or `None`."""
    value = evidence.outcome.value
    if value is not None and not isinstance(value, str):
        yield evidence.finding(
            "wrong-kind",
            f"{evidence.you} returned {kind_of(value)}, not a name or `None`.",
            "`node.name` is the name of a node.",
        )


@rule("the first that is not finite", Stage.RESULT)
def the_first_not_finite(evidence: Evidence) -> Iterable[Finding]:
    """The node where finite values become a NaN or an infinity."""
    got, want = evidence.outcome.value, evidence.reference.value
    if got == want:
        return
    names = {node.name for node in evidence.traced.graph.nodes}
    if got is None:
        text = "returned `None`, but a value of this run is not finite"
        yield evidence.finding("missed", f"{evidence.you} {text}.", _LOOK_MISSED)
    elif want is None:
        text = f"named `{got}`, but all values of this run are finite"
        yield evidence.finding("false-alarm", f"{evidence.you} {text}.", _LOOK_ALARM, (got,))
    elif got not in names:
        text = f"returned {got!r}, which is no node of the trace"
        yield evidence.finding("no-such-node", f"{evidence.you} {text}.", _LOOK_NAME)
    else:
        text = f"named `{got}`, but that is not where it begins"
        yield evidence.finding("wrong-node", f"{evidence.you} {text}.", _LOOK_NODE, (got,))


_LOOK_MISSED = "Print the value of each node. Look into nested values, and at every kind of number."
_LOOK_ALARM = "Which values did you take for a NaN or an infinity?"
_LOOK_NAME = "Return `node.name` of a node of a fresh trace."
_LOOK_NODE = "Print the value of each node, in the order in which they run."


# ------------------------------------------------------------------ count_flops


@rule("right count", Stage.RESULT)
def right_count(evidence: Evidence) -> Iterable[Finding]:
    """The number of floating-point operations."""
    got, want = evidence.outcome.value, evidence.reference.value
    if got == want:
        return
    if want and got:
        text = f"{got:,} operations, which is {got / want:.3g} times what there is to count"
    else:
        text = f"{got:,} operations; there are {want:,} to count"
    yield evidence.finding(
        "wrong-count",
        f"{evidence.you} counted {text}.",
        "Compute one node of this model on paper, from the shapes of its operands.",
    )


# ------------------------------------------------------------------ AddToMul


@rule("meta kept", Stage.STRUCTURE)
def meta_kept(evidence: Evidence) -> Iterable[Finding]:
    """Each node that came from a node of the given module has that node's `meta`."""
    old = list(evidence.trial.args[0].graph.nodes)
    metas = [{key: Encoder().encode(value) for key, value in n.meta.items()} for n in old]
    rows, found = evidence.graph["nodes"], evidence.graph["meta"]
    if len(rows) != len(old):
        # Nodes were added; those that were copied are known by what stands in their meta.
        found = [next((f for f in found if f == meta), {}) for meta in metas]
    for node, meta, got in zip(old, metas, found, strict=True):
        if got == meta:
            continue
        yield evidence.finding(*_meta_words(node.name, meta, got), nodes=(node.name,))
        return


def _meta_words(name: str, meta: Plain, got: Plain) -> tuple[str, str, str]:
    lost = [key for key in meta if key not in got]
    if lost:
        return (
            "meta-lost",
            f"The node made from `{name}` has no `meta[{lost[0]!r}]`, which `{name}` has.",
            "Look at how the nodes of this opcode are made anew, and what `Transformer` copies.",
        )
    key = next(key for key in got if key not in meta or got[key] != meta[key])
    return (
        "meta-wrong",
        f"The node made from `{name}` has `meta[{key!r}]` = {show(got[key])}; "
        + (f"`{name}` has {show(meta[key])} there." if key in meta else f"`{name}` has none."),
        "Whose `meta` did this node get? Remember what each handler returns, the output's too.",
    )
