"""A shared rule of this chapter's exercises: no mode may stay entered."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.authoring.key import Evidence, Finding, Stage, rule
from autograder.exercises.ch12_passes.keys import said_in


@rule("modes are left", Stage.CALLER)
def modes_are_left(evidence: Evidence) -> Iterable[Finding]:
    """No mode that the answer entered may stay entered."""
    got, want = said_in(evidence)
    if got["modes"] != want["modes"]:
        yield evidence.finding(
            "mode-left",
            f"After {evidence.you} a mode is still entered: each tensor that anybody makes from "
            "then on is one of that mode.",
            "Who leaves a mode that is entered by hand, and who does it when an exception comes?",
        )
