"""The part of a verdict that grading stores, for later statistics of a class's mistakes.

Like `result`, it imports the standard library only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.core.verdict import Verdict

MAX_FINDINGS = 4
"""Most findings kept for one check, one of each code."""
MAX_FAILS = 160
"""Most failing cases kept for one check."""
MAX_CODE, MAX_MESSAGE, MAX_MODEL = 80, 600, 3_000
"""Most characters of a finding's parts; a longer model is not kept."""
MAX_RESULT = 700
"""Most characters of each other part of a private case."""

_LENGTHS = (MAX_CODE, MAX_MESSAGE, MAX_MODEL)

LIMITS = ("out-of-time", "out-of-memory", "ended-python")
"""Codes of findings about a limit that the answer exceeded."""

NOT_JUDGED = "not judged"
STATUSES = ("passed", "failed", "crashed", "not attempted", NOT_JUDGED)
"""The possible statuses of a verdict."""


@dataclass(frozen=True)
class KeptFinding:
    """One problem of an answer.

    Attributes:
        code: its stable key, such as ``stale-code``.
        message: the sentence that the student reads.
        model: the source code of the smallest model that shows it; empty if there is none.
    """

    code: str
    message: str
    model: str = ""


@dataclass(frozen=True)
class PrivateCase:
    """A failing case, with results that the student may see only after `reveal`.

    Attributes:
        case: its name.
        kind: ``"hidden"`` or ``"random"``.
        model: its source code; empty if it is too long.
        call: the call of the answer.
        inputs: the inputs, one line each.
        expected: the expected result; may be empty.
        obtained: the actual result: a claim of the student's process; may be empty.
    """

    case: str
    kind: str
    model: str = ""
    call: str = ""
    inputs: str = ""
    expected: str = ""
    obtained: str = ""

    def bounded(self) -> PrivateCase:
        """The same with texts that may be stored."""
        texts = {name: str(text)[:MAX_RESULT] for name, text in vars(self).items()}
        return PrivateCase(**{**texts, "model": self.model if len(self.model) <= MAX_MODEL else ""})


@dataclass(frozen=True)
class CheckResult:
    """The result of one check of a submission.

    Attributes:
        exercise: the exercise's name.
        status: one of `STATUSES`.
        score: from 0 to 1.
        findings: the problems, beginning with the one that the student sees first.
        fails: the hand-picked cases that fail, each with the code of its first finding; ``None`` in
            results of earlier versions, which did not keep them.
        unread: for a forbidden tool: constructs in the answer's text that cannot be followed.
        private: the case to show after `reveal`, if there is one.
    """

    exercise: str
    status: str
    score: float
    findings: tuple[KeptFinding, ...] = ()
    fails: tuple[tuple[str, str], ...] | None = ()
    unread: tuple[str, ...] = ()
    private: PrivateCase | None = None

    def to_json(self) -> dict[str, Any]:
        """The result as JSON."""
        rows = [[each.code, each.message, each.model] for each in self.findings]
        row = {"exercise": self.exercise, "status": self.status, "score": self.score}
        row |= {"findings": rows}
        if self.fails is not None:
            row["fails"] = list(map(list, self.fails))
        row |= {"private": asdict(self.private)} if self.private else {}
        return row | ({"unread": list(self.unread)} if self.unread else {})

    @classmethod
    def from_json(cls, data: Any) -> CheckResult:
        """Parse the result of `to_json`; `are_checks` must have accepted it."""
        found = tuple(KeptFinding(*row) for row in data["findings"])
        rows = data.get("fails")
        fails = None if rows is None else tuple((case, code) for case, code in rows)
        unread = tuple(data.get("unread", ()))
        private = PrivateCase(**data["private"]) if "private" in data else None
        score = float(data["score"])
        return cls(data["exercise"], data["status"], score, found, fails, unread, private)

    def not_followed(self) -> str:
        """A sentence for the instructor, who may want to look at the answer; usually empty."""
        if not self.unread:
            return ""
        names = ", ".join(self.unread)
        return (
            f"{self.exercise} forbids a tool, and part of the answer cannot be followed ({names}). "
            "A person may want to look."
        )


def checks_of(
    verdicts: Iterable[Verdict], private: Mapping[str, PrivateCase] = MappingProxyType({})
) -> list[CheckResult]:
    """The stored parts of verdicts, one for each exercise.

    Args:
        verdicts: the verdicts.
        private: by exercise, the case to show after `reveal`.
    """
    found = {
        each.exercise: CheckResult(
            each.exercise,
            each.status,
            min(1.0, max(0.0, each.score)),
            _kept(each),
            _fails(each),
            each.unread[:MAX_FINDINGS],
            private.get(each.exercise),
        )  # fmt: skip
        for each in verdicts
    }
    return list(found.values())


def _kept(verdict: Verdict) -> tuple[KeptFinding, ...]:
    examples = [*verdict.others, *([verdict.example] if verdict.example else [])]
    models = {example.case: example.source.strip() for example in examples}
    found: dict[str, KeptFinding] = {}
    for finding in verdict.findings:
        if finding.code not in found and len(found) < MAX_FINDINGS:
            model = models.get(finding.case, "")
            found[finding.code] = KeptFinding(
                finding.code[:MAX_CODE],
                finding.message[:MAX_MESSAGE],
                model if len(model) <= MAX_MODEL else "",
            )
    return tuple(found.values())


def _fails(verdict: Verdict) -> tuple[tuple[str, str], ...]:
    return tuple((case, code[:MAX_CODE]) for case, code in verdict.fails[:MAX_FAILS])


def are_checks(value: object) -> bool:
    """Whether a value is a list of checks in the form of `CheckResult.to_json`."""
    return isinstance(value, list) and all(map(_is_check, value))


def _is_check(row: object) -> bool:
    if not isinstance(row, dict):
        return False
    score, findings = row.get("score"), row.get("findings")
    return (
        isinstance(row.get("exercise"), str)
        and row.get("status") in STATUSES
        and isinstance(score, int | float)
        and not isinstance(score, bool)
        and math.isfinite(score)
        and 0.0 <= score <= 1.0
        and isinstance(findings, list)
        and len(findings) <= MAX_FINDINGS
        and all(map(_is_finding, findings))
        and _are_fails(row.get("fails", []))
        and _are_names(row.get("unread", []))
        and ("private" not in row or _is_private_case(row["private"]))
    )


def _is_private_case(row: object) -> bool:
    names = {field.name for field in fields(PrivateCase)}
    return (
        isinstance(row, dict)
        and set(row) == names
        and all(isinstance(text, str) and len(text) <= MAX_MODEL for text in row.values())
        and row["kind"] in ("hidden", "random")
    )


def _are_names(texts: object) -> bool:
    return (
        isinstance(texts, list)
        and len(texts) <= MAX_FINDINGS
        and all(isinstance(text, str) and len(text) <= MAX_CODE for text in texts)
    )


def _are_fails(rows: object) -> bool:
    return (
        isinstance(rows, list)
        and len(rows) <= MAX_FAILS
        and all(isinstance(row, list) and len(row) == 2 for row in rows)
        and all(isinstance(text, str) and len(text) <= MAX_MESSAGE for row in rows for text in row)
    )


def _is_finding(row: object) -> bool:
    return (
        isinstance(row, list)
        and len(row) == 3
        and all(isinstance(text, str) for text in row)
        and all(len(t) <= most for t, most in zip(row, _LENGTHS, strict=True))
    )
