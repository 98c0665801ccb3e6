"""Fast tracing produces the same graphs, and leaves nothing changed."""

from __future__ import annotations

import math
import operator
import re
import subprocess
import sys
import traceback
import warnings
from typing import Any, ClassVar, NamedTuple
from unittest import mock

import pytest
import torch
from torch import fx, nn

from autograder.speed import fx_tracing


@fx.wrap
def tripled(x: torch.Tensor) -> torch.Tensor:
    """Triple the input; a leaf for traces."""
    return 3 * x


fx.wrap("len")


class Mixed(nn.Module):
    """A model with calls of `math` and of a module, and a parameter that is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x) * math.sqrt(x.size(0)) + math.floor(2.5)
        return y + self.weight * self.weight


@pytest.fixture(autouse=True)
def quick() -> None:
    fx_tracing.install()


_PRINT = """
import sys
from torch import fx
from autograder.speed import fx_tracing
from tests.unit.speed.test_fx_tracing import Mixed
import torchvision
if sys.argv[1] == "quick":
    fx_tracing.install()
for model in (Mixed(), torchvision.models.resnet18()):
    gm = fx.symbolic_trace(model)
    print(gm.code, [(n.op, n.name, str(n.target), str(n.args), n.meta.get("is_wrapped"))
                    for n in gm.graph.nodes])
"""


def test_traces_are_the_same_with_and_without() -> None:
    found = [
        subprocess.run(
            [sys.executable, "-c", _PRINT, how], capture_output=True, text=True, check=True
        ).stdout
        for how in ("quick", "plain")
    ]
    quick, plain = (re.sub("0x[0-9a-f]+", "", text) for text in found)  # memory addresses
    assert quick == plain != ""


def test_math_is_as_it_was_after_a_trace_also_after_one_that_raises() -> None:
    before = dict(vars(math))

    class Raises(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            assert math.sqrt is not before["sqrt"]
            raise RuntimeError("no")

    fx.symbolic_trace(Mixed())
    with pytest.raises(RuntimeError):
        fx.symbolic_trace(Raises())
    assert dict(vars(math)) == before
    assert not any(fx_tracing._wanted.values())


def test_a_trace_within_a_trace_leaves_the_outer_one_as_it_is() -> None:
    class Outer(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            fx.symbolic_trace(Mixed())
            return x * math.sqrt(x.size(0))

    targets = [node.target for node in fx.symbolic_trace(Outer()).graph.nodes]
    assert math.sqrt in targets


def test_a_changed_function_of_math_is_left_to_fx() -> None:
    with mock.patch.object(math, "sqrt", lambda number: 3.0):
        gm = fx.symbolic_trace(Mixed())
        assert math.sqrt(4) == 3.0
    assert math.sqrt(4) == 2.0
    assert math.sqrt not in [node.target for node in gm.graph.nodes]


class Wrapping(nn.Module):
    """Calls functions registered with `fx.wrap`, optionally after another trace."""

    def __init__(self, inner: bool = False) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.inner:
            fx.symbolic_trace(Wrapping())
        return tripled(x) * len(x)


def targets_of(model: nn.Module) -> list[Any]:
    """The targets of the first two function calls in a trace."""
    graph = fx.symbolic_trace(model).graph
    return [node.target for node in graph.nodes if node.op == "call_function"][:2]


def test_wrapped_functions_are_leaves_and_as_they_were_afterwards() -> None:
    own, before = tripled, dict(globals())
    assert "len" not in before
    for inner in (False, True, False):
        assert targets_of(Wrapping(inner)) == [own, len]
        assert dict(globals()) == before

    class Raises(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            assert tripled is not own and "len" in globals()
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        fx.symbolic_trace(Raises())
    assert dict(globals()) == before
    assert targets_of(Wrapping()) == [own, len]


def test_a_wrapped_function_that_was_changed_is_wrapped_as_it_is_now() -> None:
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return 2 * x

    assert targets_of(Wrapping())[0] is tripled
    with mock.patch.dict(globals(), tripled=doubled):
        assert targets_of(Wrapping())[0] is doubled
        assert tripled is doubled
    assert targets_of(Wrapping())[0] is tripled


def test_what_is_wrapped_later_or_no_longer_is_noticed() -> None:
    table, key = fx._symbolic_trace._wrapped_fns_to_patch, (id(globals()), "doubled")
    with mock.patch.dict(globals(), doubled=lambda x: 2 * x):

        class Calls(nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return globals()["doubled"](x)

        assert targets_of(Calls()) == [operator.mul]
        with mock.patch.dict(table, {key: globals()}):
            assert targets_of(Calls()) == [globals()["doubled"]]
        assert targets_of(Calls()) == [operator.mul]


def test_a_wrapped_name_that_is_not_there_is_told_by_fx() -> None:
    table = fx._symbolic_trace._wrapped_fns_to_patch
    with mock.patch.dict(table, {(id(globals()), "nowhere"): globals()}):
        with pytest.raises(KeyError, match="nowhere"):
            fx.symbolic_trace(Wrapping())
    assert targets_of(Wrapping()) == [tripled, len]


def test_somebody_elses_call_of_modules_is_put_back() -> None:
    def theirs(self: nn.Module, *args: Any) -> Any:
        raise AssertionError("a trace calls its own")

    with mock.patch.object(nn.Module, "__call__", theirs):
        gm = fx.symbolic_trace(Mixed())
        assert vars(nn.Module)["__call__"] is theirs
    assert any(node.op == "call_module" for node in gm.graph.nodes)
    assert nn.Sequential(nn.Linear(2, 1))(torch.ones(3, 2)).shape == (3, 1)


def test_a_traceback_shows_no_line_of_the_course_for_it() -> None:
    with pytest.raises(RuntimeError) as raised:
        nn.Sequential(nn.Linear(2, 2))(torch.ones(3))
    rows = traceback.extract_tb(raised.value.__traceback__)
    ours = [row for row in rows if row.name == "__call__"]
    assert ours and all("autograder" not in row.filename and row.line == "" for row in ours)


_WRONG = """
import re, sys
import torch
from torch import fx
from autograder.speed import fx_tracing

def wrong(x):
    return torch.relu(x + torch.ones(3))

if sys.argv[1] == "quick":
    fx_tracing.install()
gm = fx.symbolic_trace(wrong)
try:
    gm(torch.ones(2))
except RuntimeError as error:
    print(error)
print("torch._dynamo" in sys.modules, flush=True)
"""


def test_the_message_about_an_error_in_generated_code_needs_no_compiler() -> None:
    def told(way: str) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, "-c", _WRONG, way], text=True, capture_output=True, check=False
        )
        text = re.sub(r"<eval_with_key>\.\d+( from \S+)?", "<code>", done.stderr)
        return done.stdout, text

    (quick, told_quickly), (stock, told_by_fx) = told("quick"), told("stock")
    assert (quick[-6:], stock[-5:]) == ("False\n", "True\n")
    assert quick.removesuffix("False\n") == stock.removesuffix("True\n")
    assert "<--- HERE" in told_by_fx
    call = r'  File ".*_symbolic_trace.py", line 1\d{5}, in __call__\n'  # the frame of the patch
    assert re.sub(call, "", told_quickly) == told_by_fx


def test_that_message_is_fxs_own_where_the_compiler_is_there() -> None:
    import torch._dynamo  # noqa: F401

    assert "torch._dynamo" in sys.modules
    with mock.patch("torch._dynamo.disable", wraps=torch._dynamo.disable) as asked:
        with pytest.raises(RuntimeError):
            fx.symbolic_trace(lambda x: x + torch.ones(3))(torch.ones(2))
    asked.assert_called_once()


def test_equal_texts_are_compiled_once_and_a_traceback_finds_them() -> None:
    model = Mixed()
    first, second = fx.symbolic_trace(model), fx.symbolic_trace(model)
    assert first.forward.__code__ is second.forward.__code__
    assert first.forward.__globals__ is not second.forward.__globals__
    second.linear = nn.Identity()
    x = torch.ones(3, 2)
    torch.testing.assert_close(first(x), model(x))
    assert not torch.equal(first(x), second(x))
    second.graph.output_node().args = (None,)
    second.recompile()
    assert second(x) is None and first(x) is not None
    with pytest.raises(TypeError) as caught:
        first(None)
    lines = "".join(traceback.format_exception(caught.value))
    assert "linear = self.linear(x)" in lines


class Pair(NamedTuple):
    """Two values."""

    first: Any
    second: Any


@fx.wrap
def taken(value: Any) -> torch.Tensor:
    """Accept any value; a leaf for traces."""
    return torch.ones(())


class Passing(nn.Module):
    """Passes values of all kinds to a leaf."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("kept", torch.ones(2))

    def forward(self, x: torch.Tensor) -> Any:
        values = (
            1, 2.5, True, None, "text", torch.float32, (x, [x, {"a": x}]), slice(0, x.size(0)),
            self.weight, self.kept, torch.ones(3), Pair(x, 1), x.shape, ..., range(3),
        )  # fmt: skip
        return [taken((x, value)) for value in values]


def test_arguments_of_every_kind_become_what_they_do_in_fx() -> None:
    quick = fx.symbolic_trace(Passing()).graph
    assert fx.Tracer.create_arg.__module__ == "torch.fx._symbolic_trace"
    with mock.patch.object(fx.Tracer, "create_arg", _stock("create_arg")):
        stock = fx.symbolic_trace(Passing()).graph
    assert str(quick) == str(stock)
    calls = quick.find_nodes(op="call_function", target=taken)
    assert [node.args[0][1] for node in calls][:5] == [1, 2.5, True, None, "text"]
    assert calls[6].args[0][1][1][1].keys() == {"a"}
    with pytest.raises(NameError, match="parameter is not a member"):
        fx.symbolic_trace(lambda x: taken((x, nn.Parameter(torch.ones(1)))))


def _stock(name: str) -> Any:
    """FX's own version of a patched method of `fx.Tracer`."""
    return getattr(fx.Tracer, name).__globals__["original"]


def test_a_tracer_with_a_create_arg_of_its_own_sees_all_arguments() -> None:
    seen = []

    class Watching(fx.Tracer):
        def create_arg(self, a: Any) -> Any:
            seen.append(type(a))
            return super().create_arg(a)

    Watching().trace(lambda x: taken([x, 1]))
    assert {list, fx.Proxy, int} <= set(seen)


def test_what_somebody_put_below_a_tracer_is_called() -> None:
    def other(self: Any, a: Any) -> Any:
        return "other"

    with mock.patch.object(fx.proxy.TracerBase, "create_arg", other):
        with pytest.raises(AssertionError, match="Expected args_ to be tuple, got <class 'str'>"):
            fx.symbolic_trace(lambda x: taken(x))


def test_a_number_that_is_a_symbol_is_warned_of() -> None:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    size = ShapeEnv().create_unbacked_symint()
    graph = fx.Graph()
    x = graph.placeholder("x")
    for args in ((x, size), (x, (size,)), (x, [2, {"a": size}])):
        with pytest.warns(UserWarning, match="Raw SymInt"):
            graph.call_function(torch.add, args)
    with pytest.warns(UserWarning, match="Raw SymInt"):
        graph.call_function(torch.add, (x,), {"alpha": size})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph.call_function(torch.add, (x, 1), {"alpha": 2})


class _Below:
    """A base after `nn.Module`, which records the attributes that are set."""

    noted: ClassVar[list[str]] = []

    def __setattr__(self, name: str, value: Any) -> None:
        self.noted.append(name)
        object.__setattr__(self, name, value)


class Setting(nn.Module, _Below):
    """A module with one attribute of each kind, and with properties."""

    def __init__(self) -> None:
        self.before = 1  # before `nn.Module.__init__`
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.inner = nn.Linear(1, 1)
        self.register_buffer("kept", torch.ones(2))
        self.number = 2

    @property
    def doubled(self) -> int:
        return 2 * self.number

    @doubled.setter
    def doubled(self, value: int) -> None:
        self.number = value // 2

    @property
    def fixed(self) -> int:
        return 7


def test_attributes_of_modules_are_set_as_ever() -> None:
    _Below.noted.clear()
    module = Setting()
    assert {"before", "number"} <= set(_Below.noted)
    module.doubled = 8
    assert module.number == 4
    for name in ("weight", "inner", "kept"):
        for value in (3, "text", (1, 2)):
            with pytest.raises(TypeError, match="cannot assign"):
                setattr(module, name, value)
        setattr(module, name, None)
        assert getattr(module, name) is None
        assert name not in vars(module)
    assert module._parameters == {"weight": None} and module._buffers == {"kept": None}
    assert module._modules == {"inner": None}
    with pytest.raises(AttributeError, match="fixed"):
        module.fixed = 1  # type: ignore[misc]
    module.number = nn.Parameter(torch.ones(1))  # type: ignore[assignment]
    assert "number" in module._parameters and "number" not in vars(module)


def test_an_attribute_of_a_class_without_a_hash_is_set_as_ever() -> None:
    class Odd(type):
        def __eq__(cls, other: object) -> bool:
            return False

        __hash__ = None  # type: ignore[assignment]

    class Value(metaclass=Odd):
        pass

    module, value = nn.Identity(), Value()
    module.value = value
    assert vars(module)["value"] is value


def test_a_module_whose_parts_are_not_there_takes_attributes_as_ever() -> None:
    module = nn.Module.__new__(nn.Module)
    vars(module).update(_parameters=None, _modules=None, _buffers=None)
    module.number = 1
    assert vars(module)["number"] == 1
