"""How answers are exercised that change the graph module they are given, and return a report."""

from __future__ import annotations

from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.fake_values import mode_of, val_text
from autograder.core.graph_record import describe, nodes_of
from autograder.core.outcome import Outcome
from autograder.runner.call import Answer, call_watched, encode_result, run_result


def edit(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function of a graph module, the case's one argument, that changes it.

    The changed module is described and run; each node's ``meta`` says what its ``val`` is. Beside
    it, under ``"returned"``, is what came back.
    """
    (gm,) = trial.args
    mode = mode_of(gm.graph)
    returned = call_watched(answer, trial, outcome)
    described = describe(gm, encoder, trial.model)
    described["meta"] = [
        {"val": val_text(node.meta["val"], mode)} if "val" in node.meta else {}
        for node in nodes_of(gm.graph)
    ]
    outcome.value = {
        "graph_module": described,
        "returned": "the graph module"
        if returned is gm
        else encode_result(returned, trial, encoder),
    }
    run_result(gm, trial, outcome, encoder)
