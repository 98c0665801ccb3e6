"""The answer key of `fuse_rms_norm`: a graph with the same values, by other calls."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import lru_cache

import torch

from autograder.authoring.key import (
    AdviceRow,
    AnswerKey,
    Evidence,
    Finding,
    NodeRecord,
    Stage,
    copies,
    kind_of,
    known_targets,
    mode_of,
    model_itself,
    rule,
    runs,
    same_result,
    schema_of,
    show,
    signature_kept,
    val_text,
    wellformed,
)
from autograder.exercises.ch12c_normalize.fuse_rms_norm.norms import (
    NORM,
    Call,
    Computed,
    Norms,
    Site,
    Strange,
    Table,
    arguments,
    computed,
)

OPERATOR = "torch.ops.fxcourse.rms_norm.default"


@rule("returns a number", Stage.KIND)
def returns_number(evidence: Evidence) -> Iterable[Finding]:
    """The answer must return an `int`."""
    count = evidence.value["returned"]
    if type(count) is not int:
        kind = "the graph module" if count == "the graph module" else kind_of(count)
        yield evidence.finding(
            "returned-none" if count is None else "wrong-kind",
            f"{evidence.you} returned {kind}, not an `int`.",
            "The graph module is changed in place. Only the number comes back.",
        )


@rule("calls the operator", Stage.FORM)
def calls_the_operator(evidence: Evidence) -> Iterable[Finding]:
    """Calls must use the operator's overload, with the arguments of its schema."""
    for row in evidence.graph["nodes"]:
        called = row["target"] if isinstance(row["target"], dict) else {}
        name = str(next(iter(called.values()), ""))
        if called != NORM and ("rms_norm" in name or name == "CustomOpDef"):
            yield evidence.finding(
                "wrong-target",
                f"`{row['name']}` calls `{name}`, not `{OPERATOR}`.",
                "An operator is a packet of overloads, even if there is one alone. An ATen graph "
                "calls an overload; its name comes after the last dot.",
                nodes=(row["name"],),
            )
            return
        try:
            if called == NORM:
                arguments(row)
        except Strange as error:
            yield evidence.finding(
                "wrong-arguments",
                f"`{row['name']}`, a call of the operator, {error}.",
                f"The operator's schema is `{schema_of(torch.ops.fxcourse.rms_norm.default)}`.",
                nodes=(row["name"],),
            )
            return


class _Seen:
    """The given graph, the answer's graph, and the closest allowed result."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence, self.table = evidence, Table()
        self.gm = evidence.traced
        self.given: list[NodeRecord] = evidence.traced_graph["nodes"]
        self.norms = Norms(self.gm, self.given)
        self.own = dict(self.gm.named_buffers()) | dict(self.gm.named_parameters())
        self.rows: list[NodeRecord] = evidence.graph["nodes"]
        self.mine = computed(self.rows, self.table, _attributes(evidence))
        self.before = self._with(())
        wanted = [(self._with(sites), sites) for sites in self.norms.fused()]
        self.want, self.sites = min(wanted, key=lambda pair: self._distance(pair[0]))

    def _with(self, sites: tuple[Site, ...]) -> Computed:
        return computed(self.given, self.table, self.own, sites)

    def _distance(self, other: Computed) -> int:
        """The number of differences between the answer's computation and another one."""
        ours, theirs = self.mine.calls, other.calls
        norms = (self.mine.norm_calls - other.norm_calls).total()
        return (ours - theirs).total() + (theirs - ours).total() + norms

    def name(self, row: int) -> str:
        """The name of a node of the given graph."""
        return str(self.given[row]["name"])

    def named(self, term: int) -> str:
        """The name of a node with this value in the given graph, or else in the answer's."""
        for computed_, rows in ((self.want, self.given), (self.mine, self.rows)):
            if term in computed_.terms:
                return str(rows[computed_.terms.index(term)]["name"])
        return "?"

    def call_text(self, call: Call) -> str:
        """A call of the operator as text, with the given graph's names."""
        x, weight, eps = call
        given = f"`{self.named(weight)}`" if weight is not None else "no weight"
        return f"`{self.named(x)}`, {given} and the eps {eps}"


def _attributes(evidence: Evidence) -> dict[str, torch.Tensor]:
    """The tensors of the answer's root module, by name."""
    root = evidence.graph["modules"][0]
    entries = {**root["params"], **root["buffers"], **root["tensors"]}
    table = evidence.outcome.tensors
    return {name: table[entry["tensor"]] for name, entry in entries.items() if entry}


@lru_cache(maxsize=1)
def seen(evidence: Evidence) -> _Seen:
    """The values for comparison, computed once for the rules of a case."""
    return _Seen(evidence)


@rule("norms are fused", Stage.STRUCTURE)
def norms_are_fused(evidence: Evidence) -> Iterable[Finding]:
    """Every norm, and nothing else, must be a call of the operator with the right arguments."""
    found = seen(evidence)
    lacking = found.want.norm_calls - found.mine.norm_calls
    extra = found.mine.norm_calls - found.want.norm_calls
    for site, call in itertools.product(found.norms.not_cast_back, extra):
        if call[0] == found.want.terms[site.low] and call[2] == site.eps:
            yield _not_cast_back(found, site)
            return
    for site in found.sites:
        call = found.want.norms[site.at]
        if call not in lacking:
            continue
        near = _nearest(found, site, extra)
        yield _missed(found, site) if near is None else _other_argument(found, site, near)
        return
    for call in extra:
        yield evidence.finding(
            "too-many",
            f"Your graph calls the operator with {found.call_text(call)}. The given graph "
            "has no such norm that may be fused.",
            "Does each step have one reader? Is it the square, and the mean over the last "
            "dimension alone? Is what is squared the value that is multiplied?",
        )
        return


def _nearest(found: _Seen, site: Site, extra: Iterable[Call]) -> Call | None:
    """The closest extra call to a norm: one argument differs, or it has the same input."""
    call = found.want.norms[site.at]
    wide = found.want.terms[site.wide]
    alike = [c for c in extra if sum(a == b for a, b in zip(c, call, strict=True)) == 2]
    return next(iter([*alike, *(c for c in extra if c[0] == wide and c[2] == call[2])]), None)


def _not_cast_back(found: _Seen, site: Site) -> Finding:
    product, low = found.name(site.product), found.name(site.low)
    return found.evidence.finding(
        "not-cast-back",
        f"Your graph calls the operator with `{low}`, whose dtype is not float32. The product "
        f"`{product}` of the given graph is float32, and is not cast back.",
        "The operator gives back the dtype of what it is given. Who reads the product, and with "
        "which dtype do they go on?",
        nodes=(product,),
    )


def _missed(found: _Seen, site: Site) -> Finding:
    names = [found.name(row) for row in (site.product, site.x, site.square, site.at)]
    product, x, square, at = names
    return found.evidence.finding(
        "missed",
        f"`{product}` of the given graph is a norm of `{x}`, with the eps {site.eps}. Your graph "
        "has no call of the operator for it.",
        f"Print the nodes of the given graph from `{square}` to `{at}`. How is each step written "
        "here, and in which order are the factors?",
        nodes=tuple(dict.fromkeys((product, at))),
    )


def _other_argument(found: _Seen, site: Site, near: Call) -> Finding:
    call = found.want.norms[site.at]
    product = found.name(site.product)
    if near[0] != call[0]:
        mine = str(found.rows[found.mine.terms.index(near[0])]["name"])
        code = "wrong-x"
        text = f"normalizes the value of `{mine}` in your graph, not that of `{found.name(site.x)}`"
        advice = "If `x` is cast and the product is cast back, the operator does both casts itself."
    elif near[2] != call[2]:
        code, text = "wrong-eps", f"has the eps {near[2]}, not {call[2]}"
        advice = "Each norm has an eps of its own. Where in the graph is it?"
    else:
        code = "wrong-weight"
        own, want = (w if w is None else f"`{found.named(w)}`" for w in (near[1], call[1]))
        text = f"has {own or 'no weight'}, and should have {want or 'none'}"
        text = f"{text} as its weight" if own else text
        advice = (
            "A weight is a node with one dimension, as long as the last one of `x`, and with the "
            "dtype of `x`. It goes in if the product with it is all that reads the norm."
        )
    return found.evidence.finding(
        code,
        f"Your call of the operator for `{product}` of the given graph {text}.",
        advice,
        nodes=(product,),
    )


@rule("all else stays", Stage.STRUCTURE)
def all_else_stays(evidence: Evidence) -> Iterable[Finding]:
    """Calls outside of a norm must be computed as before and as often, with the same result."""
    found = seen(evidence)
    if found.mine.norm_calls != found.want.norm_calls:
        return  # another rule reports it
    lost = found.want.calls - found.mine.calls
    new = found.mine.calls - found.want.calls
    if not lost and not new and found.mine.result == found.want.result:
        return
    if lost:
        name = found.named(next(iter(lost)))
        text = f"The value of `{name}` of the given graph is not computed any more"
    elif new:
        name = str(found.rows[found.mine.terms.index(next(iter(new)))]["name"])
        text = f"`{name}` of your graph computes what no longer has to be computed"
    else:
        name = "output"
        text = "Your graph returns other values than the given one"
    yield evidence.finding(
        "other-nodes",
        f"{text}.",
        "Only the steps of a norm go. Who reads the new node, and who read the old ones?",
        nodes=(name,),
    )


@rule("nothing is left over", Stage.STRUCTURE)
def nothing_left_behind(evidence: Evidence) -> Iterable[Finding]:
    """No step of a norm may be left unread. Nodes that were unread before may stay or go."""
    found = seen(evidence)
    unread = {
        graph.terms[i]
        for graph in (found.before, found.want)
        for i in range(len(found.given))
        if i not in found.before.live
    }
    for i, row in enumerate(found.rows):
        dead = i not in found.mine.live and found.mine.terms[i] not in unread
        if dead and row["op"].startswith("call_"):
            yield evidence.finding(
                "left-behind",
                f"Nobody needs `{row['name']}` any more, and it is still there.",
                "When the product is gone, who has lost the last reader, and who then?",
                nodes=(row["name"],),
            )
            return


@rule("right val", Stage.STRUCTURE)
def right_val(evidence: Evidence) -> Iterable[Finding]:
    """Every node must have a `val` that describes its value."""
    found = seen(evidence)
    mode = mode_of(found.gm.graph)
    vals = [val_text(node.meta.get("val"), mode) for node in found.gm.graph.nodes]
    wanted = dict(zip(found.want.terms, vals, strict=True))
    metas = evidence.graph["meta"]
    for row, term, meta in zip(found.rows, found.mine.terms, metas, strict=True):
        if row["op"] == "output" or term not in wanted or meta.get("val") == wanted[term]:
            continue
        has = f"has the `val` {meta['val']}" if "val" in meta else "has no `val`"
        yield evidence.finding(
            "wrong-val",
            f"`{row['name']}` {has}; its value is {wanted[term]}.",
            "From which node is this `val`? The new node's value is that of the node whose place "
            "it takes."
            if "val" in meta
            else "A new node has no `meta` at all. A `val` is a fake tensor, of the mode that the "
            "other ones have, and says the dtype and shape of this node's value.",
            nodes=(row["name"],),
        )
        return


@rule("right number", Stage.RESULT)
def right_number(evidence: Evidence) -> Iterable[Finding]:
    """The number must be how many norms were fused."""
    found = seen(evidence)
    want = len(found.mine.norms) - len(found.before.norms)
    if (got := evidence.value["returned"]) != want:
        yield evidence.finding(
            "wrong-count",
            f"{evidence.you} returned {show(got)}. Your graph has {len(found.mine.norms)} calls of "
            f"the operator, and the given one has {len(found.before.norms)}.",
            "What is counted are the norms that your function has fused, in this call.",
        )


ADVICE = (
    AdviceRow(
        ("AttributeError",),
        r"'CustomOpDef' object has no attribute '(?!(?:graph|recompile|code)')\w+'"
        r"|'str' object has no attribute 'is_mutable'",
        "A call in your graph has a target that is not an operator. `torch.library.custom_op` "
        "gives back an object for Python; what it registers is under `torch.ops`. Which of the two "
        "belongs into a graph?",
    ),
)

KEY = AnswerKey(
    (
        returns_number.because("names the kind that came back, before it is compared"),
        calls_the_operator.because("says it in words of its own, before graphs are compared"),
        wellformed,
        known_targets,
        signature_kept,
        norms_are_fused,
        all_else_stays,
        nothing_left_behind,
        right_val,
        right_number,
        runs,
        same_result.because("runs the graph, where all else only reads it"),
        copies,
    ),
    model_itself,
    advice=ADVICE,
)
