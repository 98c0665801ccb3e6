"""The use of an answer that a question is about: the call as text, and the call itself."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import fx
from torch.fx.node import map_arg

from autograder.asking.plain_value import plain_value
from autograder.core.exercise import Exercise, Trial
from autograder.judge.counterexample import call_text

Use = Callable[[Any, Trial], Any]


def _call(answer: Any, trial: Trial) -> Any:
    return answer(*trial.args, **trial.kwargs)


def _run(answer: Any, trial: Trial) -> Any:
    return answer(trial.args[0]).run(*copy.deepcopy(trial.inputs[0]))


def _transform(answer: Any, trial: Trial) -> Any:
    return answer(trial.args[0]).transform()


def _trace(answer: Any, trial: Trial) -> Any:
    made, turns = trial.args
    tracers = [answer(*args, **kwargs) for args, kwargs in made]
    return [tracers[place].trace(model) for place, model in turns]


def _drive(answer: Any, trial: Trial) -> Any:
    call = trial.args[0](answer)
    return call(*copy.deepcopy(trial.inputs[0])) if trial.inputs else None


def _on_inputs(answer: Any, trial: Trial) -> Any:
    return answer(*copy.deepcopy(trial.inputs[0]))


def _rules(answer: Any, trial: Trial) -> Any:
    """The nodes that each rule records for a call of the model, on Proxies."""
    rules = _call(answer, trial)
    found = []
    for call in fx.symbolic_trace(trial.given_model).graph.nodes:
        if call.target in rules:
            graph = fx.Graph()
            tracer = fx.proxy.GraphAppendingTracer(graph)
            given: dict[fx.Node, Any] = {
                n: fx.Proxy(graph.placeholder(n.name), tracer) for n in call.all_input_nodes
            }
            args, kwargs = map_arg((call.args, call.kwargs), given.__getitem__)
            rules[call.target](*args, **kwargs)
            found.append(graph)
    return found


def _each(answer: Any, trial: Trial) -> Any:
    return [answer(node, **trial.kwargs) for node in trial.args[0].graph.nodes]


_RUN = "{}(gm).run(*inputs)"
_USES: dict[str, tuple[str, Use]] = {
    "interpreter": (_RUN, _run),
    "timer": (_RUN, _run),
    "transformer": ("{}(gm).transform()", _transform),
    "tracer": ("", _trace),
    "shape_tracer": ("", _trace),
    "compiler_backend": ("", _drive),
    "decomposition_rules": ("{}()", _rules),
    "each_node": ("[{}(node) for node in gm.graph.nodes]", _each),
    "traced_function": ("{}(x)", _on_inputs),
    "random_function": ("{}(x)", _on_inputs),
}


def use_of(kind: str) -> Use:
    """The function that uses an answer of this kind once."""
    return _USES.get(kind, ("", _call))[1]


def use_text(exercise: Exercise, trial: Trial) -> tuple[str, str]:
    """The use as code, such as ``add_to_mul(model)``, and the meaning of a name in it."""
    form = _USES.get(exercise.kind, ("", _call))[0]
    if form:
        return form.format(exercise.name), ""
    args = tuple(map(_shown, trial.args))
    call, _, where = call_text(exercise, replace(trial, args=args)).partition(", where ")
    return call, where


def _shown(value: Any) -> Any:
    """An argument, or a stand-in with the name that a question uses.

    The numbers of tensors would hide the rest of the call. A function needs its module's name:
    `torch.add` and `operator.add` are two targets.
    """
    if _are_tensors(value):
        return SimpleNamespace(__name__="inputs")
    name = plain_value(value) if callable(value) else ""
    return SimpleNamespace(__name__=name) if "." in name else value


def _are_tensors(value: Any) -> bool:
    """Whether a value consists of tensors, in tuples and lists."""
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_are_tensors, value))
    return isinstance(value, torch.Tensor)


def is_traced(trial: Trial) -> bool:
    """Whether an answer gets the trace of the model, and not the model."""
    return any(isinstance(value, fx.GraphModule) for value in trial.args)
