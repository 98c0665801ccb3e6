"""Compute the expected result of a trace, with real tensors in place of meta tensors.

To answer a question, the oracle runs the whole graph so far on tensors of the examples' shapes.
Values that depend on data, or on an input without an example, are marked as unknown on the way.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import fx, nn

from autograder.authoring.key import Encoded, Encoder, Reference, Trial, described_trace

VALUE = "that is a value, which no shape tells"
NO_EXAMPLE = "it hangs on a parameter without an example"
NOT_ON_META = "it hangs on an operation that cannot run on meta tensors"

_NOT_ON_META = frozenset("item nonzero tolist numpy unique masked_select equal allclose".split())


@dataclass(frozen=True)
class Unknown:
    """A value that is unknown, with the reason."""

    why: str


class NoAnswer(Exception):
    """A question that has no answer.

    Attributes:
        node: the node that the question is about.
        why: the reason.
        length: whether `len` asked.
    """

    def __init__(self, node: fx.Node, why: str, *, length: bool) -> None:
        super().__init__(why)
        self.node, self.why, self.length = node, why, length


class Asking(fx.Proxy):
    """A Proxy that passes each question to its tracer."""

    def __getattr__(self, name: str) -> Any:
        return AskingAttribute(self, name)

    def __len__(self) -> int:
        return cast(int, self.tracer.answer(self.node, len))  # type: ignore[attr-defined]

    def __iter__(self) -> Any:
        count = self.tracer.answer(self.node, _length)  # type: ignore[attr-defined]
        return (operator.getitem(self, i) for i in range(count))

    def __bool__(self) -> bool:
        return cast(bool, self.tracer.answer(self.node, bool))  # type: ignore[attr-defined]

    def __int__(self) -> int:
        return cast(int, self.tracer.answer(self.node, int))  # type: ignore[attr-defined]

    def __index__(self) -> int:
        return cast(int, self.tracer.answer(self.node, operator.index))  # type: ignore[attr-defined]


class AskingAttribute(Asking, fx.proxy.Attribute):
    """An attribute of an `Asking` Proxy."""


def _length(value: Any) -> int:
    """Like `len`, but asked by a loop."""
    return len(value)


class Oracle(fx.Tracer):
    """Answer questions about shapes with real tensors of the examples' shapes."""

    def __init__(self, examples: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self.examples = {
            name: torch.zeros(each.shape, dtype=each.dtype) for name, each in examples.items()
        }
        self.asked: list[fx.Node] = []
        self.running = False
        self.copy = nn.Module()

    def trace(self, root: Any, concrete_args: Any = None) -> fx.Graph:
        """Trace a model; `asked` then contains the questions."""
        self.asked, self.copy = [], copy.deepcopy(root)
        return super().trace(root, concrete_args)

    def proxy(self, node: fx.Node) -> fx.Proxy:
        """Make a Proxy that asks."""
        return Asking(node, self)

    def call_module(self, m: Any, forward: Any, args: Any, kwargs: Any) -> Any:
        """Call modules directly while the oracle runs a graph."""
        return forward(*args, **kwargs) if self.running else super().call_module(
            m, forward, args, kwargs)  # fmt: skip

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: Any) -> Any:
        """Return parameters themselves while the oracle runs a graph."""
        return attr_val if self.running else super().getattr(attr, attr_val, parameter_proxy_cache)

    def answer(self, node: fx.Node, question: Callable[[Any], Any]) -> Any:
        """Answer a question about a node.

        Raises:
            NoAnswer: there is no answer.
        """
        if node not in self.asked:
            self.asked.append(node)
        value = self.value_of(node)
        length = question in (len, _length)
        if isinstance(value, torch.Tensor) and not length:
            value = Unknown(VALUE)
        if isinstance(value, Unknown):
            raise NoAnswer(node, value.why, length=question is len)
        return question(value)

    def value_of(self, wanted: fx.Node) -> Any:
        """The value of a node after running the whole graph so far."""
        values: dict[fx.Node, Any] = {}
        model = copy.deepcopy(self.copy)
        self.running = True
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=[]):
                for node in self.graph.nodes:
                    values[node] = self._run(node, values, model)
        finally:
            self.running = False
        return values[wanted]

    def _run(self, node: fx.Node, values: dict[fx.Node, Any], model: Any) -> Any:
        if node.op == "placeholder":
            example = self.examples.get(str(node.target))
            return Unknown(NO_EXAMPLE) if example is None else example.clone()
        if node.op == "get_attr":
            at = operator.attrgetter(str(node.target))
            try:
                return at(model)
            except AttributeError:
                return at(self.root)  # a constant that tracing added
        unknown = [values[each] for each in node.all_input_nodes]
        unknown = [each for each in unknown if isinstance(each, Unknown)]
        if unknown:
            return unknown[0]
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), lambda each: values[each])
        if _hangs_on_values(node, args):
            return Unknown(NOT_ON_META)
        if node.op == "call_module":
            return model.get_submodule(node.target)(*args, **kwargs)
        if node.op == "call_method":
            return getattr(args[0], str(node.target))(*args[1:], **kwargs)
        return node.target(*args, **kwargs)  # type: ignore[operator]


def _hangs_on_values(node: fx.Node, args: Any) -> bool:
    name = getattr(node.target, "__name__", str(node.target))
    by_mask = name == "getitem" and isinstance(args[1], torch.Tensor)
    return name in _NOT_ON_META or by_mask


def worked_out(trial: Trial) -> Reference:
    """The expected result of each trace of a trial: a graph and the questions, or an exception."""
    made, turns = trial.args
    encoder = Encoder()
    runs: list[Any] = []
    for place, model in turns:
        _, examples = made[place]
        runs.append(_of_turn(Oracle(examples), model, encoder))
    return Reference(None, runs, encoder.tensors)


def _of_turn(oracle: Oracle, model: nn.Module, encoder: Encoder) -> Encoded:
    try:
        graph = oracle.trace(model)
    except NoAnswer as found:
        name = found.node.name
        rows = described_trace(oracle.graph, [name], encoder, model)
        kinds = ["TraceError", "RuntimeError"] if found.length else ["TraceError"]
        return {"error": {"type": "TraceError", "kinds": kinds, "why": found.why, "rows": rows}}
    except ValueError as error:
        return {"error": {"type": "ValueError", "kinds": ["ValueError"], "why": str(error)}}
    return {"value": described_trace(graph, [node.name for node in oracle.asked], encoder, model)}
