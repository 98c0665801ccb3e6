"""Rules for recorded runs and sound graphs, which answer keys of this chapter share."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.authoring.key import Encoded, Evidence, Finding, show, unrecorded

OF_A_RUN = ("result", "loaded")
"""A record of one run, and not of the graph."""

ENDINGS = ("value", "raised")


def incomplete(evidence: Evidence, said: list[dict[str, Encoded]]) -> Iterable[Finding]:
    """A finding if a run says something else of the graph than the first, or not how it ended.

    Args:
        evidence: the case.
        said: what each run says, by name.
    """
    first, *others = ({k: v for k, v in each.items() if k not in OF_A_RUN} for each in said)
    endings = [each[key]["tuple"][0] for each in said for key in OF_A_RUN if key in each]
    if any(each != first for each in others) or any(how not in ENDINGS for how in endings):
        yield unrecorded(evidence)


def unsound(evidence: Evidence, said: dict[str, Encoded]) -> Iterable[Finding]:
    """A finding if `lint` refuses the graph, or the code is not what it says.

    Args:
        evidence: the case.
        said: what a run says, by name.
    """
    if said["lint"]:
        yield evidence.finding(
            "lint",
            f"`graph.lint()` refuses the graph that you changed: {show(said['lint'])}.",
            "Do all nodes belong to this graph, and does each read only what comes before it?",
        )
    elif said["recompiled"] is not True:
        yield evidence.finding(
            "stale-code",
            "The code of the graph module is not what its graph says.",
            "After an edit, a graph module has to be told.",
        )
