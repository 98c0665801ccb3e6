"""Answers for `equivalent`."""

from __future__ import annotations

import contextlib
import copy

import torch
from torch.func import functional_call
from torch.utils import _pytree as pytree

from tests.exercises import right, wrong

# ------------------------------------------------------------------ parts


def close(a, b):
    try:
        torch.testing.assert_close(a, b, equal_nan=True)
    except AssertionError:
        return False
    return True


def alike(a, b, close=close):
    """Whether two results are the same by the course's definition."""
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return close(a, b)
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(alike(x, y, close) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return set(a) == set(b) and all(alike(a[k], b[k], close) for k in a)
    return a == b


def frozen(value):
    return pytree.tree_map_only(torch.Tensor, lambda t: t.detach().clone(), value)


def note(module):
    """Save the modes and buffers of each module: the objects and their values."""
    modes = [(m, m.training) for m in module.modules()]
    buffers = [
        (m, name, b, b.clone())
        for m in module.modules()
        for name, b in m._buffers.items()
        if b is not None
    ]
    return modes, buffers


def buffers_back(noted):
    for module, name, buffer, value in noted[1]:
        buffer.data.copy_(value)
        module._buffers[name] = buffer


def modes_back(noted):
    for module, training in noted[0]:
        module.training = training


def compare(
    model,
    other,
    make_inputs,
    trials,
    *,
    same=alike,
    modes=(True, False),
    seeds=range,
    same_args=None,
    seed=torch.manual_seed,
    start=buffers_back,
    end=buffers_back,
    modes_end=modes_back,
    fork=lambda: torch.random.fork_rng(devices=[]),
    copy_args=copy.deepcopy,
    made_once=False,
    mode=lambda module, training: module.train(training),
):
    """A right answer in parts, each of which can be replaced by a faulty one."""
    noted = [note(model), note(other)]

    def run(module, training, number, args):
        for each in noted:
            start(each)
        mode(module, training)
        args = copy_args(args) if made_once else make_inputs(number)
        seed(number)
        result = module(*args)
        return frozen((result, args))

    def holds(number, training):
        args = make_inputs(number) if made_once else None
        want = run(model, training, number, args)
        got = run(other, training, number, args)
        return same(want[0], got[0]) and (same_args or same)(want[1], got[1])

    with fork(), torch.no_grad():
        try:
            return all(holds(n, training) for n in seeds(trials) for training in modes)
        finally:
            for each in noted:
                end(each)
                modes_end(each)


def with_parts(**parts):
    def equivalent(model, other, make_inputs, trials=8):
        return compare(model, other, make_inputs, trials, **parts)

    return equivalent


# ------------------------------------------------------------------ right

right("modes and buffers noted and put back")(with_parts(copy_args=copy.deepcopy, made_once=True))
right("arguments made anew for each run")(with_parts())


@right("a deep copy of each model for each run")
def with_copies(model, other, make_inputs, trials=8):
    def run(module, training, number):
        # A copy has modes and buffers of its own: nothing must be put back.
        module = copy.deepcopy(module).train(training)
        args = make_inputs(number)
        torch.manual_seed(number)
        return module(*args), args

    def same(a, b):
        try:
            torch.testing.assert_close(a, b, equal_nan=True)
        except (AssertionError, TypeError):
            return False
        # assert_close does not tell a list from a tuple.
        return pytree.tree_structure(a) == pytree.tree_structure(b)

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        return all(
            same(run(model, training, number), run(other, training, number))
            for training in (True, False)
            for number in range(trials)
        )


@right("functional_call with the buffers given", debrief=True)
def functional(model, other, make_inputs, trials=8):
    def run(module, number):
        args = make_inputs(number)
        # The call works on these copies of the buffers, and not on those of the module.
        given = {name: b.clone() for name, b in module.named_buffers(remove_duplicate=False)}
        torch.manual_seed(number)
        return frozen((functional_call(module, given, args, tie_weights=False), args))

    noted = [note(model), note(other)]
    state = torch.get_rng_state()
    try:
        for training in (False, True):
            for module in (model, other):
                module.train(training)
            for number in range(trials):
                if not alike(run(model, number), run(other, number)):
                    return False
        return True
    finally:
        torch.set_rng_state(state)
        for each in noted:
            buffers_back(each)
            modes_back(each)


@right("a record of all runs of one, then of the other")
def records(model, other, make_inputs, trials=8):
    def record(module):
        module = copy.deepcopy(module)
        first = copy.deepcopy(module)
        rows = []
        for training in (True, False):
            for number in range(trials):
                one = copy.deepcopy(first)
                one.train(training)
                args = make_inputs(number)
                torch.random.default_generator.manual_seed(5)
                rows.append(frozen([one(*args), args]))
        return rows

    with torch.random.fork_rng(), torch.no_grad():
        return alike(record(model), record(other))


# ------------------------------------------------------------------ wrong


def nothing(*_):
    pass


wrong("eval mode only", "missed-difference", clause="train")(with_parts(modes=(False,)))
wrong("train mode only", "missed-difference", clause="eval")(with_parts(modes=(True,)))
wrong("only the root's mode is set", "missed-difference", clause="parts")(
    with_parts(mode=lambda module, training: setattr(module, "training", training))
)


wrong("seeds 1 to trials", "false-alarm", clause="seeds")(
    with_parts(seeds=lambda n: range(1, n + 1))
)
wrong("arguments are not compared", "missed-difference", clause="arguments")(
    with_parts(same_args=lambda a, b: True)
)


wrong("arguments are shared", "false-alarm", clause="arguments")(
    with_parts(made_once=True, copy_args=lambda args: args)
)


wrong("no seed", "false-alarm", clause="one-seed")(with_parts(seed=nothing))


wrong("buffers run on", "false-alarm", clause="state")(with_parts(start=nothing))


wrong("buffers are left changed", "caller-changed", clause="buffers-back")(with_parts(end=nothing))
wrong("modes are left changed", "caller-changed", clause="modes-back")(
    with_parts(modes_end=nothing)
)


def root_back(noted):
    module, training = noted[0][0]
    module.train(training)


wrong("only the root's mode is put back", "caller-changed", clause="modes-back")(
    with_parts(modes_end=root_back)
)


@wrong("modes of the first are put back, not of the other", "caller-changed", clause="other-back")
def first_only(model, other, make_inputs, trials=8):
    noted = note(model)
    found = compare(model, copy.deepcopy(other), make_inputs, trials)
    other.train()
    modes_back(noted)
    return found


@wrong("put back only where they are equivalent", "caller-changed", clause="every-way-out")
def put_back_at_the_end(model, other, make_inputs, trials=8):
    noted = [note(model), note(other)]
    found = with_parts(end=nothing, modes_end=nothing)(model, other, make_inputs, trials)
    for each in noted if found else ():
        buffers_back(each)
        modes_back(each)
    return found


wrong("the random state moves on", "caller-changed", clause="random-state")(
    with_parts(fork=contextlib.nullcontext)
)


def exactly(a, b):
    def equal(x, y):
        form = x.dtype == y.dtype and x.shape == y.shape
        return form and bool(((x == y) | (x.isnan() & y.isnan())).all())

    return alike(a, b, equal)


wrong("exact comparison", "false-alarm", clause="tolerance")(with_parts(same=exactly))
wrong("a wide tolerance", "missed-difference", clause="values")(
    with_parts(
        same=lambda a, b: alike(a, b, lambda x, y: close(x.round(decimals=1), y.round(decimals=1)))
    )
)


def with_options(**options):
    def compared(x, y):
        try:
            torch.testing.assert_close(x, y, **options)
        except AssertionError:
            return False
        return True

    return lambda a, b: alike(a, b, compared)


wrong("NaN is not NaN", "false-alarm", clause="nan")(with_parts(same=with_options()))
wrong("dtypes are not compared", "missed-difference", clause="dtype")(
    with_parts(same=with_options(equal_nan=True, check_dtype=False, rtol=1e-5, atol=1e-6))
)
wrong("allclose", "missed-difference", clause="shape")(
    with_parts(
        same=lambda a, b: alike(
            a, b, lambda x, y: x.dtype == y.dtype and torch.allclose(x, y, equal_nan=True)
        )
    )
)
wrong("strides count", "false-alarm", clause="nothing-else")(
    with_parts(same=with_options(equal_nan=True, check_stride=True))
)


wrong("assert_close for everything", "missed-difference", clause="structure")(
    with_parts(same=close)
)


def keys_of_one(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return all(k in b and keys_of_one(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(keys_of_one, a, b))
    return alike(a, b)


wrong("keys that only the other has", "missed-difference", clause="keys")(
    with_parts(same=keys_of_one)
)


def top_level(a, b):
    if isinstance(a, dict):
        shared = [k for k in a if torch.is_tensor(a[k]) and torch.is_tensor(b.get(k))]
        return set(a) == set(b) and all(close(a[k], b[k]) for k in shared)
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(top_level, a, b))
    return alike(a, b)


wrong("dictionaries one level deep", "missed-difference", clause="nested")(
    with_parts(same=top_level)
)


_SEEDS = "what differs in a random model differs for every seed"
_VALUES = "the two results of a random model have one structure and one dtype"
_STATE = "no random model shows the state that it keeps"

BEYOND = {
    "seeds 1 to trials": _SEEDS,
    "buffers run on": _STATE,
    "exact comparison": "a random model and its trace round alike",
    "a wide tolerance": "what differs in a random model differs by much",
    "NaN is not NaN": "few random models give NaN",
    "dtypes are not compared": _VALUES,
    "allclose": _VALUES,
    "assert_close for everything": _VALUES,
    "strides count": "a random model and its trace lay out their results alike",
    "keys that only the other has": _VALUES,
    "dictionaries one level deep": "in few random models only a nested value differs",
}
