"""Saves the state of a caller's objects before a call, and lists the changes afterwards."""

from __future__ import annotations

import random
import re
import sys
from typing import Any

import torch
from torch import fx, nn

from autograder.core.codec import Encoded, Encoder
from autograder.core.global_state import RandomState
from autograder.core.graph_record import _MODULE_INTERNALS
from autograder.core.outcome import Change, Part
from autograder.core.torch_private import is_exported, own_buffers, own_parameters

# `symbolic_trace` and Dynamo register these on the model they trace; the answer did not change it.
_OF_TRACING = re.compile(
    r"_tensor_constant\d+$|_torchdynamo|_compiled_call_impl$|_is_torch_compile$"
)


class Snapshot:
    """The state of one object (a module, a tensor, or nested data) at one moment."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._facts = _facts(value)

    def changes(self) -> list[Change]:
        """The changes since the snapshot."""
        now = _facts(self._value)
        found = []
        for key in list(self._facts) + [key for key in now if key not in self._facts]:
            before, after = self._facts.get(key), now.get(key)
            part, name = key
            if before is None:
                found.append(Change(part, f"{name} was added"))
            elif after is None:
                found.append(Change(part, f"{name} was removed"))
            elif not _same(before, after):
                found.append(Change(part, f"{name} was {_verb(before, after)}"))
        return found


Fact = tuple[Any, Any]
"""``(identity, value)``."""

Facts = dict[tuple[Part, str], Fact]
"""Facts by the part that they are about, and its name for people."""


def _verb(before: Fact, after: Fact) -> str:
    return "replaced" if before[0] != after[0] else "changed"


def _same(before: Fact, after: Fact) -> bool:
    """Whether two facts are equal; tensors are compared bit by bit, except on the meta device."""
    if before[0] != after[0]:
        return False
    a, b = before[1], after[1]
    if isinstance(a, torch.Tensor):
        alike = a.dtype == b.dtype and a.shape == b.shape and a.is_meta == b.is_meta
        return alike and (a.is_meta or torch.equal(_bits(a), _bits(b)))
    return bool(a == b)


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)


def _facts(value: Any) -> Facts:
    if isinstance(value, nn.Module):
        return _module_facts(value)
    if is_exported(value):
        return _program_facts(value)
    if isinstance(value, RandomState):
        return _random_facts()
    if isinstance(value, torch.Tensor):
        return {
            (Part.TENSOR, "an input tensor"): (id(value), value.detach().clone()),
            (Part.TENSOR, "`requires_grad` of an input tensor"): (0, value.requires_grad),
        }
    encoder = _GradientEncoder()
    plain = encoder.encode(value)
    facts: Facts = {(Part.ARGUMENT, "an argument"): (id(value), repr(plain))}
    for i, (tensor, needs) in enumerate(zip(encoder.tensors, encoder.needs, strict=True)):
        facts[Part.TENSOR, f"tensor {i} of an argument"] = (0, tensor)
        facts[Part.TENSOR, f"`requires_grad` of tensor {i} of an argument"] = (0, needs)
    return facts


class _GradientEncoder(Encoder):
    """An encoder that records which tensors require gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.needs: list[bool] = []

    def tensor(self, value: torch.Tensor) -> Encoded:
        """Add a copy of a tensor to the table."""
        self.needs.append(value.requires_grad)
        return super().tensor(value)


def _random_facts() -> Facts:
    """Facts of the global random state: PyTorch's, Python's, and NumPy's if it is imported."""
    facts: Facts = {(Part.RANDOM_STATE, "the global random state"): (0, torch.get_rng_state())}
    facts[Part.RANDOM_STATE, "the state of `random`"] = (0, random.getstate())
    if numpy := sys.modules.get("numpy"):
        kind, keys, *rest = numpy.random.get_state()
        facts[Part.RANDOM_STATE, "the state of `numpy.random`"] = (0, (keys.tobytes(), *rest))
    return facts


def _program_facts(program: Any) -> Facts:
    """Facts of an exported program: graph, signature, structure of results, sizes, tensors."""
    of_module = _module_facts(program.graph_module).items()
    facts = {
        (part, name.replace("the model", "the program")): fact for (part, name), fact in of_module
    }
    facts[Part.ARGUMENT, "the program's signature"] = (0, str(program.graph_signature))
    facts[Part.ARGUMENT, "the program's structure"] = (0, repr(program.module_call_graph))
    facts[Part.ARGUMENT, "the program's range constraints"] = (0, str(program.range_constraints))
    for node in program.graph.nodes:
        facts[Part.META, f"the meta of node `{node.name}`"] = (0, sorted(map(str, node.meta)))
    for name, tensor in {**program.state_dict, **program.constants}.items():
        if isinstance(tensor, torch.Tensor):
            facts[Part.TENSOR, f"tensor `{name}` of the program"] = _tensor_fact(tensor)
    return facts


def _module_facts(root: nn.Module) -> Facts:
    facts: Facts = {}
    if isinstance(root, fx.GraphModule):
        facts[Part.GRAPH, "the model's graph"] = (id(root.graph), str(root.graph))
        facts[Part.GRAPH, "the model's code"] = (0, root.code)
    for path, module in root.named_modules(remove_duplicate=False):
        label = f"`{path}`" if path else "the model"
        name = f"submodule {label}" if path else "the model"
        facts[Part.MODULE, name] = (id(module), type(module))
        facts[Part.TRAINING_FLAG, f"the training flag of {label}"] = (0, module.training)
        for store, word in ((own_parameters(module), "parameter"), (own_buffers(module), "buffer")):
            for name, tensor in store.items():
                if not _OF_TRACING.match(name):
                    where = f"{word} `{path}.{name}`" if path else f"{word} `{name}`"
                    facts[Part.MODULE, where] = _tensor_fact(tensor)
                    needs = tensor is not None and tensor.requires_grad
                    facts[Part.MODULE, f"`requires_grad` of {where}"] = (0, needs)
        facts.update(_attribute_facts(module, path, label))
    return facts


def _tensor_fact(tensor: torch.Tensor | None) -> Fact:
    if tensor is None:
        return (0, "no tensor")
    return (id(tensor), tensor.detach().clone())


def _attribute_facts(module: nn.Module, path: str, label: str) -> Facts:
    facts: Facts = {}
    hooks = 0
    for name, value in module.__dict__.items():
        if name.endswith("_hooks"):
            hooks += len(value)
        if name in _IGNORED_ATTRIBUTES or _OF_TRACING.match(name):
            continue
        if isinstance(value, torch.Tensor):
            facts[Part.MODULE, f"tensor `{name}` of {label}"] = _tensor_fact(value)
        else:
            facts[Part.MODULE, f"attribute `{name}` of {label}"] = (0, _comparable(value))
    facts[Part.MODULE, f"the list of hooks of {label}"] = (0, hooks)
    return facts


_IGNORED_ATTRIBUTES = _MODULE_INTERNALS | {
    "_graph", "_code", "_lineno_map", "_prologue_start", "shape_env",
}  # fmt: skip

_NUMBERS = frozenset({bool, int, float, type(None)})


def _comparable(value: Any) -> str:
    """An attribute's value as text to compare; for numbers, this is faster than an `Encoder`."""
    return repr(value if type(value) in _NUMBERS else Encoder().encode(value))
