"""Finds the calls that have an effect, and the nodes that must therefore stay in a graph."""

from __future__ import annotations

from autograder.core.codec import Tagged
from autograder.core.graph_record import (
    CallRecord,
    GraphRecord,
    ModuleRecord,
    called_function,
    target_path,
)
from autograder.rules.additions import calls, keyword

_IN_PLACE_OPERATORS = (
    "iadd isub imul imatmul itruediv ifloordiv imod ipow iconcat iand ior ixor ilshift irshift"
).split()
_EFFECTS: tuple[Tagged, ...] = tuple(
    {"function": name}
    for name in (
        *(f"operator.{name}" for name in _IN_PLACE_OPERATORS),
        "operator.setitem",
        "torch._assert",
        "builtins.print",
    )
)
_METHODS = ("__setitem__", *(f"__{name}__" for name in _IN_PLACE_OPERATORS))
_PURE: tuple[Tagged, ...] = tuple(
    {"function": f"operator.{name}"} for name in ("and_", "or_", "not_", "is_")
)


def has_effect(row: CallRecord, modules: dict[str, ModuleRecord]) -> bool:
    """Whether a call may do more than return a value, by the list in the exercise `sound_dce`."""
    if row["op"] in ("placeholder", "output"):
        return True
    if keyword(row, "inplace") not in (None, False) or keyword(row, "out") is not None:
        return True
    if row["op"] == "call_module":
        return _module_has_effect(modules.get(target_path(row), {}))
    if row["op"] == "call_method":
        return row["target"] in _METHODS or _says_in_place(target_path(row))
    if row["op"] == "call_function" and not calls(row, *_PURE):
        return calls(row, *_EFFECTS) or _says_in_place(called_function(row))
    return False


def _says_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _module_has_effect(module: ModuleRecord) -> bool:
    is_norm = module.get("class", "").startswith("torch.nn.modules.batchnorm.")
    return bool((is_norm and module["training"]) or module.get("attrs", {}).get("inplace"))


def modules_by_path(data: GraphRecord) -> dict[str, ModuleRecord]:
    """The description of each module by its path; a shared module has several paths."""
    found: dict[str, ModuleRecord] = {}
    for row in data["modules"]:
        found[row["path"]] = found[row["same_as"]] if "same_as" in row else row
    return found


def needed(data: GraphRecord) -> list[int]:
    """Positions of the nodes that have an effect, or whose value one of these reads."""
    modules = modules_by_path(data)
    found: set[int] = set()
    for i in reversed(range(len(data["nodes"]))):
        row = data["nodes"][i]
        if i in found or has_effect(row, modules):
            found |= {i, *(read["node"] for read in row["inputs"])}
    return sorted(found)
