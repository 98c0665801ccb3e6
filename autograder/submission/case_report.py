"""What became of one case when an answer is judged once more, for whoever asks why.

Like `result`, it imports the standard library alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

KINDS = ("shown", "hidden", "random")
MAX_TEXT = 2_000
"""Characters of each text."""
STATES = ("held", "failed", "not tried")


@dataclass(frozen=True)
class CaseReport:
    """One case.

    Attributes:
        name: the case's name.
        part: the part of the exercise that it is about, in words.
        kind: ``"shown"`` where students can see it, ``"hidden"``, or ``"random"``.
        state: ``"held"``, ``"failed"``, or ``"not tried"``.
        code: of the first finding.
        message: the first finding in words.
    """

    name: str
    part: str
    kind: str
    state: str
    code: str = ""
    message: str = ""

    def to_json(self) -> list[str]:
        """The case as JSON."""
        return [self.name, self.part, self.kind, self.state, self.code, self.message]


def reports_in(rows: Any) -> list[CaseReport]:
    """The inverse of `CaseReport.to_json`, for a list of cases.

    Raises:
        ValueError: it is no such list.
    """
    if not isinstance(rows, list):
        raise ValueError("no list of cases")
    reports = []
    for row in rows:
        if not isinstance(row, list) or len(row) != 6 or not all(isinstance(t, str) for t in row):
            raise ValueError("no case")
        report = CaseReport(*(text[:MAX_TEXT] for text in row))
        if report.kind not in KINDS or report.state not in STATES:
            raise ValueError("no case")
        reports.append(report)
    return reports
