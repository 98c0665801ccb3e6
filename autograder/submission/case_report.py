"""The result of one case when an answer is judged again to explain its grade.

Like `result`, it imports the standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

KINDS = ("shown", "hidden", "random")
MAX_TEXT = 2_000
"""Most characters of each text."""
STATES = ("held", "failed", "not tried")


@dataclass(frozen=True)
class CaseReport:
    """The result of one case.

    Attributes:
        name: the case's name.
        part: the part of the exercise that it tests, in words.
        kind: ``"shown"`` if students can see it, else ``"hidden"`` or ``"random"``.
        state: ``"held"`` (passed), ``"failed"``, or ``"not tried"``.
        code: the code of the first finding.
        message: the first finding in words.
    """

    name: str
    part: str
    kind: str
    state: str
    code: str = ""
    message: str = ""

    def to_json(self) -> list[str]:
        """The report as JSON."""
        return [self.name, self.part, self.kind, self.state, self.code, self.message]


def reports_in(rows: Any) -> list[CaseReport]:
    """Parse a list of cases from `CaseReport.to_json`.

    Raises:
        ValueError: if it is not such a list.
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
