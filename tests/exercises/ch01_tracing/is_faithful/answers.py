"""Answers to `is_faithful`."""

from __future__ import annotations

import contextlib
import copy
import math
import operator
from functools import partial

import torch
from torch import fx
from torch.func import functional_call
from torch.utils import _pytree as pytree

from tests.exercises import right, wrong

# ------------------------------------------------------------------ parts


def alike(a, b):
    """Whether two values are the same by the rules of the exercise."""
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        try:
            torch.testing.assert_close(a, b, equal_nan=True)
        except AssertionError:
            return False
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return set(a) == set(b) and all(alike(a[k], b[k]) for k in a)
    if isinstance(a, float) and math.isnan(a):
        return math.isnan(b)
    return a == b


def frozen(value):
    """A detached copy."""
    return pytree.tree_map_only(torch.Tensor, lambda t: t.detach().clone(), value)


def save(model):
    return [
        (module, name, buffer, buffer.clone())
        for module in model.modules()
        for name, buffer in module._buffers.items()
    ]


def put_back(saved):
    for module, name, buffer, value in saved:
        buffer.data.copy_(value)
        module._buffers[name] = buffer


def as_given(trace, model):
    """Copy the values of the model's buffers into those of the trace."""
    start = dict(model.named_buffers())
    for name, buffer in trace.named_buffers():
        if name in start:
            buffer.copy_(start[name])


def values_only(saved):
    for module, name, _, value in saved:
        module._buffers[name].data.copy_(value)


def judge(
    model,
    inputs,
    *,
    same=alike,
    errors=Exception,
    copy_args=copy.deepcopy,
    seed=lambda: torch.manual_seed(41),
    before_tracing=lambda: None,
    put_back_between=True,
    put_back_at_end=True,
    same_args=None,
    model_errors=(),
    trace_errors=Exception,
    every=all,
    put_back=put_back,
    fork=torch.random.fork_rng,
    trace_it=fx.symbolic_trace,
    again=lambda model, saved: saved,
    freeze=frozen,
):
    """A right answer; each part can be replaced by a faulty one."""
    saved = save(model)
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: put_back(saved) if put_back_at_end else None)
        stack.enter_context(fork())
        before_tracing()
        try:
            trace = trace_it(model)
        except errors:
            return False
        start = again(model, saved)

        def one(args):
            first, second = copy_args(args), copy_args(args)
            put_back(start)
            seed()
            try:
                expected = freeze((model(*first), first))
            except model_errors:
                return False
            if put_back_between:
                put_back(start)
            as_given(trace, model)
            seed()
            try:
                obtained = freeze((trace(*second), second))
            except trace_errors:
                return False
            return same(expected[0], obtained[0]) and (same_args or same)(expected[1], obtained[1])

        return every(map(one, inputs))


# ------------------------------------------------------------------ right


@right("buffers saved and put back")
def saved_buffers(model, inputs):
    return judge(model, inputs)


@right("copies of everything", debrief=True)
def copies_of_everything(model, inputs):
    with torch.random.fork_rng():
        try:
            trace = fx.symbolic_trace(copy.deepcopy(model))
        except Exception:
            return False
        as_given(trace, model)
        for args in inputs:
            ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
            torch.manual_seed(3)
            expected = copy.deepcopy(model)(*ours)
            torch.manual_seed(3)
            try:
                obtained = copy.deepcopy(trace)(*theirs)
            except Exception:
                return False
            if not (alike(expected, obtained) and alike(ours, theirs)):
                return False
        return True


@right("functional calls on copies of the buffers")
def functional(model, inputs):
    with torch.random.fork_rng():
        return by_functional_calls(model, inputs)


def by_functional_calls(model, inputs):
    start = {name: b.clone() for name, b in model.named_buffers()}
    trace = None
    try:
        trace = fx.symbolic_trace(copy.deepcopy(model))
    except Exception:
        return False
    for args in inputs:
        state = torch.get_rng_state()
        a, b = copy.deepcopy(list(args)), copy.deepcopy(list(args))
        own = {name: value.clone() for name, value in start.items()}
        expected = functional_call(model, own, tuple(a))
        torch.set_rng_state(state)
        names = dict(trace.named_buffers())
        own = {n: start[n].clone() if n in start else v.clone() for n, v in names.items()}
        try:
            obtained = functional_call(trace, own, tuple(b))
        except Exception:
            return False
        if not alike([expected, a], [obtained, b]):
            return False
    return True


@right("all runs of the model first, the trace by an Interpreter")
def interpreted(model, inputs):
    with torch.random.fork_rng():
        return by_interpreter(model, inputs)


def by_interpreter(model, inputs):
    saved = save(model)
    try:
        trace = fx.symbolic_trace(model)
    except Exception:
        put_back(saved)
        return False

    def record(call):
        records = []
        for number, args in enumerate(inputs):
            mine = copy.deepcopy(args)
            put_back(saved)
            torch.manual_seed(900 + number)
            try:
                records.append(frozen((call(*mine), mine)))
            finally:
                put_back(saved)
        return records

    def interpret(*args):
        as_given(trace, model)
        return fx.Interpreter(trace).run(*args)

    expected = record(model)
    try:
        obtained = record(interpret)
    except Exception:
        return False

    def plain(value):  # an Interpreter returns its own kind of list
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if type(value) is not tuple and isinstance(value, list):
            return [plain(item) for item in value]
        return tuple(map(plain, value)) if type(value) is tuple else value

    return alike(plain(expected), plain(obtained))


@right("flattened, leaf by leaf")
def flattened(model, inputs):
    def leaves(value):
        flat, spec = pytree.tree_flatten(value)
        return spec, [type(leaf) for leaf in flat], flat

    def same(a, b):
        (spec, kinds, ours), (other, other_kinds, theirs) = leaves(a), leaves(b)
        if spec != other or kinds != other_kinds:
            return False
        for x, y in zip(ours, theirs, strict=True):
            if isinstance(x, torch.Tensor):
                x, y = x.detach(), y.detach()
                if x.shape != y.shape or x.dtype != y.dtype:
                    return False
                if not torch.allclose(x, y, rtol=1e-6, atol=1e-7, equal_nan=True):
                    return False
            elif x != y and not (x != x and y != y):
                return False
        return True

    return judge(model, inputs, same=same)


@right("errors of assert_close tell")
def by_assertion(model, inputs):
    def claim(a, b):
        if isinstance(a, (list, tuple, dict)):
            assert type(a) is type(b) and len(a) == len(b)
            keys = a if isinstance(a, dict) else range(len(a))
            for key in keys:
                claim(a[key], b[key])
        elif isinstance(a, (torch.Tensor, float)):
            assert isinstance(b, torch.Tensor) == isinstance(a, torch.Tensor)
            torch.testing.assert_close(b, a, equal_nan=True)
        else:
            assert type(a) is type(b) and a == b

    def same(a, b):
        try:
            claim(a, b)
        except (AssertionError, KeyError, TypeError):
            return False
        return True

    return judge(model, inputs, same=same)


# ------------------------------------------------------------------ wrong: comparing


@wrong("the stub", "not-attempted", clause="common.stub")
def stub(model, inputs):
    raise NotImplementedError


def without_types(a, b):
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return alike(a, b)
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        return len(a) == len(b) and all(map(without_types, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(without_types(a[k], b[k]) for k in a)
    return not isinstance(b, torch.Tensor) and (a == b or (a != a and b != b))


@wrong("1 is True and 1.0", "missed-difference", clause="number-types")
def numbers_by_value(model, inputs):
    return judge(model, inputs, same=without_types)


@wrong("assert_close for everything", "crashed", clause="same-result")
def assert_close_only(model, inputs):
    def same(a, b):
        try:
            torch.testing.assert_close(a, b, equal_nan=True)
        except AssertionError:
            return False
        return True

    return judge(model, inputs, same=same)


@wrong("tuples and lists are the same", "missed-difference", clause="common.same-structure")
def sequences_alike(model, inputs):
    def same(a, b):
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            return len(a) == len(b) and all(map(same, a, b))
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
        return alike(a, b)

    return judge(model, inputs, same=same)


def leaves_by(kind, compare):
    """The comparison of `judge`, but with `compare` for two leaves of that kind."""

    def same(a, b):
        if isinstance(a, kind) and isinstance(b, kind):
            return compare(a, b)
        if isinstance(a, (list, tuple)) and type(a) is type(b):
            return len(a) == len(b) and all(map(same, a, b))
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
        return alike(a, b)

    return same


def close(a, b, **how):
    try:
        torch.testing.assert_close(a, b, **how)
    except AssertionError:
        return False
    return True


WRONG_TENSORS = {
    "NaN is not NaN": (close, "false-alarm"),
    "the dtype is not compared": (
        partial(close, equal_nan=True, check_dtype=False), "missed-difference"),
    "broadcast": (
        lambda a, b: bool(torch.isclose(a, b, equal_nan=True).all())
        if a.dtype == b.dtype else False, "missed-difference"),
    "bit by bit": (
        lambda a, b: a.dtype == b.dtype and torch.equal(a.nan_to_num(7), b.nan_to_num(7))
        and torch.equal(a.isnan(), b.isnan()), "false-alarm"),
    "NaN equals everything": (
        lambda a, b: close(torch.nan_to_num(a), torch.nan_to_num(b)), "missed-difference"),
}  # fmt: skip

for _style, (_compare, _finding) in WRONG_TENSORS.items():

    @wrong(_style, _finding)
    def other_comparison(model, inputs, _compare=_compare):
        return judge(model, inputs, same=leaves_by(torch.Tensor, _compare))


@right("a NaN float is not itself: floats are compared by ==, as the task says of other values")
def floats_by_equality(model, inputs):
    return judge(model, inputs, same=leaves_by(float, operator.eq))


@wrong("whether there are gradients is compared", "false-alarm", clause="gradients")
def gradients_too(model, inputs):
    def copied(tensor):
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)

    def compare(a, b):
        return a.requires_grad == b.requires_grad and alike(a, b)

    return judge(
        model,
        inputs,
        same=leaves_by(torch.Tensor, compare),
        freeze=partial(pytree.tree_map_only, torch.Tensor, copied),
    )


# ------------------------------------------------------------------ wrong: seeds


@wrong("no seed", "false-alarm", clause="same-seed")
def no_seed(model, inputs):
    return judge(model, inputs, seed=lambda: None)


@wrong("traced under the same seed", "missed-difference", clause="seed-after-tracing")
def traced_under_the_seed(model, inputs):
    return judge(model, inputs, before_tracing=lambda: torch.manual_seed(41))


# ------------------------------------------------------------------ wrong: arguments


def clones(args):
    return tuple(a.clone() if isinstance(a, torch.Tensor) else a for a in args)


WRONG_PARTS = {
    "effects on arguments are not compared": (
        {"same_args": lambda a, b: True}, "missed-difference"),
    "the caller's arguments are used": ({"copy_args": lambda args: args}, "caller-changed"),
    "only tensors at the top are cloned": ({"copy_args": clones}, "caller-changed"),
    "only TraceError means False": ({"errors": fx.proxy.TraceError}, "crashed"),
    "errors of the model mean False": ({"model_errors": Exception}, "should-raise"),
    "errors of the trace pass through": ({"trace_errors": ()}, "crashed"),
    "one agreement is enough": ({"every": any}, "missed-difference"),
    "nothing to try is no proof": (
        {"every": lambda held: bool(held := list(held)) and all(held)}, "false-alarm"),
    "buffers are not put back between": ({"put_back_between": False}, "false-alarm"),
    "buffers are not put back at the end": ({"put_back_at_end": False}, "caller-changed"),
    "buffers are put back by value only": ({"put_back": values_only}, "caller-changed"),
    "the seed of the last run stays set": ({"fork": contextlib.nullcontext}, "caller-changed"),
    "runs start from the buffers that tracing left": (
        {"again": lambda model, saved: save(model)}, "missed-difference"),
    "each argument is copied by itself": (
        {"copy_args": lambda args: tuple(map(copy.deepcopy, args))}, "missed-difference"),
    "a graph module is its own trace": (
        {"trace_it": lambda m: m if isinstance(m, fx.GraphModule) else fx.symbolic_trace(m)},
        "missed-difference"),
}  # fmt: skip

for _style, (_parts, _finding) in WRONG_PARTS.items():

    @wrong(_style, _finding)
    def other_part(model, inputs, _parts=_parts):
        return judge(model, inputs, **_parts)


# ------------------------------------------------------------------ wrong: ways out


@wrong("all in eval mode, every flag put back", "missed-difference", clause="mode-as-given")
def all_in_eval_mode(model, inputs):
    training = {m: m.training for m in model.modules()}
    try:
        return judge(model.eval(), inputs)
    finally:
        for module, mode in training.items():
            module.training = mode


@wrong("all in the mode of the root", "missed-difference", clause="mode-of-parts")
def all_in_the_roots_mode(model, inputs):
    training = {m: m.training for m in model.modules()}
    try:
        return judge(model.train(model.training), inputs)
    finally:
        for module, mode in training.items():
            module.training = mode


@wrong("the flags put back to the root's", "caller-changed", clause="flags-at-end")
def flags_of_the_root(model, inputs):
    mode = model.training
    held = judge(model, inputs)
    model.train(mode)
    return held


@wrong("one or zero", "wrong-kind", clause="common.wrong-kind")
def number_answer(model, inputs):
    return int(judge(model, inputs))


CLAUSES = {
    "the dtype is not compared": "common.same-dtype",
    "broadcast": "common.same-values",
    "bit by bit": "common.same-values",
    "NaN is not NaN": "nan",
    "NaN equals everything": "nan",
    "the seed of the last run stays set": "random-state-at-end",
    "effects on arguments are not compared": "arguments-after",
    "the caller's arguments are used": "own-copies",
    "each argument is copied by itself": "one-copy-of-the-tuple",
    "only tensors at the top are cloned": "callers-tensors",
    "only TraceError means False": "untraceable",
    "errors of the model mean False": "model-raises",
    "errors of the trace pass through": "trace-raises",
    "one agreement is enough": "every-time",
    "nothing to try is no proof": "every-time",
    "buffers are not put back between": "same-buffers",
    "runs start from the buffers that tracing left": "buffers-as-given",
    "buffers are not put back at the end": "buffers-at-end",
    "buffers are put back by value only": "common.caller-identity",
    "a graph module is its own trace": "common.fresh-trace",
}
"""Clauses that answers break, if the answers are marked in a loop."""
