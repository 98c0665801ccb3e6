"""The answer key of `build_with_proxies`: a graph recorded by Proxies, without unused nodes."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.authoring.key import (
    GRAPH_MODULE,
    AnswerKey,
    Evidence,
    Finding,
    Stage,
    copies,
    rule,
    runs,
    same_result,
    show,
)


@rule("proxies, no tracing", Stage.KIND)
def proxies_no_tracing(evidence: Evidence) -> Iterable[Finding]:
    """Proxies of a `GraphAppendingTracer` recorded the nodes; the answer traced nothing."""
    if "trace" in evidence.outcome.used:
        yield evidence.finding(
            "forbidden",
            f"{evidence.you} traces a function or module, which this exercise forbids.",
            "Here you make the graph and its placeholders yourself, and Proxies for them.",
        )
    elif evidence.has_graph and "create_proxy" not in evidence.outcome.used:
        yield evidence.finding(
            "no-proxies",
            "No node of your graph was recorded by a Proxy of a `GraphAppendingTracer`.",
            "Wrap the placeholders in Proxies, and call the three functions on these.",
        )


@rule("forward(x, y)", Stage.STRUCTURE)
def forward_x_y(evidence: Evidence) -> Iterable[Finding]:
    """The graph has the signature in the task."""
    want = [["x", "POSITIONAL_OR_KEYWORD"], ["y", "POSITIONAL_OR_KEYWORD"]]
    got = next((each for each in evidence.derived.signatures if each != want), want)
    if got != want:
        text = ", ".join(row[0] + (f"={show(row[2])}" if len(row) > 2 else "") for row in got or [])
        yield evidence.finding(
            "lost-signature",
            f"Your module has `forward({text})`, not `forward(x, y)`.",
            "Placeholders are the signature: their targets, their order, their defaults.",
        )


@rule("nothing unused", Stage.STRUCTURE)
def nothing_unused(evidence: Evidence) -> Iterable[Finding]:
    """Every node except the output has a reader."""
    for row, users in zip(evidence.graph["nodes"], evidence.derived.users, strict=True):
        if row["op"] != "output" and not users:
            yield evidence.finding(
                "unused-node",
                f"No node reads `{row['name']}`.",
                "Each operation on a Proxy adds a node, whether you use its result or not.",
                nodes=(row["name"],),
            )
            return


KEY = AnswerKey(
    (proxies_no_tracing, *GRAPH_MODULE, forward_x_y, nothing_unused, runs, same_result, copies)
)
