"""What the exercises of chapter 03 ask of an edited graph, beyond what all passes do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from autograder.core.codec import Encoder, Plain
from autograder.core.graph_view import target_text
from autograder.core.verdict import Finding
from autograder.judge.rule import Stage, rule
from autograder.rules.canonical import Table, call_of, expressions, missing_and_extra

if TYPE_CHECKING:
    from autograder.judge import Evidence

_OPERATOR_ADD = {"function": "operator.add"}
_TORCH_ADD = {"function": "torch.add"}
_TORCH_RELU = {"function": "torch.relu"}


def calls(row: Plain, *functions: Plain) -> bool:
    """Whether a node is a call of one of these functions, given as plain data."""
    return row["op"] == "call_function" and row["target"] in functions


def keyword(row: Plain, name: str) -> Plain:
    """A node's keyword argument, or ``None``."""
    return next((value for key, value in row["kwargs"]["dict"] if key == name), None)


def classes_of(data: Plain) -> dict[str, str]:
    """The class of each module of a description, by path; aliases included."""
    found: dict[str, str] = {}
    for row in data["modules"]:
        found[row["path"]] = found[row["same_as"]] if "same_as" in row else row["class"]
    return found


# ------------------------------------------------------------------ retarget


@rule("calls replaced", Stage.STRUCTURE)
def calls_replaced(evidence: Evidence) -> Iterable[Finding]:
    """Calls of `old` are calls of `new` with the same arguments; all else is as it was."""
    encode = Encoder(evidence.trial.functions).function
    old, new = (encode(function) for function in evidence.trial.args[1:3])
    before, after = evidence.traced_graph["nodes"], evidence.graph["nodes"]
    left = next((row for row in after if calls(row, old)), None)
    if left:
        yield evidence.finding(
            "missed-call",
            f"`{left['name']}` still calls `{target_text(old)}`.",
            "Every `call_function` node whose target is `old` is meant, wherever it stands.",
            nodes=(left["name"],),
        )
        return
    others = [row for row in before if not calls(row, old)]
    changed = _changed_node(others, after)
    if changed:
        yield evidence.finding(
            "other-nodes-changed",
            f"The model's trace has a node `{changed['name']}` that is no call of "
            f"`{target_text(old)}`; your result has no such node of that name.",
            "Look at how nodes get their names, and at which nodes you touch.",
            nodes=(changed["name"],),
        )
    elif len(before) != len(after):
        yield evidence.finding(
            "other-nodes-changed",
            f"The model's trace has {len(before)} nodes, your result has {len(after)}.",
            "No node is to be added or removed, not even one that nobody reads.",
        )
    else:
        yield from _same_arguments(evidence, old, new)


def _changed_node(others: list[Plain], after: list[Plain]) -> Plain | None:
    kept = {(row["name"], row["op"], str(row["target"])) for row in after}
    for row in others:
        if (row["name"], row["op"], str(row["target"])) not in kept:
            return row
    return None


def _same_arguments(evidence: Evidence, old: Plain, new: Plain) -> Iterable[Finding]:
    table: Table = {}
    want = expressions(
        evidence.traced_graph, table, target=lambda r: new if calls(r, old) else r["target"]
    )
    got = expressions(evidence.graph, table)
    _, extra = missing_and_extra(want, got)
    if extra:
        name = evidence.graph["nodes"][extra[0]]["name"]
        yield evidence.finding(
            "wrong-arguments",
            f"`{name}` does not call what it is to call with the arguments it had.",
            "Arguments come by position and by keyword; compare both with the model's trace.",
            nodes=(name,),
        )


# ------------------------------------------------------------------ add_to_mul


def _is_addition(row: Plain) -> bool:
    return calls(row, _OPERATOR_ADD, _TORCH_ADD) or (
        row["op"] == "call_method" and row["target"] == "add"
    )


def _has_other_alpha(row: Plain) -> bool:
    alpha = keyword(row, "alpha")
    return alpha is not None and alpha != 1


def _adds_in_place(row: Plain) -> bool:
    return calls(row, {"function": "operator.iadd"}) or (
        row["op"] == "call_method" and row["target"] in ("add_", "__iadd__")
    )


def _spelling(row: Plain) -> str:
    if row["op"] == "call_method":
        return "the method `.add`"
    return "the operator `+`" if calls(row, _OPERATOR_ADD) else "a call of `torch.add`"


@rule("additions replaced", Stage.STRUCTURE)
def additions_replaced(evidence: Evidence) -> Iterable[Finding]:
    """No addition that is meant is left, and none that is not meant is gone."""
    after = evidence.graph["nodes"]
    for row in after:
        if _is_addition(row) and not _has_other_alpha(row):
            yield evidence.finding(
                "missed-spelling",
                f"`{row['name']}` is still an addition: {_spelling(row)}.",
                "An addition is written as a function, as an operator, or as a method.",
                nodes=(row["name"],),
            )
            return
    kept = Counter(str(row["target"]) for row in after if _stays(row))
    for row in evidence.traced_graph["nodes"]:
        if not _stays(row):
            continue
        kept[str(row["target"])] -= 1
        if kept[str(row["target"])] < 0:
            why = "adds in place" if _adds_in_place(row) else "has an `alpha` that is not 1"
            yield evidence.finding(
                "changed-too-much",
                f"The model's node `{row['name']}` {why}; in your result it is not as it was.",
                "Read again which additions are left as they are.",
                nodes=(row["name"],),
            )
            return


def _stays(row: Plain) -> bool:
    return _adds_in_place(row) or (_is_addition(row) and _has_other_alpha(row))


# ------------------------------------------------------------------ relu_after_add


def _about_relu(readers: list[Plain]) -> str:
    """Where to look for a relu that is missing behind a sum."""
    spelled = [row["name"] for row in readers if "relu" in str(row["target"]).lower()]
    if spelled:
        return f"`{spelled[0]}` reads it, another spelling. The function `torch.relu` is meant."
    return "Both `torch.add` and `+` are meant, also where nobody reads the sum."


@rule("one relu for each sum", Stage.STRUCTURE)
def one_relu_for_each_sum(evidence: Evidence) -> Iterable[Finding]:
    """After each addition one relu, which reads it and which its readers read."""
    after = evidence.graph["nodes"]
    for i, row in enumerate(after):
        if not calls(row, _TORCH_ADD, _OPERATOR_ADD):
            continue
        readers = [after[place] for place in evidence.form.users[i]]
        relus = [other for other in readers if calls(other, _TORCH_RELU)]
        others = [other["name"] for other in readers if other not in relus]
        name = row["name"]
        if not relus:
            yield evidence.finding(
                "relu-missing",
                f"No call of `torch.relu` reads the sum `{name}`.",
                _about_relu(readers),
                nodes=(name,),
            )
        elif len(relus) > 1:
            names = " and ".join(f"`{relu['name']}`" for relu in relus[:2])
            yield evidence.finding(
                "several-relus",
                f"The sum `{name}` is read by {names}.",
                "One relu serves all readers of a sum; a relu of the model itself is a reader.",
                nodes=(name,),
            )
        elif others:
            yield evidence.finding(
                "reader-not-rewired",
                f"`{others[0]}` still reads the sum `{name}` itself.",
                "All readers are meant: the output, lists and slices, one that reads twice.",
                nodes=(name, others[0]),
            )
        else:
            continue
        return
    yield from _nothing_else(evidence)


def _nothing_else(evidence: Evidence) -> Iterable[Finding]:
    table: Table = {}

    def readers_see(row: Plain, own: int) -> int:
        summed = calls(row, _TORCH_ADD, _OPERATOR_ADD)
        return call_of(table, _TORCH_RELU, own) if summed else own

    before = evidence.traced_graph
    want = expressions(before, table, readers_see=readers_see)
    for row, own in zip(before["nodes"], list(want), strict=True):
        if calls(row, _TORCH_ADD, _OPERATOR_ADD):
            want.append(call_of(table, _TORCH_RELU, own))
    got = expressions(_relus_by_position(evidence.graph), table)
    missing, extra = missing_and_extra(want, got)
    names = [evidence.graph["nodes"][i]["name"] for i in extra]
    if names:
        yield evidence.finding(
            "changed-too-much",
            f"`{names[0]}` in your result is not what the exercise asks for.",
            "Nothing else changes: not the method `.add`, not what a node reads besides sums.",
            nodes=names[:1],
        )
    elif missing:
        gone = [before["nodes"][i]["name"] for i in missing if i < len(before["nodes"])]
        what = f"node `{gone[0]}`" if gone else "relu of a sum"
        yield evidence.finding(
            "changed-too-much",
            f"The model's {what} is missing from your result.",
            "Nothing is to be removed, not even what nobody reads.",
        )


def _relus_by_position(data: Plain) -> Plain:
    """The description with `torch.relu(input=x)` written as `torch.relu(x)`."""
    rows = []
    for row in data["nodes"]:
        value = keyword(row, "input")
        if calls(row, _TORCH_RELU) and value is not None and len(row["kwargs"]["dict"]) == 1:
            row = row | {"args": {"tuple": [value]}, "kwargs": {"dict": []}}
        rows.append(row)
    return {"nodes": rows}
