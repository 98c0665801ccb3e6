"""The ways in which answers are exercised, by name."""

from __future__ import annotations

from autograder.runner import (
    driven,
    duels,
    edits,
    extraction,
    functions,
    in_place,
    interpreters,
    layers,
    lowering,
    modules,
    repeated,
    rewrites,
    rules,
    splits,
    tracers,
)
from autograder.runner.call import Procedure

PROCEDURES: dict[str, Procedure] = {
    "analysis": functions.analysis,
    "transform": functions.transform,
    "extraction": extraction.extraction,
    "traced function": functions.traced_function,
    "drawn twice": functions.drawn_twice,
    "each node": functions.each_node,
    "counted transform": functions.counted_transform,
    "interpreter": interpreters.interpreter,
    "timer": interpreters.timer,
    "transformer": interpreters.transformer,
    "tracer": tracers.tracer,
    "asked tracer": tracers.asked_tracer,
    "rules": rules.rules,
    "repeated transform": repeated.repeated_transform,
    "any module": modules.any_module,
    "split": splits.split,
    "after others": modules.after_others,
    "driven": driven.driven,
    "layer": layers.layer,
    "latency": layers.latency,
    "witness": duels.witness,
    "in place": in_place.in_place,
    "rewrite": rewrites.rewrite,
    "lowering": lowering.lowering,
    "edit": edits.edit,
}
