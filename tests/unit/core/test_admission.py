"""A described graph can only compute with tensors when it runs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import fx, nn

from autograder.core import allowlist
from autograder.core.codec import Encoded, Encoder
from autograder.core.graph_program import admitted
from autograder.core.graph_record import describe
from autograder.core.outcome import tensor_from_bytes


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return torch.relu(self.layer(x)) + 1


def described() -> tuple[Encoded, list[torch.Tensor]]:
    encoder = Encoder()
    return describe(fx.symbolic_trace(Model()), encoder), encoder.tensors


def changed(place: int, **row: Any) -> Encoded:
    data, _ = described()
    data["nodes"][place] |= row
    return data


def declaring(path: str, **fields: Any) -> Encoded:
    """The description with one more module, or with more fields of an existing one."""
    data, _ = described()
    rows = {row["path"]: row for row in data["modules"]}
    layer = rows["layer"]
    rows[path] = layer | {"path": path, "params": {}} | fields
    data["modules"] = list(rows.values())
    return data


X, RELU = 0, 2
NOTHING = {"tuple": []}
EVIL = {
    "an input's name that is code": changed(X, target="x=print('run')"),
    "an input that is a keyword": changed(X, target="lambda"),
    "a method's name that is code": changed(RELU, op="call_method", target='neg") or print("run'),
    "a chain of methods": changed(RELU, op="call_method", target="numpy.tofile"),
    "a method that leaves PyTorch": changed(RELU, op="call_method", target="numpy"),
    "a method that takes a callback": changed(RELU, op="call_method", target="apply_"),
    "a method that calls": changed(RELU, op="call_method", target="__call__"),
    "a keyword that is code": changed(
        RELU, kwargs={"dict": [["inplace=print('run') or False, x", False]]}
    ),
    "a path that is code": changed(
        RELU, op="get_attr", target='a"); print("run', args={"tuple": []}
    ),
    "a path into Python": changed(RELU, op="get_attr", target="__class__", args=NOTHING),
    "a path into a module": changed(RELU, op="get_attr", target="layer._parameters", args=NOTHING),
    "a path to a method": changed(RELU, op="call_module", target="layer.named_parameters"),
    "a path into a tensor": changed(RELU, op="get_attr", target="layer.weight.data", args=NOTHING),
    "a module that takes a method's place": declaring("layer.forward"),
    "a module under a special name": declaring("layer.__len__"),
    "a tensor that takes a method's place": declaring("layer", buffers={"forward": None}),
    "a parameter without a name": declaring("layer", params={"": None}),
    "getattr of anything": changed(
        RELU, target={"function": "builtins.getattr"}, args={"tuple": [{"node": 0}, "__class__"]}
    ),
    "getattr with a name that is worked out": changed(
        RELU, target={"function": "builtins.getattr"}, args={"tuple": [{"node": 0}, {"node": 0}]}
    ),
    "a function that calls others": changed(RELU, target={"function": "operator.call"}),
    "a function that makes getters": changed(RELU, target={"function": "operator.attrgetter"}),
    "eval": changed(RELU, target={"function": "builtins.eval"}),
    "a file that becomes a tensor": changed(
        RELU, target={"function": "torch.ops.aten.from_file"}, args={"tuple": ["/tmp/x", True, 1]}
    ),
    "a function that a namespace has imported": changed(
        RELU, target={"function": "torch.nn.functional.handle_torch_function"}
    ),
    "a method by way of its function": changed(RELU, target={"function": "torch.Tensor.apply_"}),
    "an opcode that there is not": changed(RELU, op="call_anything"),
    "a node that comes later": changed(RELU, args={"tuple": [{"node": 3}]}),
}


@pytest.mark.parametrize("name", EVIL)
def test_evil_graph_is_not_rebuilt(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    _, tensors = described()
    with pytest.raises(ValueError):
        admitted(EVIL[name], tensors, {})
    assert "run" not in capfd.readouterr().out


@pytest.mark.parametrize(
    "row",
    [
        {"op": "call_method", "target": "relu"},
        {"op": "call_method", "target": "__neg__"},
        {"op": "call_method", "target": "size"},
        {"target": {"function": "builtins.getattr"}, "args": {"tuple": [{"node": 0}, "shape"]}},
        {"target": {"function": "operator.neg"}},
        {"target": {"function": "torch.nn.functional.relu"}},
        {"target": {"function": "torch.ops.aten.relu.default"}},
    ],
    ids=str,
)
def test_plain_graph_is_rebuilt(row: Encoded) -> None:
    _, tensors = described()
    program = admitted(changed(RELU, **row), tensors, {})
    assert len(program.graph.nodes) == 5


def test_a_name_may_begin_with_two_underscores() -> None:
    _, tensors = described()
    program = admitted(declaring("__fused"), tensors, {})
    assert type(program.modules["__fused"]) is nn.Linear


def test_attributes_take_the_place_of_no_method() -> None:
    _, tensors = described()
    evil = {"forward": {"function": "torch.sin"}, "_compiled_call_impl": {"function": "torch.sin"}}
    layer = admitted(declaring("layer", attrs=evil), tensors, {}).modules["layer"]
    assert type(layer) is nn.Linear and "forward" not in vars(layer)
    assert not callable(layer._compiled_call_impl)


@pytest.mark.parametrize(
    "name", ["autograder.cli.main.Model", "autograder.judge.Evidence", "os.path"]
)
def test_only_modules_of_pytorch_and_of_cases_are_made(name: str) -> None:
    assert not allowlist.is_known_class(name)


@pytest.mark.parametrize("dtype", ["quint8", "qint32", "nonsense", "Tensor", "__class__"])
def test_tensors_of_odd_types_are_not_read(dtype: str) -> None:
    with pytest.raises(ValueError):
        tensor_from_bytes(b"\0" * 4, dtype, [4])


C, N = 50_000, 2
MISFITS = {
    "statistics of fewer channels": (
        "native_batch_norm",
        lambda x: (x(4, C), x(N), x(N), x(N), x(N), True, 0.1, 1e-5),
    ),
    "a gradient of another shape": (
        "native_batch_norm_backward",
        lambda x: (x(4, 5), x(4, N), x(N), x(N), x(N), x(N), x(N), True, 1e-5, [True] * 3),
    ),
    "statistics of a norm's backward": (
        "native_batch_norm_backward",
        lambda x: (x(4, C), x(4, C), x(C), x(C), x(C), x(N), x(N), True, 1e-5, [True] * 3),
    ),
    "means of fewer rows": (
        "native_layer_norm_backward",
        lambda x: (x(4, 8), x(4, 8), [8], x(2), x(4), x(8), x(8), [True] * 3),
    ),
    "a softmax of another shape": (
        "_log_softmax_backward_data",
        lambda x: (x(4, C), x(4, N), 1, torch.float32),
    ),
}


@pytest.mark.parametrize("name", MISFITS)
def test_operators_that_compare_no_sizes_get_no_misfits(name: str) -> None:
    operator, arguments = MISFITS[name]
    with pytest.raises(ValueError, match=f"given to `{operator}` do not fit together"):
        run_alone(operator, *arguments(torch.zeros))


def test_operators_that_compare_no_sizes_run() -> None:
    x, c = torch.randn(4, 3, 2), [torch.rand(3) for _ in range(4)]
    for training in (True, False):
        value, mean, invstd = run_alone("native_batch_norm", x, *c, training, 0.1, 1e-5)
        saved = (mean, invstd, training, 1e-5, [True] * 3)
        back = run_alone("native_batch_norm_backward", x, x, c[0], c[2], c[3], *saved)
        assert value.shape == back[0].shape == x.shape
    _, mean, rstd = torch.native_layer_norm(x, [3, 2], None, None, 1e-5)
    back = run_alone(
        "native_layer_norm_backward", x, x, [3, 2], mean, rstd, None, None, [True, False, False]
    )
    assert back[0].shape == x.shape
    run_alone("_log_softmax_backward_data", x, x, 1, torch.float32)


def run_alone(operator: str, *arguments: Any) -> Any:
    """The result of one call of an ATen operator, as a described graph computes it."""
    graph = fx.Graph()
    given = [
        graph.placeholder(f"arg_{i}") if isinstance(value, torch.Tensor) else value
        for i, value in enumerate(arguments)
    ]
    target = getattr(torch.ops.aten, operator).default
    graph.output(graph.call_function(target, tuple(given)))
    encoder = Encoder()
    described = describe(fx.GraphModule(nn.Module(), graph), encoder)
    tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
    return admitted(described, encoder.tensors, {}).run(*tensors)
