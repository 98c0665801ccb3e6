"""Rules for reports about graphs of ATen operators: complete reports, and sound graphs."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.core.codec import Encoded, show
from autograder.core.verdict import Finding
from autograder.judge.evidence import Evidence
from autograder.judge.findings import unrecorded

OF_A_RUN = ("result", "loaded")
"""Keys of records about one run; all others are about the graph."""

ENDINGS = ("value", "raised")


def incomplete(evidence: Evidence, said: list[dict[str, Encoded]]) -> Iterable[Finding]:
    """Report a run that does not say how it ended, or describes the graph differently.

    Args:
        evidence: the case.
        said: the report of each run, by name.
    """
    first, *others = ({k: v for k, v in each.items() if k not in OF_A_RUN} for each in said)
    endings = [each[key]["tuple"][0] for each in said for key in OF_A_RUN if key in each]
    if any(each != first for each in others) or any(how not in ENDINGS for how in endings):
        yield unrecorded(evidence)


def unsound(evidence: Evidence, said: dict[str, Encoded]) -> Iterable[Finding]:
    """Report a graph that `lint` refuses, or whose code is out of date.

    Args:
        evidence: the case.
        said: the report of a run, by name.
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
