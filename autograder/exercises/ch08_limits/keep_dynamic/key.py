"""The answer key of `keep_dynamic`: the trace of a tracer that knows what cannot be traced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from autograder.authoring.key import (
    PASS,
    AdviceRow,
    AnswerKey,
    Evidence,
    Finding,
    GraphRecord,
    Stage,
    Table,
    expressions,
    missing_and_extra,
    model_itself,
    rule,
    target_path,
)


def _calls(data: GraphRecord) -> Counter[str]:
    return Counter(target_path(row) for row in data["nodes"] if row["op"] == "call_module")


@rule("leaves as deep as possible", Stage.STRUCTURE)
def leaves_as_deep_as_possible(evidence: Evidence) -> Iterable[Finding]:
    """A module must not be called as a whole if it can be opened."""
    wanted, found = _calls(evidence.traced_graph), _calls(evidence.graph)
    for target in found:
        if target not in wanted:
            inside = [name for name in wanted if name.startswith(f"{target}.")]
            yield evidence.finding(
                "shallow-leaf",
                f"`{target}` is called as a whole, but it can be traced"
                + (f", down to `{inside[0]}`." if inside else "."),
                "A part that cannot be traced does not make what is around it untraceable. And of "
                "two parts of one class, or with similar names, one may be fine.",
            )
            return


@rule("no leftovers", Stage.STRUCTURE)
def no_leftovers(evidence: Evidence) -> Iterable[Finding]:
    """The nodes must be those of one trace, without nodes of failed attempts."""
    table: Table = {}
    wanted = expressions(evidence.traced_graph["nodes"], table)
    found = expressions(evidence.graph["nodes"], table)
    missing, extra = missing_and_extra(wanted, found)
    if extra and not missing:
        names = [evidence.graph["nodes"][i]["name"] for i in extra]
        yield evidence.finding(
            "leftover-node",
            f"`{names[0]}` does not belong in a single trace of this model: there "
            f"{'are' if len(extra) > 1 else 'is'} {len(extra)} extra "
            f"{'nodes' if len(extra) > 1 else 'node'}.",
            "A trace that was given up has made nodes already. What becomes of them?",
            tuple(names[:3]),
        )
    elif missing:
        rows = evidence.traced_graph["nodes"]
        yield evidence.finding(
            "missing-node",
            f"The node `{rows[missing[0]]['name']}` of this model's trace is missing, or it reads "
            "something else.",
            "What is around the leaves is traced as `fx.Tracer` does it.",
        )


@rule("the exception of tracing", Stage.STRUCTURE)
def exception_of_tracing(evidence: Evidence) -> Iterable[Finding]:
    """If the root cannot be traced, the answer must raise the exception that tracing raised."""
    if evidence.outcome.ended != "raised":
        return
    says = (evidence.outcome.error or {}).get("says", "")
    try:
        _ = evidence.traced
    except Exception as error:
        if str(error) != says:
            yield evidence.finding(
                "another-exception",
                f"Tracing raises `{type(error).__name__}: {error}` here. {evidence.you} raised "
                f"one of that class that says {f'`{says}`' if says else 'nothing'}.",
                "Raise the exception that tracing raised. Which of your lines raises another one?",
            )


ADVICE = (
    AdviceRow(
        ("Exception",),
        "",
        "Tracing raises this, and your function lets it out. Is it the root "
        "that cannot be traced here, or one of its parts? And which exceptions do you catch?",
        line=r"trace\(|super\(\)",
        where="call",
    ),
)

KEY = AnswerKey(
    (
        *PASS,
        leaves_as_deep_as_possible.because("names the leaf; the next rule sees missing nodes"),
        no_leftovers,
        exception_of_tracing,
    ),
    model_itself,
    advice=ADVICE,
)
