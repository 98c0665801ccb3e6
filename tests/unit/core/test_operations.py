"""The list of operations contains PyTorch's documented tensor operations, and no others."""

from __future__ import annotations

import inspect
import json
import re

import pytest
import torch

from autograder.builder.outputs import operations
from autograder.core import allowlist

LISTED = json.loads(operations.FILE.read_text(encoding="utf-8"))
FUNCTIONS = set(LISTED["functions"])
DOES_MORE = (
    "torch.load torch.save torch.from_file torch.from_numpy torch.frombuffer torch.manual_seed "
    "torch.set_default_dtype torch.set_grad_enabled torch.set_num_threads torch.compile "
    "torch.use_deterministic_algorithms torch.vmap torch.cond torch.sparse_coo_tensor "
    "torch.sparse_csr_tensor torch.nn.functional.triplet_margin_with_distance_loss "
    "torch.nn.functional.handle_torch_function operator.attrgetter operator.methodcaller "
    "operator.call operator.itemgetter builtins.eval builtins.exec builtins.open builtins.map "
    "builtins.filter builtins.sorted builtins.getattr builtins.setattr builtins.type "
    "math.factorial math.comb math.perm"
).split()
METHODS_THAT_DO_MORE = (
    "apply_ map_ map2_ backward register_hook numpy storage untyped_storage set_ data_ptr "
    "share_memory_ module_load as_subclass requires_grad_ __class__ __reduce_ex__ __dict__ "
    "__setstate__ __torch_function__ format"
).split()


def test_the_list_is_what_would_be_generated() -> None:
    assert operations.operations() == LISTED


def test_every_function_of_pytorch_that_computes_what_a_listed_method_does_is_on_it() -> None:
    """Some functions are left out on purpose, by name."""
    left_out = operations._NO_COMPUTATION
    methods = [name for name in LISTED["methods"]["Tensor"] if not left_out.search(name)]
    missing = [
        name
        for name in methods
        if inspect.isbuiltin(getattr(torch, name, None)) and f"torch.{name}" not in FUNCTIONS
    ]
    assert missing == ["as_strided", "as_strided_"]


def test_every_part_of_a_named_result_can_be_asked_for() -> None:
    kinds = [kind for name, kind in vars(torch.return_types).items() if name[0] != "_"]
    kinds = [kind for kind in kinds if inspect.isclass(kind) and issubclass(kind, tuple)]
    named = {name for kind in kinds for name in vars(kind) if re.match(r"(?!_|n_)", name)}
    assert len(kinds) > 15 and named - {"count", "index"} <= set(LISTED["attributes"]["tuple"])


@pytest.mark.parametrize("name", DOES_MORE)
def test_a_function_that_does_more_is_not_on_it(name: str) -> None:
    assert name not in LISTED["functions"]


@pytest.mark.parametrize("name", METHODS_THAT_DO_MORE)
def test_a_method_that_does_more_is_not_on_it(name: str) -> None:
    assert not any(name in names for names in LISTED["methods"].values())


def test_nothing_on_it_is_a_derivative_or_private() -> None:
    functions = set(LISTED["functions"]) - {*operations._PRIVATE, *operations._TORCHVISION}
    functions -= {"torch._sym_sqrt", "torch.nn.functional._threshold"}
    leaves = {name: name.rpartition(".")[2] for name in functions}
    assert [name for name, leaf in leaves.items() if "backward" in leaf] == []
    # Functions that FX itself records are in private modules, but have public names.
    assert [name for name, leaf in leaves.items() if leaf.startswith("_")] == []
    derivatives = {name for name in LISTED["aten"] if "backward" in name}
    assert derivatives == {name for name in operations._OF_TRAINING if "backward" in name}
    assert [name for name in LISTED["methods"]["Tensor"] if re.match(r"_(?!_)", name)] == []


def test_every_function_on_it_is_there_and_takes_no_callable() -> None:
    for name in LISTED["functions"]:
        found = allowlist.function_of(name)
        assert callable(found) and not inspect.isclass(found) or name in _TYPES, name
        assert not operations.takes_callable(found), name


def test_the_courses_own_operators_compute_and_write_nothing() -> None:
    assert LISTED["operators"] == {"torch.ops.fxcourse.rms_norm.default": "autograder.given"}
    for name in LISTED["operators"]:
        found = allowlist.function_of(name)
        assert allowlist.function_name(found) == name
        assert not found._schema.is_mutable  # type: ignore[attr-defined]
    with pytest.raises(LookupError):
        allowlist.function_of("torch.ops.fxcourse.rms_norm")


def test_an_operator_whose_module_is_not_there_is_no_operator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "torch.ops.fxcourse.nothing.default"
    for module in ("autograder.given", "autograder.nowhere"):
        monkeypatch.setitem(allowlist.OPERATORS, name, module)
        with pytest.raises(LookupError):
            allowlist.function_of(name)


_TYPES = {f"builtins.{name}" for name in ("bool", "float", "int", "list", "range", "tuple")}


def test_every_class_on_it_is_a_module_of_that_name() -> None:
    for name in LISTED["modules"]:
        found = allowlist.module_class_of(name)
        assert issubclass(found, torch.nn.Module) and allowlist.class_name(found) == name
        assert not issubclass(found, torch.fx.GraphModule)


def test_no_operation_changes_what_is_global() -> None:
    def state() -> tuple[object, ...]:
        return (
            torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads(),
            torch.are_deterministic_algorithms_enabled(), torch.is_inference_mode_enabled(),
        )  # fmt: skip

    before = state()
    for name in LISTED["functions"]:
        if name.startswith(("builtins.", "torchvision.")):
            continue
        for args in ((), (torch.ones(2, 2),), (torch.ones(2, 2), torch.ones(2, 2)), (True,)):
            try:
                allowlist.function_of(name)(*args)
            except Exception:
                continue
            assert state() == before, name
