"""A described graph module can be rebuilt and computes the same."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import torch
import torchvision
from torch import fx, nn
from torch.nn import functional as F

from autograder.core import allowlist
from autograder.core.codec import Decoder, Encoder, show
from autograder.core.graph_program import Program, admitted
from autograder.core.graph_record import describe
from autograder.models import fresh


def round_trip(gm: fx.GraphModule) -> Program:
    encoder = Encoder()
    data = json.loads(json.dumps(describe(gm, encoder)))
    return admitted(data, encoder.tensors, {})


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "resnet18": lambda: torchvision.models.resnet18(num_classes=4),
    "mobilenet_v2": lambda: torchvision.models.mobilenet_v2(num_classes=4),
    "squeezenet": lambda: torchvision.models.squeezenet1_1(num_classes=4),
    "shufflenet": lambda: torchvision.models.shufflenet_v2_x0_5(num_classes=4),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_survive(name: str) -> None:
    gm = fx.symbolic_trace(fresh(NETWORKS[name], dtype=torch.float32))
    x = torch.randn(1, 3, 64, 64)
    with torch.no_grad():
        torch.testing.assert_close(round_trip(gm)(x), gm(x), equal_nan=True)


def test_shared_modules_and_parameters_stay_shared() -> None:
    layer = nn.Linear(3, 3)
    model = nn.ModuleDict({"a": layer, "b": layer, "c": nn.Linear(3, 3)})
    model["c"].weight = layer.weight
    graph = fx.Graph()
    x = graph.placeholder("x")
    for name in "abc":
        x = graph.call_module(name, (x,))
    graph.output(x)
    made = round_trip(fx.GraphModule(model, graph))
    assert made.modules["a"] is made.modules["b"]
    assert made.parts["c.weight"] is made.parts["a.weight"]


FUNCTIONS = [torch.relu, torch.add, F.relu, F.gelu, F.dropout, F.linear, torch.cat, torch.matmul,
             torch.einsum, torch.flatten, torch.conv2d, torch._assert, torch.linalg.norm,
             torch.ops.aten.relu.default, getattr, len, print]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: getattr(f, "__name__", str(f)))
def test_functions_keep_their_name(function: Callable[..., object]) -> None:
    name = allowlist.function_name(function)
    assert name is not None
    assert allowlist.function_of(name) is function


@pytest.mark.parametrize(
    "name",
    ["os.system", "builtins.eval", "builtins.exec", "builtins.open", "builtins.__import__",
     "torch.load", "torch.save", "torch.hub.load", "torch.os.system", "torch.from_file",
     "operator.nothing", "subprocess.run", "torch.nn.functional.__builtins__", "math", ""],
)  # fmt: skip
def test_other_functions_stay_names(name: str) -> None:
    with pytest.raises(LookupError):
        allowlist.function_of(name)


@pytest.mark.parametrize("data", [{"opaque": "f"}, {"function": "os.system"}, {"nothing": 1}, [1]])
def test_data_without_a_value_is_refused(data: object) -> None:
    with pytest.raises(ValueError):
        Decoder([]).decode(data)


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 2.5, float("inf"), "text", [1, (2, None)], {"a": {"b": [1]}}, slice(1, None),
     range(3), ..., torch.float32, torch.device("cpu"), 1 + 2j, {1, 2}],
)  # fmt: skip
def test_values_survive(value: object) -> None:
    encoder = Encoder()
    data = json.loads(json.dumps(encoder.encode(value)))
    assert Decoder(encoder.tensors).decode(data) == value
    assert type(Decoder(encoder.tensors).decode(data)) is type(value)


@pytest.mark.parametrize(
    "value", [(..., slice(0, 2, None)), [slice(None)], {"index": (slice(1, None, -1), 3)}], ids=str
)
def test_an_index_is_shown_as_it_is(value: object) -> None:
    assert show(Encoder().encode(value)) == repr(value)
