"""Which calls have an effect, and which nodes of a graph therefore have to stay."""

from __future__ import annotations

from autograder.core.codec import Plain
from autograder.rules.additions import calls, keyword

_IN_PLACE_OPERATORS = (
    "iadd isub imul imatmul itruediv ifloordiv imod ipow iconcat iand ior ixor ilshift irshift"
).split()
_EFFECTS = tuple(
    {"function": name}
    for name in (
        *(f"operator.{name}" for name in _IN_PLACE_OPERATORS),
        "operator.setitem",
        "torch._assert",
        "builtins.print",
    )
)
_METHODS = ("__setitem__", *(f"__{name}__" for name in _IN_PLACE_OPERATORS))
_PURE = tuple({"function": f"operator.{name}"} for name in ("and_", "or_", "not_", "is_"))


def has_effect(row: Plain, modules: dict[str, Plain]) -> bool:
    """Whether a call may do anything besides returning a value, as `sound_dce` lists it."""
    if row["op"] in ("placeholder", "output"):
        return True
    if keyword(row, "inplace") not in (None, False) or keyword(row, "out") is not None:
        return True
    if row["op"] == "call_module":
        return _module_has_effect(modules.get(row["target"], {}))
    if row["op"] == "call_method":
        return row["target"] in _METHODS or _says_in_place(row["target"])
    if row["op"] == "call_function" and not calls(row, *_PURE):
        ((_, name),) = row["target"].items()
        return calls(row, *_EFFECTS) or _says_in_place(name)
    return False


def _says_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _module_has_effect(module: Plain) -> bool:
    is_norm = module.get("class", "").startswith("torch.nn.modules.batchnorm.")
    return bool((is_norm and module["training"]) or module.get("attrs", {}).get("inplace"))


def modules_by_path(data: Plain) -> dict[str, Plain]:
    """The description of each module, by every path it has."""
    found: dict[str, Plain] = {}
    for row in data["modules"]:
        found[row["path"]] = found[row["same_as"]] if "same_as" in row else row
    return found


def needed(data: Plain) -> list[int]:
    """Positions of the nodes that have an effect, or whose value one of these reads."""
    modules = modules_by_path(data)
    found: set[int] = set()
    for i in reversed(range(len(data["nodes"]))):
        row = data["nodes"][i]
        if i in found or has_effect(row, modules):
            found |= {i, *(read["node"] for read in row["inputs"])}
    return sorted(found)
