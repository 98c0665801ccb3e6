"""Judges one outcome: how the call ended, then the rules of the key, stage by stage."""

from __future__ import annotations

import re
from dataclasses import replace

from autograder.core.execution import ErrorRecord
from autograder.core.exercise import Case, Exercise
from autograder.core.graph_jobs import GraphRunner, do_here
from autograder.core.outcome import Outcome
from autograder.core.verdict import Finding
from autograder.judge.advice import advice_for
from autograder.judge.answer_key import AnswerKey, key_of
from autograder.judge.error_text import came_from, error_text, near_advice
from autograder.judge.evidence import Evidence
from autograder.judge.kinds import KINDS
from autograder.judge.references import MissingReference
from autograder.judge.rule import Rule
from autograder.judge.schema import is_complete

_CONDITION = (
    "For which situation does the exercise ask for this exception, and which line of yours looks "
    "at it?"
)


UNLISTED = "unlisted-operation"
"""The code of a finding about an operation that the judge must not run."""


def findings_of(
    exercise: Exercise,
    case: Case,
    outcome: Outcome,
    seed: int = 0,
    runner: GraphRunner = do_here,
    key: AnswerKey | None = None,
) -> list[Finding]:
    """Judge one outcome: return the findings of the first stage that has any."""
    key = key or key_of(exercise)
    evidence = Evidence(exercise, case, outcome, key, seed, runner)
    if not is_complete(KINDS[exercise.kind].schema, evidence):
        return [unrecorded(evidence)]
    if is_vacuous(evidence):
        return []
    ended = _ending(evidence)
    if ended is not None:
        return ended or [
            replace(each, asked_for=True) for each in _findings_after_exception(evidence, key)
        ]
    stage = None
    found: list[Finding] = []
    for rule in sorted(key.rules, key=lambda rule: rule.stage):
        if found and rule.stage != stage:
            break
        stage = rule.stage
        found += _apply(rule, evidence)
    return found or _unlisted(evidence)


def unrecorded(evidence: Evidence) -> Finding:
    """The finding about an incomplete record: runs that were not recorded count as failed."""
    return evidence.finding(
        "unrecorded",
        f"What {evidence.you} did on this case was not recorded completely, so that nothing can "
        "be said for it.",
        "This happens if code of the notebook changes Python, PyTorch or the course while an "
        "answer is tried. Restart the kernel, run the cells in order, and check again.",
    )


def _unlisted(evidence: Evidence) -> list[Finding]:
    """The finding about an operation that the judge does not run, even if the list is at fault."""
    operation = evidence.unlisted if evidence.has_graph else ""
    if not operation:
        return []
    return [
        evidence.finding(
            UNLISTED,
            f"The graph that {evidence.you} returned calls `{operation}`, which is not run here. "
            "It may be right; nobody has looked at what it computes.",
            "Is there another spelling of this operation? If not, ask your instructor to look "
            "at your answer.",
        )
    ]


def is_vacuous(evidence: Evidence) -> bool:
    """Whether this is a random model that cannot run after the change that the task asks for.

    The parts of a random model fit together, but a replaced function may return another shape,
    and a fixed value may have a type that an operation does not accept.
    """
    case = evidence.case
    raising_is_asked = case.expect.raises or case.expect.may_raise
    if case.recipe is None or raising_is_asked or not evidence.has_graph:
        return False
    return any("error" in run for run in evidence.reference.runs)


def _findings_after_exception(evidence: Evidence, key: AnswerKey) -> list[Finding]:
    """Findings after the exception that the case expects: only its `still_holds` rules apply."""
    still = evidence.case.expect.still_holds
    rules = (rule for rule in key.rules if rule.name in still)
    return [finding for rule in rules for finding in _apply(rule, evidence)]


def _apply(rule: Rule, evidence: Evidence) -> list[Finding]:
    """Apply a rule. If it cannot read the data, this is a finding, too."""
    try:
        return list(rule(evidence))
    except MissingReference:
        raise  # not the answer's fault: the reference files are out of date
    except Exception as error:
        return [
            evidence.finding(
                "unreadable",
                f"What {evidence.you} returned could not be looked at ({type(error).__name__}).",
                "Compare the kind of value that you return with what the exercise asks for.",
            )
        ]


def _ending(evidence: Evidence) -> list[Finding] | None:
    """Findings about the end of the call; ``None`` if there is a result to judge."""
    outcome, wanted = evidence.outcome, evidence.case.expect.raises
    if outcome.ended == "raised" and wanted:
        error = outcome.error or ErrorRecord()
        if wanted in error.get("types", ()):
            return _message(evidence, error)
        return [
            evidence.finding(
                "wrong-exception",
                f"{evidence.you} raised `{error.get('type')}` here; "
                f"the exercise asks for `{wanted}`.{came_from(error)}",
                near_advice(error)
                or f"Which line should raise `{wanted}` in this case, and does it come before the "
                "one that raises now?",
                error={"type": error.get("type", "")},  # the message differs from case to case
            )
        ]
    if wanted and outcome.ended == "returned":
        return [
            evidence.finding(
                "should-raise",
                f"{evidence.you} returned a result here; the exercise asks for `{wanted}`.",
                evidence.case.expect.advice or _CONDITION,
            )
        ]
    if outcome.ended == "raised":
        error = outcome.error or ErrorRecord()
        message = f"{evidence.you} raised {error_text(error)}."
        crash = evidence.finding("crashed", message, _advice(evidence, error), error=error)
        return [replace(crash, tells_error=True)]
    if outcome.ended == "out of time":
        return [_out_of_time(evidence, outcome.error or ErrorRecord())]
    if outcome.ended == "not attempted":
        return [
            evidence.finding(
                "not-attempted",
                f"{evidence.you} is not written yet.",
                "Replace the line `raise NotImplementedError`.",
            )
        ]
    return None


def _out_of_time(evidence: Evidence, error: ErrorRecord) -> Finding:
    """The finding about a timeout, with the line, the loop and the values of its variables."""
    where = (
        f" Its time was up at line {error['line']}: `{error['text']}`." if error.get("line") else ""
    )
    message = f"{evidence.you} did not come to an end on this case.{where}"
    values = error.get("values") or [["", ""]]
    (_, loop), *variables = values
    if not loop:
        advice = "Which loop or call can go on without end here?"
    elif re.match(r"for .*\.nodes\b", loop):
        advice = (
            f"The loop `{loop}` still ran. A loop over `graph.nodes` also visits the nodes that "
            "you insert while it runs."
        )
    else:
        held = ", ".join(f"`{name}` was {value}" for name, value in variables)
        told = f" At that moment {held}." if held else ""
        advice = f"The loop `{loop}` still ran.{told} Which line should bring it to its end?"
    return evidence.finding("out-of-time", message, advice)


def _message(evidence: Evidence, error: ErrorRecord) -> list[Finding]:
    """Findings about the message of the expected exception."""
    name = evidence.case.expect.names
    if name in error.get("says", ""):
        return []
    found = evidence.finding(
        "name-not-told",
        f"{evidence.you} raised {error_text(error)} here; the message does not name `{name}`.",
        "The reader of the message wants to know which name is meant.",
    )
    return [replace(found, asked_for=True)]


def _advice(evidence: Evidence, error: ErrorRecord) -> str:
    """Advice about an exception; the verdict shows the line that raised it separately."""
    known = _missing_node(evidence, error) or advice_for(evidence.exercise, error, "call")
    if known:
        return known
    if not error.get("line"):
        return f"Which call of `{evidence.exercise.name}` raises this, and with which arguments?"
    return (
        f"Your line {error['line']} raises this, or a function that it calls. Print the values "
        "that this line uses: which one is not what you expect?"
    )


_NODE_QUESTIONS = {
    "decompose": "Has your loop passed it already? If it has, the loop may have reached nodes that "
    "a rule has recorded: in which graph does your tracer record?",
    "split_at": "If the tail reads it and it was computed before the cut, it has to cross, too.",
}
"""Questions about a node without a value, for some exercises."""


def _missing_node(evidence: Evidence, error: ErrorRecord) -> str:
    """A question for a `KeyError` whose key is the name of a node of the trace; else ``""``."""
    own = str(error.get("text", "")).startswith("raise")
    if own or error.get("type") != "KeyError" or evidence.trial.model is None:
        return ""
    name = error.get("message", "").strip("'")
    try:
        known = any(row["name"] == name for row in evidence.traced_graph["nodes"])
    except Exception:
        return ""  # a model whose trace raises
    asked = _NODE_QUESTIONS.get(
        evidence.exercise.name, "Which nodes read it, and where is it among their arguments?"
    )
    return f"`{name}` is a node of the trace, and has no value there. {asked}" if known else ""
