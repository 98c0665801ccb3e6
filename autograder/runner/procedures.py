"""The ways in which answers are exercised, by name."""

from __future__ import annotations

from autograder.runner import functions, in_place, interpreters, modules, repeated, rules, splits
from autograder.runner.call import Procedure

PROCEDURES: dict[str, Procedure] = {
    "analysis": functions.analysis,
    "transform": functions.transform,
    "traced function": functions.traced_function,
    "each node": functions.each_node,
    "counted transform": functions.counted_transform,
    "interpreter": interpreters.interpreter,
    "timer": interpreters.timer,
    "transformer": interpreters.transformer,
    "rules": rules.rules,
    "repeated transform": repeated.repeated_transform,
    "any module": modules.any_module,
    "split": splits.split,
    "after others": modules.after_others,
    "in place": in_place.in_place,
}
