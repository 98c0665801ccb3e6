"""How an answer is exercised that cuts parts out of a graph and has them compiled."""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder.core.codec import Encoder, Plain
from autograder.core.exercise import Trial
from autograder.core.graph_record import describe
from autograder.core.outcome import Outcome
from autograder.runner.call import Answer, call_watched, encode_result, run_result


def lowering(answer: Answer, trial: Trial, outcome: Outcome, encoder: Encoder) -> None:
    """A function of a graph module, sets of names and a compiler, that returns a graph module.

    The compiler is the case's last argument. What it is given is described at once, since an answer
    may edit it later: under ``pieces``, in the order of its calls, a graph module with the examples
    beside it, or the class of what is none. ``compiled`` says at which paths of the result are the
    modules that it gave, by the numbers of its calls; ``new``, whether the result has a graph of
    its own.
    """
    gm, parts, compiler = trial.args
    graph = gm.graph
    pieces: list[Plain] = []
    made: list[Any] = []  # kept: the address of what is gone comes again

    def compile_noted(sub: Any, examples: Any) -> Any:
        pieces.append(_piece(sub, examples, trial, encoder))
        made.append(compiler(sub, examples))
        return made[-1]

    result = call_watched(answer, trial, outcome, gm, parts, compile_noted)
    outcome.value = encode_result(result, trial, encoder)
    if isinstance(result, fx.GraphModule):
        numbers = {id(module): i for i, module in enumerate(made)}
        outcome.value |= {
            "new": result is not gm and result.graph is not graph,
            "pieces": pieces,
            "compiled": {
                path: numbers[id(module)]
                for path, module in result.named_modules(remove_duplicate=False)
                if id(module) in numbers
            },
        }
        run_result(result, trial, outcome, encoder)


def _piece(sub: Any, examples: Any, trial: Trial, encoder: Encoder) -> Plain:
    """What the compiler was given in one call."""
    given = encoder.encode(examples)
    if not isinstance(sub, fx.GraphModule):
        return {"kind": type(sub).__name__, "examples": given}
    return {"graph_module": describe(sub, encoder, trial.model), "examples": given}
