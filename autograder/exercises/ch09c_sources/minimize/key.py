"""The answer key of `minimize`: still bad, a part of the given graph, and minimal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any
from unittest import mock

from torch import fx

from autograder.authoring.key import (
    AdviceRow,
    AnswerKey,
    CallResult,
    Decoder,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    NodeRecord,
    NotListed,
    Outcome,
    Reference,
    Stage,
    Way,
    caller_untouched,
    copies,
    describe,
    difference,
    known_targets,
    no_unused_modules,
    nothing_compiled,
    returns_graph_module,
    rule,
    signature_kept,
    wellformed,
)
from autograder.exercises.ch09c_sources.minimize.models import Ran

# ------------------------------------------------------------------ the returned object


@rule("a new module", Stage.CALLER)
def a_new_module(evidence: Evidence) -> Iterable[Finding]:
    """The result must not be the given module itself."""
    if evidence.graph["modules"][0].get("origin") is not None:
        yield evidence.finding(
            "not-new",
            f"{evidence.you} returned the module that it was given, not a new one.",
            "Return a new module even if nothing can be taken out.",
        )


@rule("well-formed questions", Stage.CALLER)
def well_formed_questions(evidence: Evidence) -> Iterable[Finding]:
    """The answer must call `bad` only with well-formed modules of the same signature."""
    notes = [note for run in evidence.outcome.runs for note in run["forward"]["log"]["list"]]
    for what in notes[:1]:
        signature = what == "another signature"
        yield evidence.finding(
            "asked-signature" if signature else "asked-ill-formed",
            f"{evidence.you} asked `bad` about a module with {what}."
            if not str(what).startswith(("a `", "a graph"))
            else f"{evidence.you} asked `bad` about {what}.",
            "Placeholders stay, even those without readers."
            if signature
            else "The author of `bad` relies on a `GraphModule` whose graph passes `lint()` and "
            "whose code was made of just that graph.",
        )


# ------------------------------------------------------------------ a part of the given graph


def _skeleton(data: Encoded, leaves: list[int]) -> Any:
    """Plain arguments without the nodes, which are appended to a list in order."""
    if isinstance(data, dict) and "node" in data:
        leaves.append(data["node"])
        return "a node"
    if isinstance(data, dict):
        return tuple((key, _skeleton(value, leaves)) for key, value in data.items())
    if isinstance(data, list):
        return tuple(_skeleton(item, leaves) for item in data)
    return type(data).__name__, data


class _Row:
    """A node: what it calls, its arguments without nodes, and the nodes that it reads."""

    def __init__(self, row: NodeRecord) -> None:
        self.name, self.op = row["name"], row["op"]
        self.leaves: list[int] = []
        self.called = self.op, str(row["target"] if self.op != "output" else "")
        skeleton = _skeleton([row["args"], row["kwargs"]], self.leaves)
        self.key = (*self.called, skeleton)


class _Origin:
    """The nodes of the given graph that correspond to the result's, if any do.

    Names do not decide: a graph that the answer builds again may have other names.
    """

    BUDGET = 20_000

    def __init__(self, given: list[NodeRecord], result: list[NodeRecord]) -> None:
        self.given, self.result = [*map(_Row, given)], [*map(_Row, result)]
        self._ancestors = _ancestors(self.given)
        self._steps = self.BUDGET

    @property
    def exists(self) -> bool:
        """Whether removing calls one by one can give the result."""
        return self._by_name() or self._search([])

    def _by_name(self) -> bool:
        places = {row.name: i for i, row in enumerate(self.given)}
        image = [places.get(row.name, -1) for row in self.result]
        rising = all(a < b for a, b in zip([-1, *image], image, strict=False))
        return rising and all(map(self._fits, range(len(image)), image)) and self._linked(image)

    def _fits(self, at: int, place: int) -> bool:
        return place >= 0 and self.result[at].key == self.given[place].key

    def _search(self, image: list[int]) -> bool:
        self._steps -= 1
        at = len(image)
        if self._steps < 0:
            return True  # undecided within the budget; other rules report other faults
        if at == len(self.result):
            return self._linked(image)
        for place in range(image[-1] + 1 if image else 0, len(self.given)):
            if self._fits(at, place) and self._may_read(at, place, image):
                if self._search([*image, place]):
                    return True
        return False

    def _may_read(self, at: int, place: int, image: list[int]) -> bool:
        pairs = zip(self.given[place].leaves, self.result[at].leaves, strict=True)
        return all(
            new < at and (image[new] == old or image[new] in self._ancestors[old])
            for old, new in pairs
        )

    def _linked(self, image: list[int]) -> bool:
        """Whether one input replaces each removed call, for all of its readers."""
        kept = {place: at for at, place in enumerate(image)}
        wanted: dict[int, int] = {}
        for at, place in enumerate(image):
            for old, new in zip(self.given[place].leaves, self.result[at].leaves, strict=True):
                if not self._want(old, new, kept, wanted):
                    return False
        return self._settle(kept, wanted, frozenset())

    def _want(self, old: int, new: int, kept: dict[int, int], wanted: dict[int, int]) -> bool:
        if old in kept:
            return kept[old] == new
        return self.given[old].op.startswith("call_") and wanted.setdefault(old, new) == new

    def _settle(
        self, kept: dict[int, int], wanted: dict[int, int], settled: frozenset[int]
    ) -> bool:
        open_ones = wanted.keys() - settled
        if not open_ones:
            return True
        last = max(open_ones)
        for read in dict.fromkeys(self.given[last].leaves):
            attempt = dict(wanted)
            if self._want(read, wanted[last], kept, attempt):
                if self._settle(kept, attempt, settled | {last}):
                    return True
        return False


def _ancestors(rows: list[_Row]) -> list[set[int]]:
    found: list[set[int]] = []
    for row in rows:
        found.append(set(row.leaves).union(*(found[leaf] for leaf in row.leaves)))
    return found


@rule("made of what was there", Stage.STRUCTURE)
def made_of_what_was_there(evidence: Evidence) -> Iterable[Finding]:
    """The result must be the given graph without some calls, each replaced by one of its inputs."""
    origin = _Origin(evidence.traced_graph["nodes"], evidence.graph["nodes"])
    if not origin.exists:
        yield evidence.finding(*_what_is_new(origin))


def _what_is_new(origin: _Origin) -> tuple[str, str, str]:
    given, result = origin.given, origin.result
    left = [row.called for row in given]
    for row in result:
        if row.called not in left:
            text = f"Your result has the node `{row.name}`, and the given graph has no such node"
            advice = (
                "A node is taken out, and its readers read one of its inputs: nothing is added."
            )
            return "new-node", f"{text}.", advice
        left.remove(row.called)
    if given[-1].key != result[-1].key:
        text = "The output of your result does not have the structure that it had"
        advice = "Lists, tuples, dictionaries, numbers and `None` stay in their places; only which "
        return "lost-structure", f"{text}.", f"{advice}nodes are in them may change."
    keys = [row.key for row in given]
    for row in result:
        if row.key not in keys:
            text = f"`{row.name}` of your result is called otherwise than in the given graph"
            advice = "Only which nodes it reads may change: constants and keywords stay."
            return "changed-node", f"{text}.", advice
    rest = iter(keys)
    if not all(row.key in rest for row in result):
        text = "The nodes of your result are not in the order of the given graph"
        return "wrong-order", f"{text}.", "New nodes go to the insertion point of a graph."
    text = "What the nodes of your result read cannot come from taking out nodes"
    advice = "All readers of a node that is gone read the same input of it, as it was then."
    return "rewired", f"{text}.", advice


@rule("nothing left over", Stage.STRUCTURE)
def nothing_left_over(evidence: Evidence) -> Iterable[Finding]:
    """No `get_attr` node without readers may be left."""
    for row, users in zip(evidence.graph["nodes"], evidence.derived.users, strict=True):
        if row["op"] == "get_attr" and not users:
            yield evidence.finding(
                "unread-attribute",
                f"Nobody reads the `get_attr` node `{row['name']}` of your result.",
                "Its reader was taken out, and it was not.",
                (row["name"],),
            )
            return


@rule("parameters shared", Stage.STRUCTURE)
def parameters_shared(evidence: Evidence) -> Iterable[Finding]:
    """Parameters and buffers of the result must be the given module's own objects."""
    for row in evidence.graph["modules"]:
        for key, entry in (*row.get("params", {}).items(), *row.get("buffers", {}).items()):
            if entry is not None and entry["origin"] is None:
                path = f"{row['path']}.{key}".lstrip(".")
                yield evidence.finding(
                    "not-shared",
                    f"`{path}` of your result is not the given module's, but a copy.",
                    "What is copied is the graph: the module's parameters are shared.",
                )
                return


# ------------------------------------------------------------------ still bad, and minimal

_COMPILE = fx.GraphModule.recompile


class _Judged:
    """The result's graph as the judge rebuilt it, and the question."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.bad = evidence.trial.args[1]

    @property
    def graph(self) -> fx.Graph:
        """The rebuilt graph, for reading only."""
        assert self.evidence.rebuilt is not None
        return self.evidence.rebuilt.graph

    def is_bad(self, graph: fx.Graph) -> bool:
        """The question's answer for a graph with the result's parts."""
        assert self.evidence.rebuilt is not None
        with nothing_compiled():
            gm = fx.GraphModule(self.evidence.rebuilt.root, graph)
            try:
                return bool(self.bad.holds(gm, self._run))
            except Exception:
                return False  # the task defines an error as not bad

    def _run(self, gm: fx.GraphModule) -> Ran:
        """Run a graph module in the process that runs graphs."""
        encoder = Encoder(self.evidence.trial.functions)
        value = {"graph_module": describe(gm, encoder)}
        outcome = Outcome(self.evidence.case.name, value=value, tensors=encoder.tensors)
        with mock.patch.object(fx.GraphModule, "recompile", _COMPILE):  # for the case's own objects
            found, tensors = self.evidence.done_with("results", outcome, 1)
        record, decoder = found[0], Decoder(tensors)
        args = decoder.decode(record["args"])
        if "error" in record:
            return Ran(None, args, record["error"]["type"])
        return Ran(decoder.decode(record["value"]), args)

    def smaller(self) -> Iterator[tuple[str, str, fx.Graph]]:
        """Each graph without one call: its name, the replacing input, and the graph."""
        for node in self.graph.nodes:
            if not node.op.startswith("call_"):
                continue
            for instead in node.all_input_nodes if node.users else [None]:
                yield node.name, getattr(instead, "name", ""), _without(self.graph, node, instead)


def _without(graph: fx.Graph, node: fx.Node, instead: fx.Node | None) -> fx.Graph:
    copied, made = fx.Graph(), dict[fx.Node, fx.Node]()
    for each in graph.nodes:
        if each is not node:
            made[each] = copied.node_copy(each, made.__getitem__)
        elif instead is not None:
            made[each] = made[instead]
    return copied


@lru_cache(maxsize=1)
def _judged(evidence: Evidence) -> _Judged:
    return _Judged(evidence)


def _is_judged(evidence: Evidence) -> bool:
    try:
        return evidence.rebuilt is not None
    except NotListed:
        return False  # the verdict reports it


@rule("still bad", Stage.RUNS)
def still_bad(evidence: Evidence) -> Iterable[Finding]:
    """`bad` must be true for the result as the judge rebuilt it."""
    judged = _judged(evidence)
    if _is_judged(evidence) and not judged.is_bad(_without(judged.graph, _NO_NODE, None)):
        yield evidence.finding(
            "not-bad",
            f"`bad` is not true of what {evidence.you} returned. It asks: {_asks(judged)}",
            "Did you ask `bad` about just this module, when everything else was done?",
        )


_NO_NODE: Any = object()


def _asks(judged: _Judged) -> str:
    return f"{type(judged.bad).__doc__} (`{judged.bad!r}`)"


@rule("nothing can be taken out", Stage.RESULT)
def nothing_can_be_taken_out(evidence: Evidence) -> Iterable[Finding]:
    """`bad` must be false without any one call of the result."""
    if not _is_judged(evidence):
        return
    judged = _judged(evidence)
    for name, instead, graph in judged.smaller():
        if judged.is_bad(graph):
            how = f"its readers read `{instead}` instead" if instead else "nobody reads it"
            yield evidence.finding(
                "not-minimal",
                f"`{name}` can still be taken out of your result ({how}): `bad` stays true. It "
                f"asks: {_asks(judged)}",
                "Which attempts does your loop make, and when is it made again?",
                (name,),
            )
            return


@rule("one computation", Stage.RESULT)
def one_computation(evidence: Evidence) -> Iterable[Finding]:
    """Calling the result, an Interpreter and the judge must give the same."""
    record, own = evidence.run_record(0), evidence.outcome.tensors
    want = record["forward"]
    ways: tuple[Way, ...] = ("interpreter", "rebuilt")
    for how in ways:
        got: CallResult = record.get(how, want)
        tensors = evidence.tensors_of(how)
        differs = ("error" in got) != ("error" in want) or (
            "error" not in got
            and (
                difference(got["value"], tensors, want["value"], own)
                or difference(got["args"], tensors, want["args"], own)
            )
        )
        if differs:
            yield evidence.finding(
                "interpreter-disagrees",
                "Calling your result gives something else than running its graph.",
                "A module must compute exactly what its graph says.",
            )
            return


@rule("copies", Stage.COPY)
def can_be_copied(evidence: Evidence) -> Iterable[Finding]:
    """`copy.deepcopy` of the result must work like the result itself."""
    if "error" not in evidence.outcome.runs[0]["forward"]:
        yield from copies.find(evidence)


ADVICE = (
    AdviceRow(
        ("Exception",),
        "",
        "This line asks `bad`. If it is `bad` that raises here: what does that "
        "count as, by the card?",
        line=r"\bbad\(",
        where="call",
    ),
)

KEY = AnswerKey(
    (
        returns_graph_module,
        caller_untouched,
        a_new_module,
        well_formed_questions,
        wellformed,
        known_targets,
        signature_kept,
        made_of_what_was_there,
        nothing_left_over,
        no_unused_modules,
        parameters_shared,
        still_bad,
        nothing_can_be_taken_out,
        one_computation.because("a copy of such a result shows it too, and says less of it"),
        can_be_copied,
    ),
    lambda trial: Reference(),
    oracle_only=True,
    advice=ADVICE,
)
