"""What the judge says about an answer: plain data that `cards` show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Status = Literal["passed", "failed", "crashed", "not attempted", "not judged"]

MISSING_PACKAGE = "missing-package"
"""The code of the finding that says which package a check needs."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        code: stable key, such as ``stale-code``.
        message: one sentence about what is wrong, in the learner's own names.
        advice: one sentence about where to look; never the solution.
        rule: the rule that found it.
        case: the case it was found on.
        nodes: names of the nodes it is about, for pictures.
        raised: the exception that it tells of, as text; empty where it tells of none.
        tells_error: whether it says what the verdict's ``error`` says, and no more.
        asked_for: whether the answer raised what the exercise asks for here, so that it is no
            crash; something else about it is wrong.
    """

    code: str
    message: str
    advice: str = ""
    rule: str = ""
    case: str = ""
    nodes: tuple[str, ...] = ()
    raised: str = ""
    tells_error: bool = False
    asked_for: bool = False


@dataclass(frozen=True)
class NodeBox:
    """One node of a graph, as a picture needs it.

    Attributes:
        name: the node's name.
        op: its opcode.
        label: its target, readable (``torch.relu``, ``x + y``, ``block.0``).
        inputs: names of the nodes it reads.
        mark: ``""``, ``"added"``, ``"removed"`` or ``"changed"``.
    """

    name: str
    op: str
    label: str
    inputs: tuple[str, ...]
    mark: str = ""


@dataclass(frozen=True)
class Example:
    """The smallest case that breaks an answer, ready to be shown.

    Attributes:
        case: the case's name.
        source: the model as source code a person can read and paste.
        call: how the answer was called, one line.
        inputs: a description of the inputs, one line each.
        expected: what should have come back, or ``""``.
        obtained: what came back, or ``""``.
        before: the traced model.
        after: the learner's graph; empty when there is none.
        code: the code of the graph that came back, or ``""``.
        fine_print: the sentence of the task's fine print that the case stands on, or ``""``.
    """

    case: str
    source: str = ""
    call: str = ""
    inputs: tuple[str, ...] = ()
    expected: str = ""
    obtained: str = ""
    before: tuple[NodeBox, ...] = ()
    after: tuple[NodeBox, ...] = ()
    code: str = ""
    fine_print: str = ""


@dataclass(frozen=True)
class Share:
    """How one aspect of the exercise went.

    Attributes:
        says: what it is, in a few words.
        weight: its weight among all.
        held: whether all its cases hold.
        tried: whether it was tried at all.
    """

    says: str
    weight: int
    held: bool
    tried: bool = True


@dataclass(frozen=True)
class Verdict:
    """The judgement of one answer.

    Attributes:
        exercise: the exercise's name.
        status: how it went; ``"not judged"`` where all that could be looked at holds, and the
            rest could not be looked at: a person decides.
        score: 0 to 1.
        findings: what is wrong, the one to show first at the front.
        shares: how each aspect went.
        example: the smallest failing case, if any.
        error: for a crash, one or two lines: what was raised and where in the learner's code.
        printed: what the learner's code printed, cut to size.
        cases: how many cases were tried.
        others: for some further findings, the cases that they were found on.
        defined: whether there was an answer at all.
        remark: what else there is to say of an answer that passed.
        fails: the hand-picked cases that fail, hidden ones too, with the code of each one's first
            finding: answers with one mistake fail the same cases in the same way.
        unread: where the exercise forbids a tool: what keeps a reader of the answer's text from
            saying whether it uses that, such as ``compile``. It costs nothing.
    """

    exercise: str
    status: Status
    score: float
    findings: tuple[Finding, ...] = ()
    shares: tuple[Share, ...] = ()
    example: Example | None = None
    error: str = ""
    printed: str = ""
    cases: int = 0
    others: tuple[Example, ...] = ()
    defined: bool = True
    remark: str = ""
    fails: tuple[tuple[str, str], ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every case held."""
        return self.status == "passed"

    @property
    def is_unchecked(self) -> bool:
        """Whether nothing was tried, because a package is missing that the check needs."""
        return any(finding.code == MISSING_PACKAGE for finding in self.findings)

    def further(self) -> list[Finding]:
        """The findings beyond the first, each text once; a new kind before another of a kind."""
        return further_findings(self.findings)


def further_findings(findings: tuple[Finding, ...]) -> list[Finding]:
    """As `Verdict.further`."""
    seen = {_gist(finding) for finding in findings[:1]}
    kinds = {finding.code for finding in findings[:1]}
    new: list[Finding] = []
    again: list[Finding] = []
    for finding in findings[1:]:
        if _gist(finding) not in seen:
            seen.add(_gist(finding))
            (again if finding.code in kinds else new).append(finding)
            kinds.add(finding.code)
    # Another exception, or another case of it, may be the one that says what is wrong; of the
    # other kinds one is enough, and its name or number differs from case to case.
    return new + [finding for finding in again if finding.raised]


def _gist(finding: Finding) -> str:
    """What a finding says, without what differs between two cases of one exception."""
    return _DIFFERS.sub("", finding.raised) or finding.message


_DIFFERS = re.compile(r"'[^']*'|<[^>]*>|\[[^\]]*\]|\{.*?\}|\d+|\bNode \w+|node \w+:")
"""Names, values and numbers in the text of an exception."""
