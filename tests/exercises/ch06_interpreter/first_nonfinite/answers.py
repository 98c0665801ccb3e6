"""Answers for `first_nonfinite`."""

from __future__ import annotations

import math

import torch
from torch import fx
from torch.utils import _pytree as pytree

from tests.exercises import right, wrong


def is_finite(value):
    if isinstance(value, torch.Tensor):
        return bool(torch.isfinite(value).all())
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(is_finite, value))
    return True


def finder(test, *, keep=lambda n: True):
    """An answer that returns the first node whose value fails a test."""

    def first_nonfinite(model, *inputs):
        names = []

        class Finder(fx.Interpreter):
            def run_node(self, n):
                value = super().run_node(n)
                if keep(n) and not test(value):
                    names.append(n.name)
                return value

        Finder(fx.symbolic_trace(model)).run(*inputs)
        return names[0] if names else None

    return first_nonfinite


right("the first in run_node")(finder(is_finite))


@right("the definition, word by word")
def word_by_word(model, *inputs):
    gm = fx.symbolic_trace(model)
    interpreter = fx.Interpreter(gm, garbage_collect_values=False)
    interpreter.run(*inputs)
    finite = {node: is_finite(value) for node, value in interpreter.env.items()}
    for node in gm.graph.nodes:
        if not finite[node] and all(finite[read] for read in node.all_input_nodes):
            return node.name
    return None


@right("an exception ends the run", debrief=True)
def with_exception(model, *inputs):
    class Found(Exception):
        pass

    class Finder(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            if not is_finite(value):
                self.name = n.name
                raise Found
            return value

    search = Finder(fx.symbolic_trace(model))
    try:
        with torch.no_grad():
            search.run(*inputs)
    except Found:
        return search.name
    return None


@right("leaves of a pytree")
def leaves(model, *inputs):
    def bad(leaf):
        if torch.is_tensor(leaf):
            # x - x is NaN for a NaN and for an infinity.
            return leaf.is_floating_point() and bool((leaf - leaf).isnan().any())
        return isinstance(leaf, float) and leaf - leaf != 0.0

    class Noting(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            # FX's own lists and dictionaries are leaves of a pytree, so convert them.
            n.meta["bad"] = any(map(bad, pytree.tree_leaves(plain(value))))
            return value

    def plain(value):
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items()}
        return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value

    gm = fx.symbolic_trace(model)
    Noting(gm).run(*inputs)
    return next((n.name for n in gm.graph.nodes if n.meta["bad"]), None)


@right("arguments are looked at first")
def arguments(model, *inputs):
    class Finder(fx.Interpreter):
        first = None

        def run_node(self, n):
            read = [self.env[m] for m in n.all_input_nodes]
            value = super().run_node(n)
            if self.first is None and is_finite(read) and not is_finite(value):
                self.first = n.name
            return value

    interpreter = Finder(fx.symbolic_trace(model))
    interpreter.run(*inputs)
    return interpreter.first


# ------------------------------------------------------------------ wrong


def without(*kinds):
    def test(value):
        if isinstance(value, kinds):
            return True
        if isinstance(value, dict):
            return all(map(test, value.values()))
        if isinstance(value, (list, tuple)):
            return all(map(test, value))
        return is_finite(value)

    return test


def tensors(test):
    return lambda value: test(value) if isinstance(value, torch.Tensor) else is_finite(value)


def last(model, *inputs):
    names = []

    class Finder(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            if not is_finite(value):
                names.append(n.name)
            return value

    Finder(fx.symbolic_trace(model)).run(*inputs)
    return names[-1] if names else None


wrong("NaN only", "wrong-node", clause="infinity")(finder(tensors(lambda t: not t.isnan().any())))
wrong("infinities only", "missed", clause="nan")(finder(tensors(lambda t: not t.isinf().any())))
wrong("plus infinity only", "missed", clause="minus-infinity")(
    finder(tensors(lambda t: not (t.isnan() | (t == math.inf)).any()))
)
wrong("all entries must be bad", "missed", clause="any-entry")(finder(tensors(lambda t: bool(t.isfinite().any()) or not t.numel())))  # fmt: skip  # noqa: E501
wrong("the sum of a tensor stands for its entries", "false-alarm", clause="any-entry")(
    finder(tensors(lambda t: math.isfinite(t.sum().item())))
)
wrong("no Python floats", "wrong-node", clause="floats")(finder(without(float)))
wrong("no lists and tuples", "missed", clause="nested")(finder(without(list, tuple)))


def one_value_is_enough(value):
    if isinstance(value, dict):
        return any(map(one_value_is_enough, value.values()))
    return is_finite(value)


wrong("one finite value of a dictionary is enough", "missed", clause="nested")(
    finder(one_value_is_enough)
)


wrong("no placeholders", "wrong-node", clause="inputs")(
    finder(is_finite, keep=lambda n: n.op != "placeholder")
)
wrong("no parameters", "wrong-node", clause="parameters")(
    finder(is_finite, keep=lambda n: n.op != "get_attr")
)
wrong("the last instead of the first", "wrong-node", clause="first")(last)
wrong("integers are looked at as floats", "false-alarm", clause="integers")(
    finder(lambda v: isinstance(v, torch.Tensor) and v.is_floating_point() and is_finite(v))
)


@wrong("weights of layers are looked at, too", "no-such-node", clause="leaf-weights")
def looks_into_layers(model, *inputs):
    for name, value in model.named_parameters():
        if not is_finite(value):
            return name.replace(".", "_")
    return finder(is_finite)(model, *inputs)


@wrong("an empty string if all is well", "false-alarm", clause="none")
def empty_text(model, *inputs):
    return finder(is_finite)(model, *inputs) or ""


@wrong("nan_to_num is applied to the model", "caller-changed", clause="common.caller-values")
def mends(model, *inputs):
    found = finder(is_finite)(model, *inputs)
    with torch.no_grad():
        for value in [*model.parameters(), *model.buffers()]:
            if value.is_floating_point():
                value.nan_to_num_()
    return found
