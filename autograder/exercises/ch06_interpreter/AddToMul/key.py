"""The answer key of `AddToMul`: multiplications, and the `meta` of each node."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.authoring.key import (
    PASS,
    AddsByMultiplying,
    AdviceRow,
    AnswerKey,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    Stage,
    additions_replaced,
    exchanging,
    made_from_the_class,
    rule,
    show,
)


@rule("meta kept", Stage.STRUCTURE)
def meta_kept(evidence: Evidence) -> Iterable[Finding]:
    """Each node has the `meta` of the node that it was made from."""
    old = list(evidence.trial.args[0].graph.nodes)
    metas = [_noted({k: Encoder().encode(v) for k, v in node.meta.items()}) for node in old]
    rows, found = evidence.graph["nodes"], [_noted(meta) for meta in evidence.graph["meta"]]
    if len(rows) != len(old):
        # The answer added nodes; their `meta` identifies the copies.
        found = [next((f for f in found if f == meta), {}) for meta in metas]
    for node, meta, got in zip(old, metas, found, strict=True):
        if got == meta:
            continue
        yield evidence.finding(*_meta_words(node.name, meta, got), nodes=(node.name,))
        return


def _noted(meta: dict[str, Encoded]) -> dict[str, Encoded]:
    """A node's `meta` without the entry that FX adds for a wrapped function."""
    return {key: value for key, value in meta.items() if key != "is_wrapped"}


def _meta_words(
    name: str, meta: dict[str, Encoded], got: dict[str, Encoded]
) -> tuple[str, str, str]:
    lost = [key for key in meta if key not in got]
    if lost:
        return (
            "meta-lost",
            f"The node made from `{name}` has no `meta[{lost[0]!r}]`, which `{name}` has.",
            "How does `Transformer` make the nodes of this opcode, and what does it copy?",
        )
    key = next(key for key in got if key not in meta or got[key] != meta[key])
    return (
        "meta-wrong",
        f"The node made from `{name}` has `meta[{key!r}]` = {show(got[key])}; "
        + (f"`{name}` has {show(meta[key])} there." if key in meta else f"`{name}` has none."),
        "Whose `meta` did this node get? Remember what each handler returns, the output's too.",
    )


ADVICE = (
    AdviceRow(
        ("TraceError",),
        "",
        "Python asks a Proxy for its value. In a Transformer all values are Proxies, an `alpha` "
        "that is computed, too. What can you ask about it without its value?",
    ),
)

KEY = AnswerKey(
    (
        made_from_the_class.because("names what came in place of a class"),
        *PASS,
        additions_replaced.because("names the spelling that was missed, before a result differs"),
        meta_kept,
    ),
    exchanging(AddsByMultiplying),
    advice=ADVICE,
)
