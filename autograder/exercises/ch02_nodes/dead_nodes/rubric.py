"""What the exercises of chapter 02 ask for, beyond what all exercises do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from autograder.core.codec import Plain, kind_of, show
from autograder.core.verdict import Finding
from autograder.judge.rule import Stage, rule

if TYPE_CHECKING:
    from autograder.judge import Evidence

# ------------------------------------------------------------------ count_ops


@rule("right counts", Stage.RESULT)
def right_counts(evidence: Evidence) -> Iterable[Finding]:
    """Six keys, and under each the number of nodes."""
    got = {show(key): value for key, value in evidence.outcome.value["dict"]}
    want = {show(key): value for key, value in evidence.reference.value["dict"]}
    missing = [key for key in want if key not in got]
    if missing:
        yield evidence.finding(
            "missing-opcode", f"Your dictionary has no key {', '.join(missing)}.",
            "An opcode that the model does not use is a key, too.",
        )  # fmt: skip
    extra = [key for key in got if key not in want]
    if extra:
        yield evidence.finding(
            "extra-key", f"Your dictionary has a key {extra[0]}, which is no opcode.",
            "The keys are the six opcodes, spelled as `node.op` gives them.",
        )  # fmt: skip
    for key, number in want.items():
        if key in got and (type(got[key]) is not int or got[key] != number):
            yield evidence.finding(
                "wrong-count",
                f"You count {show(got[key])} nodes with opcode {key}; the trace of this model "
                f"has {number}.",
                "Trace the model, print the graph of the trace with `print_tabular` and count its "
                "rows.",
            )
            return


# ------------------------------------------------------------------ inputs_of


@rule("inputs of each node", Stage.RESULT)
def inputs_of_each_node(evidence: Evidence) -> Iterable[Finding]:
    """For each node of the case: the right nodes, each once, in the right order."""
    nodes = list(evidence.trial.args[0].graph.nodes)
    names = [node.name for node in nodes]
    rows, wanted = evidence.outcome.value["list"], evidence.reference.value["list"]
    for node, row, want in zip(nodes, rows, wanted, strict=True):
        found = _inputs_problem(names, row, want["list"])
        if found:
            code, text, look = found
            where = f"`{node.name}` has args = {node.args} and kwargs = {dict(node.kwargs)}"
            yield evidence.finding(
                code, f"`inputs_of({node.name})` {text}. {where}.", look, (node.name,)
            )
            return


def _inputs_problem(names: list[str], row: Plain, want: list[Plain]) -> tuple[str, str, str] | None:
    """Code, clause and place to look for what is wrong with one node's inputs."""
    if not (isinstance(row, dict) and "list" in row):
        look = "Compare with the return type in the exercise."
        return ("wrong-kind", f"returned {kind_of(row)}, not a `list`", look)
    got = row["list"]
    strange = next((item for item in got if not (isinstance(item, dict) and "node" in item)), None)
    if isinstance(strange, dict) and "foreign" in strange:
        look = "Does your function remember something of an earlier call?"
        return ("extra-input", f"lists `{strange['foreign']}`, a node of another graph", look)
    if strange is not None or None in got:
        text = f"has {kind_of(strange)} in its list, which is no node of the graph"
        return ("not-a-node", text, "The list holds the nodes themselves.")
    ours, theirs = [item["node"] for item in got], [item["node"] for item in want]
    missed = [names[i] for i in theirs if i not in ours]
    extra = [names[i] for i in ours if i not in theirs]
    if missed:
        look = "Look for it in the arguments: in which container does it stand?"
        return ("missed-input", f"leaves out `{missed[0]}`", look)
    if extra:
        look = "Does your function remember something of an earlier call?"
        return ("extra-input", f"lists `{extra[0]}`, which it does not read", look)
    if len(ours) != len(theirs):
        twice = names[next(i for i, count in Counter(ours).items() if count > 1)]
        look = "A node that is read twice is still one node."
        return ("listed-twice", f"lists `{twice}` more than once", look)
    if ours != theirs:
        order = ", ".join(names[i] for i in ours)
        look = "The order is that of first appearance: args from left to right, then kwargs."
        return ("wrong-order", f"lists the right nodes in another order: {order}", look)
    return None


# ------------------------------------------------------------------ dead_nodes


@rule("right names", Stage.RESULT)
def right_names(evidence: Evidence) -> Iterable[Finding]:
    """The names of the dead nodes, in graph order."""
    got, want = evidence.outcome.value["list"], evidence.reference.value["list"]
    rows = {row["name"]: row for row in evidence.traced_graph["nodes"]}
    for name in got:
        if not isinstance(name, str):
            yield evidence.finding(
                "wrong-kind", f"Your list has {kind_of(name)} in it; it is to hold names.",
                "The name of a node is `node.name`, a string.",
            )  # fmt: skip
            return
        if name not in rows:
            yield evidence.finding(
                "unknown-name", f"You list `{name}`, and no node of a fresh trace has this name.",
                "The names are those in the trace of the model that you were given.",
            )  # fmt: skip
            return
        if name not in want:
            yield _not_dead(evidence, rows[name])
            return
    yield from _missed_or_disordered(evidence, got, want)


def _not_dead(evidence: Evidence, row: Plain) -> Finding:
    name = row["name"]
    if row["op"] == "placeholder":
        return evidence.finding(
            "lists-placeholder", f"You list `{name}`, a placeholder.",
            "Placeholders belong to the signature; whether they are read does not matter.",
            (name,),
        )  # fmt: skip
    if row["op"] == "output":
        return evidence.finding(
            "lists-output", f"You list `{name}`, the output itself.",
            "Nothing reads the output, and still it is what all is for.", (name,),
        )  # fmt: skip
    return evidence.finding(
        "not-dead", f"You list `{name}`, and its value reaches the output.",
        "Follow its readers, and their readers, to the output.", (name,),
    )  # fmt: skip


def _missed_or_disordered(evidence: Evidence, got: list[str], want: list[str]) -> Iterator[Finding]:
    missed = [name for name in want if name not in got]
    if missed:
        yield evidence.finding(
            "missed-dead", f"You leave out `{missed[0]}`, whose value never reaches the output.",
            "Does anything that counts read it? Who reads it, and who reads its readers?",
            (missed[0],),
        )  # fmt: skip
    elif got != want:
        twice = len(got) != len(want)
        yield evidence.finding(
            "listed-twice" if twice else "wrong-order",
            "You list a name more than once." if twice
            else f"The names are right, their order is not: {', '.join(got)}.",
            "The order is that of the graph, each name once.",
        )  # fmt: skip


# ------------------------------------------------------------------ wellformed

CODES = ("dotted-name", "foreign-node", "missing-target", "output", "raw-tensor", "stale-code",
         "undefined-use")  # fmt: skip
_WHERE = {
    "dotted-name": "Look at the keys of every module's own dictionaries, at any depth.",
    "foreign-node": "Look at what each node reads and at who reads it; which of them are in "
    "`graph.nodes`?",
    "missing-target": "Follow the target of each `call_module` and `get_attr` from the module, "
    "one part of the path after the other.",
    "output": "Which nodes are outputs, and where do they stand?",
    "raw-tensor": "Look at every argument, in each container that may hold arguments.",
    "stale-code": "Compare `gm.code` with the code that the graph would generate now.",
    "undefined-use": "For each node: has everything of this graph that it reads been defined?",
}


@rule("right codes", Stage.RESULT)
def right_codes(evidence: Evidence) -> Iterable[Finding]:
    """Each code that applies, once, sorted, and no other."""
    got, want = evidence.outcome.value["list"], evidence.reference.value["list"]
    for code in got:
        if code not in CODES:
            yield evidence.finding(
                "unknown-code", f"Your list has {show(code)}, which is none of the codes.",
                "Spell the codes as in the table of the exercise.",
            )  # fmt: skip
            return
    for code in want:
        if code not in got:
            yield evidence.finding(
                "missed-fault", f"You do not report `{code}` here, and it applies.", _WHERE[code],
            )  # fmt: skip
    for code in got:
        if code not in want:
            yield evidence.finding(
                "false-alarm", f"You report `{code}` here, and it does not apply.", _WHERE[code],
            )  # fmt: skip
            return
    if sorted(set(got)) == want and got != want:
        twice = len(set(got)) != len(got)
        yield evidence.finding(
            "listed-twice" if twice else "not-sorted",
            f"You report {show({'list': got})}; each code is to be there once, in sorted order.",
            "Look at the last line of your function.",
        )  # fmt: skip
