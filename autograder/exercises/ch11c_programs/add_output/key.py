"""The answer key of `add_output`: a program that declares and returns one more value."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from torch import fx

from autograder.authoring.key import (
    AdviceRow,
    AnswerKey,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    Reference,
    Stage,
    Trial,
    caller_untouched,
    kind_of,
    rule,
    runs_of,
    show,
    unsound,
)
from autograder.exercises.ch11c_programs.models import facts_of
from autograder.exercises.ch11c_programs.reports import (
    returns_program,
    said_in,
    table,
    the_same,
)


def _wanted(evidence: Evidence) -> dict[str, Encoded]:
    """The record of the given program."""
    return table(Encoder().encode(facts_of(evidence.trial.args[0].program)))


@rule("signature", Stage.FORM)
def signature_says_so(evidence: Evidence) -> Iterable[Finding]:
    """The signature must have one more user output, at the end, and no other change."""
    said, known = said_in(evidence), _wanted(evidence)
    name = evidence.trial.args[0].name
    got, old = said["outputs"]["list"], known["outputs"]["list"]
    want = [*old, f"USER_OUTPUT TensorArgument({name!r}) target=None"]
    advice = "Print `ep.graph_signature` before and after: what is the difference?"
    if got != want:
        if got == old:
            text = f"the signature has {len(old)} outputs, as before"
        elif len(got) != len(want):
            text = f"the signature has {len(got)} outputs, not {len(want)}"
        else:
            i = next(i for i, (a, b) in enumerate(zip(got, want, strict=True)) if a != b)
            text = f"output {i + 1} of the signature is {show(got[i])}, not {show(want[i])}"
        yield evidence.finding("wrong-signature", f"In your program, {text}.", advice)
    elif said["inputs"] != known["inputs"]:
        yield evidence.finding(
            "wrong-signature", "In your program, the signature's inputs are not as before.", advice
        )


@rule("nodes as before", Stage.STRUCTURE)
def nodes_as_before(evidence: Evidence) -> Iterable[Finding]:
    """All nodes except the output must be unchanged, in the same order."""
    got = said_in(evidence)["rows"]["list"][:-1]
    want = _wanted(evidence)["rows"]["list"][:-1]
    if got == want:
        return
    ours, theirs = ([str(row["tuple"][1]) for row in rows] for rows in (got, want))
    lost = [name for name in theirs if name not in ours]
    new = [name for name in ours if name not in theirs]
    if lost:
        text, nodes = f"The node `{lost[0]}` is not there any more", lost[:1]
    elif new:
        text, nodes = f"There is a new node `{new[0]}`", new[:1]
    else:
        pairs = zip(got, want, strict=False)
        odd = next((str(a["tuple"][1]) for a, b in pairs if a != b), ours[-1])
        text, nodes = f"The node `{odd}` is not as it was, or not where it was", [odd]
    yield evidence.finding(
        "nodes-changed",
        f"{text}.",
        "The value is computed already. Only the output node has to read it.",
        nodes=nodes,
    )


@rule("output node", Stage.STRUCTURE)
def output_reads_it(evidence: Evidence) -> Iterable[Finding]:
    """The output node must read its old values, then the new one."""
    last = [rows["rows"]["list"][-1]["tuple"] for rows in (said_in(evidence), _wanted(evidence))]
    got, want = (_items(row[3]) for row in last)
    want = [*want, {"node": evidence.trial.args[0].name}]
    rest = [[*row[:3], *row[4:]] for row in last]
    if rest[0] != rest[1] or got != want:
        yield evidence.finding(
            "wrong-output",
            f"The output node reads {_names(got)}; it should read {_names(want)}.",
            "The graph of a program returns one flat tuple, in the order of the signature.",
        )


def _items(args: Encoded) -> list[Encoded]:
    """The items of an output node, if it returns one flat tuple or list."""
    inner = args["tuple"][0] if isinstance(args, dict) and len(args.get("tuple", ())) == 1 else None
    if not isinstance(inner, dict):
        return [inner]
    return next((inner[key] for key in ("tuple", "list") if key in inner), [inner])


def _names(items: list[Encoded]) -> str:
    words = [str(item["node"]) if isinstance(item, dict) and "node" in item else show(item)
             for item in items]  # fmt: skip
    return f"`({', '.join(words)})`"


@rule("recompiled", Stage.STRUCTURE)
def is_recompiled(evidence: Evidence) -> Iterable[Finding]:
    """The graph module must be recompiled, and `lint` must accept the graph."""
    yield from unsound(evidence, said_in(evidence))


@rule("state and sizes", Stage.STRUCTURE)
def state_and_sizes(evidence: Evidence) -> Iterable[Finding]:
    """Parameters, buffers and constants must be kept, and dynamic sizes must stay dynamic."""
    said, known = said_in(evidence), _wanted(evidence)
    if said["ranges"] != known["ranges"]:
        yield evidence.finding(
            "lost-sizes",
            f"The range constraints of your program are {show(said['ranges'])}, "
            f"not {show(known['ranges'])}.",
            "`ep.range_constraints` says which sizes may change. A new program needs them, too.",
        )
    elif said["state"] != known["state"]:
        yield evidence.finding(
            "lost-state",
            "Your program does not hold the same parameters, buffers and constants.",
            "Compare `ep.state_dict` and `ep.constants` before and after.",
        )


@rule("same result, and the value", Stage.RESULT)
def result_and_value(evidence: Evidence) -> Iterable[Finding]:
    """The new program must return the old result and the value, also after saving and loading."""
    advice = "Two items come back: the old result in its old structure, and the value."
    yield from the_same(evidence, advice, saved=evidence.trial.args[0].saved, shape=_not_a_pair)


def _not_a_pair(value: Encoded) -> str:
    if _is_pair(value):
        return ""
    items = value.get("tuple") if isinstance(value, dict) else None
    kind = kind_of(value) if items is None else f"a tuple of {len(items)}"
    return f"{kind}, and not the tuple of two `(old result, value)`"


def _is_pair(value: Encoded) -> bool:
    return isinstance(value, dict) and len(value.get("tuple", ())) == 2


class _Keeping(fx.Interpreter):
    """Runs a module and keeps a copy of one node's value."""

    def __init__(self, gm: fx.GraphModule, name: str) -> None:
        super().__init__(gm)
        self.name = name
        self.kept: Any = None

    def run_node(self, n: fx.Node) -> Any:
        value = super().run_node(n)
        if n.op == "call_function" and n.name == self.name:
            self.kept = copy.deepcopy(value)
        return value


def _old_and_value(trial: Trial) -> Reference:
    """The program's result and the node's value, computed by an Interpreter."""
    program, name = trial.args[0].program, trial.args[0].name

    def call(*inputs: Any) -> Any:
        # The module's buffers belong to the program, and change.
        module = copy.deepcopy(program).module()
        keeping = _Keeping(module, name)
        flat = keeping.run(*inputs)
        return flat, keeping.kept

    return runs_of(call, trial)


ADVICE = (
    AdviceRow(
        ("SpecViolationError",),
        "",
        "A new program is looked at when it is made: its graph, its signature and its state have "
        "to fit together. Which of them does not know of your change?",
    ),
)

KEY = AnswerKey(
    (
        returns_program.because("names the kind that came back, before it is looked at"),
        caller_untouched,
        signature_says_so,
        nodes_as_before,
        output_reads_it.because("names what the output reads, before values are compared"),
        is_recompiled,
        state_and_sizes,
        result_and_value,
    ),
    _old_and_value,
    oracle_only=True,
    advice=ADVICE,
)
