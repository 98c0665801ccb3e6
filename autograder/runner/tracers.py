"""How answers are exercised that are classes of tracers."""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder.core.codec import Encoder, Plain
from autograder.core.exercise import Trial
from autograder.core.graph_record import describe_nodes
from autograder.core.outcome import Outcome
from autograder.runner.call import call_watched
from autograder.runner.interpreters import is_made_from

_TOLD = ("op", "target", "args", "kwargs")


def tracer(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A subclass of `fx.Tracer`: all tracers are made first, then each traces when its turn comes.

    The trial's arguments are how the tracers are made, pairs of positional and keyword arguments,
    and who traces what, pairs of a tracer's place and a model. Names of nodes are not told: they
    depend on what else a tracer has tried.
    """
    if not is_made_from(fx.Tracer, answer, outcome):
        return

    def work(made: Any, turns: Any) -> None:
        tracers = [answer(*args, **kwargs) for args, kwargs in made]
        for place, model in turns:
            graph = tracers[place].trace(model)
            if not isinstance(graph, fx.Graph):
                outcome.value = f"a class whose `trace` gives a `{type(graph).__name__}`"
                return
            outcome.runs.append({"forward": {"value": instructions(graph, encoder)}})

    call_watched(work, trial, outcome)


def instructions(graph: fx.Graph, encoder: Encoder) -> Plain:
    """A graph as a list of ``[op, target, args, kwargs]``, in plain form."""
    rows = describe_nodes(graph, encoder)
    return {"list": [{"list": [row[key] for key in _TOLD]} for row in rows]}
