"""Breaks the modules that a chapter compares, and records which faults its comparison notices."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch import fx, nn
from torch._dynamo import OptimizedModule
from torch.fx.node import map_aggregate

import autograder.alive
import autograder.given

FAULTS = 6
"""Number of faults for each compared module."""

TRIES = 60
"""Number of faults to draw at most; one that cannot run, or makes no sense, does not count."""

LARGEST_TOLERANCE = 0.05
"""Upper limit for tolerances, as a share of the change that other inputs cause."""

NEUTRAL = (nn.Dropout, nn.Identity)
"""Layers that do nothing in eval mode."""

CASTS = (torch.ops.aten._to_copy.default,)
"""Calls that only round values within the tolerance."""

COMMUTATIVE = {"add", "add_", "mul", "mul_", "eq", "maximum", "minimum"}

Fault = tuple[str, Callable[[], AbstractContextManager[None]]]
"""A description, and a context manager that breaks the module."""


def install(chapter: str) -> Recorder:
    """Make chapters import a comparison that is itself tested."""
    recorder = Recorder(chapter)
    autograder.given.assert_same_results = recorder
    return recorder


@dataclass
class Recorder:
    """A replacement for `assert_same_results`.

    Attributes:
        chapter: the seed of its faults.
        noticed: whether a call noticed a fault, by cell and fault. A cell that compares one module
            several times must notice a fault once.
        kept: modules that were compared, kept alive so that no other module gets their ids.
    """

    chapter: str
    noticed: dict[str, bool] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)

    def __call__(self, actual: Any, expected: Any, *inputs: Any, **options: Any) -> float:
        """Compare; if the results are the same, break `actual` and compare again."""
        assert (options.get("tolerance") or 0.0) <= LARGEST_TOLERANCE
        remembered = Remembered(expected)
        compare = autograder.alive.assert_same_results
        error = compare(actual, remembered, *inputs, **options)
        if isinstance(actual, OptimizedModule):
            actual = actual._orig_mod  # compiling each fault would take minutes
        known = [i for i, each in enumerate(self.kept) if each is actual]
        number = known[0] if known else len(self.kept)
        self.kept += [] if known else [actual]
        right = pytree.tree_leaves(autograder.alive._run(actual, inputs))
        generator = random.Random(f"{self.chapter} {number}")
        found = 0
        for _ in range(TRIES):
            name, broken = draw_fault(actual, generator)
            with broken(), torch.compiler.set_stance("fail_on_recompile"):
                try:
                    got = pytree.tree_leaves(autograder.alive._run(actual, inputs))
                except Exception:
                    continue  # the chapter notices such a mistake without a comparison
                if not isinstance(actual, nn.Module) and same_bits(got, right):
                    continue  # a function may use only part of the module
                noticed = fails(functools.partial(compare, actual, remembered, *inputs, **options))
            key = f"{cell()} #{number} {name}"
            self.noticed[key] = self.noticed.get(key, False) or noticed
            found += 1
            if found == FAULTS:
                break
        assert found == FAULTS, f"{cell()}: only {found} faults found for {actual}"
        return error


class Remembered:
    """Runs a function once for each of the two arguments of a comparison, then repeats results."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.results, self.calls = function, [], 0

    def __call__(self, *args: Any) -> Any:
        self.calls += 1
        if self.calls <= 2:
            self.results.append(self.function(*args))
        return self.results[(self.calls - 1) % 2]


def cell() -> str:
    """The cell that is being executed."""
    from IPython import get_ipython

    shell = get_ipython()
    return f"cell {shell.execution_count}" if shell else "cell ?"


def fails(comparison: Callable[[], Any]) -> bool:
    """Whether a comparison raises an AssertionError."""
    try:
        comparison()
    except AssertionError:
        return True
    return False


def same_bits(got: list[Any], right: list[Any]) -> bool:
    """Whether two results are the same to the last bit."""
    return len(got) == len(right) and all(
        torch.equal(a, b) if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor) else a == b
        for a, b in zip(got, right, strict=True)
    )


# ------------------------------------------------------------------ faults


def draw_fault(actual: Any, generator: random.Random) -> Fault:
    """A fault in one of the modules that a function uses."""
    module = generator.choice(list(modules_of(actual)))
    if isinstance(module, fx.GraphModule):
        return graph_fault(module, generator)
    return layer_fault(module, generator)


def modules_of(actual: Any) -> Iterator[nn.Module]:
    """The modules that a module, method or function runs."""
    if isinstance(actual, nn.Module):
        yield actual
    elif isinstance(actual, functools.partial):
        for part in (actual.func, *actual.args):
            yield from modules_of(part)
    elif isinstance(getattr(actual, "__self__", None), fx.Interpreter):
        yield Layers(actual.__self__.module)
    elif code := getattr(actual, "__code__", None):
        cells = [each.cell_contents for each in actual.__closure__ or ()]
        names = [actual.__globals__[n] for n in code.co_names if n in actual.__globals__]
        for part in (*cells, *names):
            if isinstance(part, nn.Module) or getattr(part, "__closure__", None):
                yield from modules_of(part)


class Layers(nn.Module):
    """The layers of a graph module, because an Interpreter itself contains only the graph."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        named = {n.replace(".", " "): m for n, m in module.named_modules() if n}
        self.module = nn.ModuleDict(named)


def layer_fault(module: nn.Module, generator: random.Random) -> Fault:
    """Replace a layer by one that returns its input, or zeros."""
    layers = [
        (path, layer)
        for path, layer in module.named_modules()
        if not [*layer.children()] and not isinstance(layer, NEUTRAL)
    ]
    path, layer = generator.choice(layers)
    kind = generator.choice(("bypassed", "zeroed"))

    @contextmanager
    def broken() -> Iterator[None]:
        def hook(layer: nn.Module, args: tuple[Any, ...], result: Any) -> Any:
            return args[0] if kind == "bypassed" else torch.zeros_like(result)

        handle = layer.register_forward_hook(hook)
        try:
            yield
        finally:
            handle.remove()

    return f"{path} {kind}", broken


def graph_fault(gm: fx.GraphModule, generator: random.Random) -> Fault:
    """Bypass a node, replace it by zeros, change a constant, or swap inputs."""
    graph = fx.Graph(gm)
    memo: dict[fx.Node, fx.Node] = {}
    graph.output(graph.graph_copy(gm.graph, memo))
    graph._codegen = gm.graph._codegen
    nodes = [n for n in graph.nodes if n.op.startswith("call_") and not is_neutral(gm, n)]
    edit = generator.choice((bypass, zero, change_constant, swap_inputs))
    node = generator.choice(nodes)
    name = f"{node.name} {edit(graph, node, generator)}"

    @contextmanager
    def broken() -> Iterator[None]:
        before = gm.graph
        gm.graph = graph
        try:
            yield
        finally:
            gm.graph = before

    return name, broken


def is_neutral(gm: fx.GraphModule, node: fx.Node) -> bool:
    """Whether a node calls a layer that does nothing, casts a value, or has no readers."""
    called = gm.get_submodule(node.target) if node.op == "call_module" else None
    return isinstance(called, NEUTRAL) or node.target in CASTS or not node.users


def bypass(graph: fx.Graph, node: fx.Node, generator: random.Random) -> str:
    """Make the readers of a node read its first input."""
    if not node.all_input_nodes:
        return zero(graph, node, generator)
    node.replace_all_uses_with(node.all_input_nodes[0])
    graph.erase_node(node)  # it may write into its input
    return "bypassed"


def zero(graph: fx.Graph, node: fx.Node, generator: random.Random) -> str:
    """Make the readers of a node read zeros."""
    with graph.inserting_after(node):
        zeros = graph.call_function(torch.zeros_like, (node,))
    node.replace_all_uses_with(zeros, delete_user_cb=lambda user: user is not zeros)
    return "zeroed"


def change_constant(graph: fx.Graph, node: fx.Node, generator: random.Random) -> str:
    """Change one number among the arguments."""
    numbers = [a for a in pytree.tree_leaves([node.args, node.kwargs]) if is_number(a)]
    if node.target is torch.ops.aten.convolution.default:
        del numbers[6:]  # the output's padding: only a transposed convolution reads it
    if not numbers:
        return zero(graph, node, generator)
    chosen, seen = generator.randrange(len(numbers)), [-1]

    def change(value: Any) -> Any:
        seen[0] += is_number(value)
        if not is_number(value) or seen[0] != chosen:
            return value
        return value + 1 if isinstance(value, int) else 2 * value + 1

    node.args, node.kwargs = map_aggregate(node.args, change), map_aggregate(node.kwargs, change)
    return f"with constant {chosen} changed"


def is_number(value: Any) -> bool:
    """Whether a value is a number, but not a switch or a BatchNorm's momentum."""
    return type(value) in (int, float) and value != 0.1


def swap_inputs(graph: fx.Graph, node: fx.Node, generator: random.Random) -> str:
    """Swap two unequal inputs."""
    inputs = node.all_input_nodes
    name = getattr(node.target, "__name__", str(node.target)).partition(".")[0]
    if len(inputs) < 2 or name in COMMUTATIVE:
        return bypass(graph, node, generator)
    a, b = generator.sample(inputs, 2)
    other = {a: b, b: a}
    node.args = fx.map_arg(node.args, lambda read: other.get(read, read))
    node.kwargs = fx.map_arg(node.kwargs, lambda read: other.get(read, read))
    return f"with {a} and {b} swapped"
