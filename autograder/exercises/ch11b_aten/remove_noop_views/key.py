"""The answer key of `remove_noop_views`: it compares rows of graphs by their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from autograder.authoring.key import (
    AnswerKey,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    Stage,
    caller_untouched,
    difference,
    incomplete,
    kind_of,
    model_itself,
    rule,
    show,
    unsound,
)
from autograder.exercises.ch11b_aten.remove_noop_views.views import (
    VIEW,
    Row,
    Strange,
    Value,
    Views,
    readers,
    rows_of,
)
from autograder.models.graph_reports import row_of


def _said(evidence: Evidence, i: int = 0) -> dict[str, Encoded]:
    value = evidence.outcome.runs[i]["forward"]["value"]
    return {show(key).strip("'"): item for key, item in value["dict"]}


def _before(evidence: Evidence) -> list[Row]:
    graph = evidence.trial.args[0].gm.graph
    return rows_of(Encoder().encode([row_of(node) for node in graph.nodes]))


def _views(evidence: Evidence) -> Views:
    return Views(evidence.trial.args[0].gm, _before(evidence))


def _after(evidence: Evidence) -> tuple[list[Row], Views, dict[str, Value]]:
    """The rows of the result, the given graph's views, and the value of each row.

    Raises:
        Strange: the rows do not fit the given graph.
    """
    rows, views = rows_of(_said(evidence)["rows"]), _views(evidence)
    return rows, views, views.after(rows)


@rule("returns a number", Stage.KIND)
def returns_number(evidence: Evidence) -> Iterable[Finding]:
    """The answer must return an `int`."""
    count = _said(evidence)["count"]
    if type(count) is not int:
        yield evidence.finding(
            "returned-none" if count is None else "wrong-kind",
            f"{evidence.you} returned {kind_of(count)}, not an `int`.",
            "The graph module is changed in place. Only the number comes back.",
        )
        return
    yield from incomplete(evidence, [_said(evidence, i) for i in range(len(evidence.outcome.runs))])


@rule("sound graph", Stage.FORM)
def sound_graph(evidence: Evidence) -> Iterable[Finding]:
    """`lint` must accept the graph, and the code must match it."""
    yield from unsound(evidence, _said(evidence))


@rule("no guard", Stage.FORM)
def no_guard(evidence: Evidence) -> Iterable[Finding]:
    """The answer must add no guards on symbolic sizes."""
    before, after = (item["list"] for item in _said(evidence)["known"]["tuple"])
    new = [text for text in after if text not in before]
    if new:
        yield evidence.finding(
            "guard-added",
            f"Since your function ran, the sizes have to fulfil {show(new[0])}.",
            "Which line of yours asks whether two sizes are equal? With `==` in a condition, the "
            "sizes of the example answer. Operators that run on fake tensors may ask, too.",
        )


@rule("other nodes", Stage.STRUCTURE)
def other_nodes(evidence: Evidence) -> Iterable[Finding]:
    """Nodes of other kinds must be unchanged, with the same values as arguments."""
    after = rows_of(_said(evidence)["rows"])
    ours = [row for row in after if not row.is_kind]
    theirs = [row for row in _before(evidence) if not row.is_kind]
    names, wanted = [row.name for row in ours], [row.name for row in theirs]
    lost = [name for name in wanted if name not in names]
    new = [name for name in names if name not in wanted]
    if lost or new:
        name = (lost or new)[0]
        yield evidence.finding(
            "other-node",
            f"The node `{name}` is not there any more."
            if lost
            else f"There is a new node `{name}`, of none of the four kinds.",
            "Only view.default, reshape.default, slice.Tensor and expand.default may go. Nodes of "
            "other kinds stay, also dead ones, and those that give the shape that they get.",
            nodes=(name,),
        )
        return
    try:
        _, views, values = _after(evidence)
    except Strange as error:
        yield evidence.finding(
            "strange-view",
            f"In your graph, {error}.",
            "A view that reads further up keeps its sizes; what nobody needs goes as a whole.",
        )
        return
    for mine, known in zip(ours, theirs, strict=True):
        same = (mine.op, mine.name, mine.target) == (known.op, known.name, known.target)
        args = [
            _in_values([row.args, row.kwargs], table)
            for row, table in ((mine, values), (known, views.values))
        ]
        if not same or args[0] != args[1]:
            yield evidence.finding(
                "wrong-reader",
                f"`{known.name}` does not read the same values as before.",
                "Follow what it reads up to a node that is not a view, with the shapes on the way, "
                "before and after.",
                nodes=(known.name,),
            )
            return
        if mine.val != known.val:
            yield evidence.finding(
                "other-node",
                f"The `val` of `{known.name}` is {mine.val}, and was {known.val}.",
                "Nodes of other kinds stay as they are, `meta` included.",
                nodes=(known.name,),
            )
            return


def _in_values(data: Encoded, values: dict[str, Value]) -> Encoded:
    """Arguments, with each node replaced by its value."""
    if isinstance(data, dict):
        if len(data) == 1 and "node" in data:
            return values.get(str(data["node"]), ("nothing", str(data["node"])))
        return {key: _in_values(value, values) for key, value in data.items()}
    return [_in_values(item, values) for item in data] if isinstance(data, list) else data


def _of_four_kinds(evidence: Evidence) -> Iterator[tuple[Row, Views, dict[str, Value], list[Row]]]:
    after, views, values = _after(evidence)
    for row in after:
        if row.is_kind:
            yield row, views, values, after


@rule("nothing does nothing", Stage.STRUCTURE)
def no_noops(evidence: Evidence) -> Iterable[Finding]:
    """No node of the four kinds may give its input's shape."""
    for row, views, values, _ in _known(evidence):
        if views.does_nothing(row, values):
            yield evidence.finding(
                "still-there",
                f"`{row.name}` gives the shape that `{row.source}` has, {_shape_in(row.val)}, and "
                "is still there.",
                "Compare the two shapes, size by size. Does this node come to do nothing only "
                "after another change?",
                nodes=(row.name,),
            )
            return


def _shape_in(val: str) -> str:
    """The shape in a text such as ``float32 [2, 3] strides [3, 1]``."""
    return val.partition(" strides ")[0].partition(" ")[2]


def _known(evidence: Evidence) -> list[tuple[Row, Views, dict[str, Value], list[Row]]]:
    try:
        return list(_of_four_kinds(evidence))
    except Strange:
        return []  # another rule reports it


@rule("no view reads a view", Stage.STRUCTURE)
def no_views_of_views(evidence: Evidence) -> Iterable[Finding]:
    """No view or reshape may read another view or reshape."""
    for row, _, _, after in _known(evidence):
        shapes = {each.name for each in after if each.is_shape}
        if row.is_shape and row.source in shapes:
            yield evidence.finding(
                "view-of-view",
                f"`{row.name}` still reads `{row.source}`: a view reads a view.",
                "It gives the same when it reads what that one reads. Chains may be longer than "
                "two.",
                nodes=(row.name, row.source),
            )
            return


@rule("none without a reader", Stage.STRUCTURE)
def none_without_reader(evidence: Evidence) -> Iterable[Finding]:
    """No node of the four kinds may lack a reader."""
    for row, _, _, after in _known(evidence):
        if not readers(after)[row.name]:
            yield evidence.finding(
                "dead-view",
                f"Nobody reads `{row.name}`, and it is still there.",
                "Who has lost its last reader? When such a node goes, what it reads may lose one.",
                nodes=(row.name,),
            )
            return


@rule("works wherever both did", Stage.STRUCTURE)
def works_wherever(evidence: Evidence) -> Iterable[Finding]:
    """A node that replaces a reshape must be a reshape."""
    for row, views, values, after in _known(evidence):
        if any(each.name == row.source and each.is_shape for each in after):
            continue  # it reads its old input, which another rule reports
        if row.target == VIEW and values[row.name] not in views.plain:
            yield evidence.finding(
                "view-fails",
                f"`{row.name}` is a view of `{row.source}` now. Between them there was a reshape, "
                "which copies where a view is not possible.",
                "A view raises an error where sizes and strides do not fit. Which operator works "
                "wherever both of them worked?",
                nodes=(row.name,),
            )
            return


@rule("right val", Stage.STRUCTURE)
def right_val(evidence: Evidence) -> Iterable[Finding]:
    """Every node of the four kinds must have a right `val`."""
    for row, views, values, _ in _known(evidence):
        wanted = views.vals[values[row.name]]
        if row.val not in wanted:
            has = "has no `val`" if row.val == "None" else f"has the `val` {row.val}"
            yield evidence.finding(
                "wrong-val",
                f"`{row.name}` {has}; its value is {sorted(wanted)[0]}.",
                "A new node has no `meta` at all, and what is copied must be of the node whose "
                "value it gives.",
                nodes=(row.name,),
            )
            return


@rule("right number", Stage.RESULT)
def right_number(evidence: Evidence) -> Iterable[Finding]:
    """The number must be how many nodes of the four kinds were removed."""
    after = rows_of(_said(evidence)["rows"])
    counts = [sum(row.is_kind for row in rows) for rows in (_before(evidence), after)]
    want, got = counts[0] - counts[1], _said(evidence)["count"]
    if got != want:
        yield evidence.finding(
            "wrong-count",
            f"{evidence.you} returned {got}. The graph had {counts[0]} nodes of the four kinds, "
            f"and has {counts[1]}: that is {want} fewer.",
            "All that go count once, whatever the reason. A node that is moved has not gone.",
        )


@rule("same result", Stage.RESULT)
def gives_the_same(evidence: Evidence) -> Iterable[Finding]:
    """The graph must still compute the same."""
    for i, want in enumerate(evidence.reference.runs):
        how, value = _said(evidence, i)["result"]["tuple"]
        on = evidence.inputs_text(i)
        if how == "raised":
            yield evidence.finding(
                "result-raises", f"Running the graph on {on} raised {show(value)}.",
                "Read the code of the graph, line by line, with the shapes.",
            )  # fmt: skip
            return
        found = difference(
            value, evidence.outcome.tensors, want["value"], evidence.reference.tensors
        )
        if found:
            yield evidence.finding(
                found.code, f"On {on}, {found.text}.",
                "Follow the values through the graph, before and after.",
            )  # fmt: skip
            return
        args = evidence.outcome.runs[i]["forward"]["args"]
        tables = evidence.outcome.tensors, evidence.reference.tensors
        found = difference(args, tables[0], want["args"], tables[1], "the arguments")
        if found:
            yield evidence.finding(
                "argument-changed", f"After a run on {on}, {found.text}.",
                "What the old graph changes in place, the new one changes, too.",
            )  # fmt: skip
            return


KEY = AnswerKey(
    (
        returns_number.because("names the kind that came back, before it is compared"),
        caller_untouched,
        sound_graph,
        no_guard.because("names the guard, before what comes of it"),
        other_nodes,
        no_noops,
        no_views_of_views.because("names the chain, before what is left in it"),
        none_without_reader,
        works_wherever,
        right_val,
        right_number,
        gives_the_same.because("runs the graph, where all else only reads it"),
    ),
    model_itself,
    oracle_only=True,
)
