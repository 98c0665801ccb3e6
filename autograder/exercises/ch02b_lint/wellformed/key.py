"""The answer key of `wellformed`: the codes of the faults of a graph module."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import fx

from autograder.authoring.key import (
    AnswerKey,
    Evidence,
    Finding,
    RecipeOracle,
    Reference,
    Stage,
    Trial,
    caller_untouched,
    returns,
    rule,
    show,
)
from autograder.exercises.ch02b_lint.wellformed import models_faults as faults
from autograder.exercises.ch02b_lint.wellformed import models_faults_elsewhere as elsewhere
from autograder.exercises.ch02b_lint.wellformed.models_faults import Step
from autograder.exercises.ch02b_lint.wellformed.models_random import GROUPS, spoilt

CODES = (
    "foreign-node",
    "raw-tensor",
    "undefined-use",
    "missing-target",
    "dotted-name",
    "output",
    "stale-code",
)
"""The codes, in the order of the groups of steps that cause them; see `models_random`."""

_WHERE = {
    "dotted-name": "Look at the keys of every module's own dictionaries, at any depth.",
    "foreign-node": "Look at what each node reads and at who reads it; which of them are in "
    "`graph.nodes`?",
    "missing-target": "Follow the target of each `call_module` and `get_attr` from the module, "
    "one part of the path after the other.",
    "output": "Which nodes are outputs, and where are they?",
    "raw-tensor": "Look at every argument, in each container that may hold arguments.",
    "stale-code": "Compare `gm.code` with the code that the graph would generate now.",
    "undefined-use": "For each node: has everything of this graph that it reads been defined?",
}


@rule("right codes", Stage.RESULT)
def right_codes(evidence: Evidence) -> Iterable[Finding]:
    """The list has each code that applies, once, sorted, and no other."""
    got: list[Any] = evidence.value["list"]
    want: list[Any] = evidence.reference.value["list"]
    for code in got:
        if code not in CODES:
            yield evidence.finding(
                "unknown-code",
                f"Your list has {show(code)}, which is none of the codes.",
                "Spell the codes as in the table of the exercise.",
            )
            return
    for code in want:
        if code not in got:
            yield evidence.finding(
                "missed-fault",
                f"You do not report `{code}` here, and it applies.",
                _WHERE[code],
            )
    for code in got:
        if code not in want:
            yield evidence.finding(
                "false-alarm",
                f"You report `{code}` here, and it does not apply.",
                _WHERE[code],
            )
            return
    if sorted(set(got)) == want and got != want:
        twice = len(set(got)) != len(got)
        yield evidence.finding(
            "listed-twice" if twice else "not-sorted",
            f"You report {show({'list': got})}; each code must be there once, in sorted order.",
            "Look at the last line of your function.",
        )


# The code that each step causes, and the second code of some steps.
_CODE: dict[Step, str] = {
    step: code for code, group in zip(CODES, GROUPS, strict=True) for step in group
}
_BESIDES: dict[Step, str] = {
    faults.dotted_target: "missing-target",
    elsewhere.tensor_as_default: "raw-tensor",
}


def codes_of(step: Step, gm: fx.GraphModule) -> set[str]:
    """The codes that a step will cause; none if it is harmless."""
    found = {table[step] for table in (_CODE, _BESIDES) if step in table}
    if step is elsewhere.output_first and _reads_something(gm):
        found.add("undefined-use")
    return found


def _reads_something(gm: fx.GraphModule) -> bool:
    """Whether the output reads a node of its graph."""
    output = faults.output_of(gm)
    return output is not None and not set(gm.graph.nodes).isdisjoint(output.all_input_nodes)


@RecipeOracle
def codes(trial: Trial, choice: int) -> Reference:
    """The codes of all steps, which it repeats on a fresh trace."""
    gm = fx.symbolic_trace(trial.given_model)
    found: set[str] = set()
    for step in spoilt(gm, choice):
        found |= codes_of(step, gm)
    return Reference({"list": sorted(found)})


KEY = AnswerKey(
    (
        returns("list").because("names the kind that came back, before any code is compared"),
        caller_untouched,
        right_codes,
    ),
    codes,
)
