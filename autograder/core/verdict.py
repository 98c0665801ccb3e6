"""The judge's verdict on an answer: plain data that `cards` display."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Status = Literal["passed", "failed", "crashed", "not attempted", "not judged"]

MISSING_PACKAGE = "missing-package"
"""The code of the finding that names the package that a check needs."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        code: stable key, such as ``stale-code``.
        message: one sentence that says what is wrong, in the learner's own names.
        advice: one sentence that says where to look; never the solution.
        rule: the rule that found it.
        case: the case that it was found on.
        nodes: names of the nodes that it is about, for pictures.
        raised: the exception that it reports, as text; empty if it reports none.
        tells_error: whether it only repeats the verdict's ``error``.
        asked_for: whether the answer raised the exception that the exercise asks for here. Then it
            did not crash, but something else about the exception is wrong.
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
    """One node of a graph in a picture.

    Attributes:
        name: the node's name.
        op: its opcode.
        label: its target, readable (``torch.relu``, ``x + y``, ``block.0``).
        inputs: names of the nodes that it reads.
        mark: ``""``, ``"added"``, ``"removed"`` or ``"changed"``.
    """

    name: str
    op: str
    label: str
    inputs: tuple[str, ...]
    mark: str = ""


@dataclass(frozen=True)
class Example:
    """The smallest case that breaks an answer, ready to be displayed.

    Attributes:
        case: the case's name.
        source: the model as source code that a person can read and paste.
        call: the call of the answer, in one line.
        inputs: a description of the inputs, one line each.
        expected: the expected result, or ``""``.
        obtained: the actual result, or ``""``.
        before: the traced model.
        after: the learner's graph; empty if there is none.
        code: the code of the returned graph, or ``""``.
        fine_print: the sentence of the task's fine print that the case tests, or ``""``.
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
    """The result of one aspect of the exercise.

    Attributes:
        says: the aspect in a few words.
        weight: its weight among all.
        held: whether all its cases passed.
        tried: whether its cases were tried.
    """

    says: str
    weight: int
    held: bool
    tried: bool = True


@dataclass(frozen=True)
class Verdict:
    """The judgment of one answer.

    Attributes:
        exercise: the exercise's name.
        status: the result; ``"not judged"`` if all checks that were possible passed and others were
            not possible, so that a person has to decide.
        score: 0 to 1.
        findings: the mistakes; the first is the one to show first.
        shares: the result of each aspect.
        example: the smallest failing case, if any.
        error: for a crash, one or two lines: the exception, and its line in the learner's code.
        printed: the output of the learner's code, cut to size.
        cases: the number of cases tried.
        others: for some further findings, the cases that they were found on.
        defined: whether there was an answer.
        remark: a remark on an answer that passed.
        fails: the hand-picked cases that fail, including hidden ones, with the code of each one's
            first finding. Answers with the same mistake fail the same cases in the same way.
        unread: if the exercise forbids a tool: the names, such as ``compile``, that prevent the
            judge from deciding whether the answer's text uses it. It costs no points.
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
        """Whether every case passed."""
        return self.status == "passed"

    @property
    def is_unchecked(self) -> bool:
        """Whether nothing was tried because a package is missing that the check needs."""
        return any(finding.code == MISSING_PACKAGE for finding in self.findings)

    def further(self) -> list[Finding]:
        """The findings after the first, each text once; new kinds before repeated ones."""
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
    # Another exception, or another case of it, may be the one that shows the mistake. Other kinds
    # are listed once, because only a name or a number differs from case to case.
    return new + [finding for finding in again if finding.raised]


def _gist(finding: Finding) -> str:
    """A finding's text, without the parts that differ between two cases of one exception."""
    return without_names(finding.raised) or finding.message


def without_names(text: str) -> str:
    """The text of an exception without the names, values and numbers that differ between cases."""
    return _DIFFERS.sub("", text)


_DIFFERS = re.compile(r"'[^']*'|<[^>]*>|\[[^\]]*\]|\{.*?\}|\d+|\bNode \w+|node \w+:")
"""Names, values and numbers in the text of an exception."""
