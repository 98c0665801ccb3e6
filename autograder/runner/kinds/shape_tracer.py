"""Tracers that answer questions.

A tracer whose Proxies know more than the usual ones, such as shapes.

**Input.** The arguments of your class, as the task describes them.

**Result.** Graphs, and a list of the assumptions that the tracer made.

* Each trace gives a graph, or an exception that names the line of the model that asked for an
  unknown value.
* `assumed` must name exactly the nodes that were asked: the graph is right only under these
  conditions.
"""

from __future__ import annotations

import linecache
import re
import traceback
from typing import Any

import torch
from torch import fx, nn

from autograder.core.codec import Encoded, Encoder
from autograder.core.execution import ErrorRecord
from autograder.core.exercise import Trial
from autograder.core.graph_record import call_of, describe_nodes
from autograder.core.outcome import Outcome
from autograder.runner.answer_kind import AnswerKind
from autograder.runner.call import call_watched
from autograder.runner.canary import one_tracer
from autograder.runner.exceptions import is_stub, record_of
from autograder.runner.kinds import tracer
from autograder.runner.kinds.interpreter import is_made_from

RIGHT = """\
class NAME(fx.Tracer):
    def is_leaf_module(self, module, path):
        return True
"""
SPOILT = ("True", "False")

_CONSTANT = re.compile(r"_tensor_constant\d+$")


def run(answer: Any, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """Run a subclass of `fx.Tracer` whose traces may raise, and which lists its assumptions.

    The trial's arguments are those of `tracer.run`. For each turn, the record has the nodes of the
    ``graph`` and the tracer's ``assumed``; or the exception, with the model's line that ``asked``.
    """
    if not is_made_from(fx.Tracer, answer, outcome):
        return

    def work(made: Any, turns: Any) -> None:
        tracers = [answer(*args, **kwargs) for args, kwargs in made]
        for place, model in turns:
            try:
                graph = tracers[place].trace(model)
            except Exception as error:
                if is_stub(error):
                    raise
                record: ErrorRecord = record_of(error) | {"asked": _line_of(model, error)}
                outcome.runs.append({"forward": {"error": record}})
                continue
            if not isinstance(graph, fx.Graph):
                outcome.value = f"a class whose `trace` gives a `{type(graph).__name__}`"
                outcome.runs.clear()
                return
            assumed = getattr(tracers[place], "assumed", None)
            value = told(graph, assumed, encoder, model)
            outcome.runs.append({"forward": {"value": value}})

    call_watched(work, trial, outcome)


def told(graph: fx.Graph, assumed: Any, encoder: Encoder, model: nn.Module) -> Encoded:
    """Describe a graph with its nodes' names, and the tracer's assumptions.

    ``empty`` has the names of tensors without data that tracing has added to the model.
    """
    kept = [call_of(row) for row in describe_nodes(graph, encoder)]
    constants = {name: value for name, value in vars(model).items() if _CONSTANT.match(name)}
    constants |= {n: value for n, value in model.named_buffers() if _CONSTANT.match(n)}
    empty = [
        n for n, value in constants.items() if type(value) is not torch.Tensor or value.is_meta
    ]
    return {"graph": kept, "assumed": encoder.encode(assumed), "empty": empty}


def _line_of(model: nn.Module, error: Exception) -> str:
    """The last line of a model's ``forward`` that was running; ``""`` if none was."""
    lines = {
        type(part).forward.__code__: getattr(type(part), "source_code", "")
        for part in model.modules()
        if hasattr(type(part).forward, "__code__") and not part.__module__.startswith("torch.")
    }
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if code in lines:
            written = lines[code].splitlines()[line - 1 : line]
            found = written[0] if written else linecache.getline(code.co_filename, line)
    return found.strip()


KIND = AnswerKind(run, canary_trial=one_tracer, call=tracer.call)
