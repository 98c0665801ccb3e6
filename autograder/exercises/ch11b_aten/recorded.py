"""What several runs of one driven answer say of the same graph must agree."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.core.codec import Plain
from autograder.core.verdict import Finding
from autograder.judge.evidence import Evidence

OF_A_RUN = ("result", "loaded")
"""What is said of one run, and not of the graph."""

ENDINGS = ("value", "raised")


def incomplete(evidence: Evidence, said: list[dict[str, Plain]]) -> Iterable[Finding]:
    """A finding if a run says something else of the graph than the first, or not how it ended.

    Args:
        evidence: the case.
        said: what each run says, by name.
    """
    first, *others = ({k: v for k, v in each.items() if k not in OF_A_RUN} for each in said)
    endings = [each[key]["tuple"][0] for each in said for key in OF_A_RUN if key in each]
    if any(each != first for each in others) or any(how not in ENDINGS for how in endings):
        yield evidence.finding(
            "unrecorded",
            f"What {evidence.you} did on this case was not recorded completely, so that nothing "
            "can be said for it.",
            "This happens if code of the notebook changes Python, PyTorch or the course while an "
            "answer is tried. Restart the kernel, run the cells in order, and check again.",
        )
