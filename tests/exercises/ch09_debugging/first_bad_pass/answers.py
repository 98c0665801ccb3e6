"""Answers for `first_bad_pass`."""

from __future__ import annotations

import copy
from functools import reduce

import torch
from torch.utils import _pytree as pytree

from tests.exercises import right, wrong

# ------------------------------------------------------------------ parts


def alike(a, b):
    """Whether two results are the same by the course's definition."""
    if pytree.tree_structure(a) != pytree.tree_structure(b):
        return False
    try:
        torch.testing.assert_close(a, b, equal_nan=True)
    except AssertionError:
        return False
    return True


def frozen(value):
    return pytree.tree_map_only(torch.Tensor, lambda t: t.detach().clone(), value)


def result_of(module, args):
    with torch.no_grad():
        return frozen((module(*args), args))


def same(given, current, make_inputs, *, alike=alike, mode=lambda m: m.eval()):
    def run(module, seed):
        mode(module)
        return result_of(module, make_inputs(seed))

    return all(alike(run(given, seed), run(current, seed)) for seed in range(3))


def finder(
    *,
    keep=copy.deepcopy,
    work=copy.deepcopy,
    same=same,
    errors=Exception,
    step=lambda each, current, model: each(current),
    found=lambda index: index,
    none=None,
):
    """A right answer in parts, each of which can be replaced by a faulty one."""

    def first_bad_pass(model, passes, make_inputs):
        given, current = keep(model), work(model)
        for index, each in enumerate(passes):
            try:
                current = step(each, current, model)
            except errors:
                return found(index)
            if not same(given, current, make_inputs):
                return found(index)
        return none

    return first_bad_pass


# ------------------------------------------------------------------ right

right("a copy to compare with, a copy to work on")(finder())
right("one copy; the passes work on the model itself")(finder(work=lambda model: model))


@right("what the model returns is noted first", debrief=True)
def noted_first(model, passes, make_inputs):
    # The results are known before any pass runs, so no pass can change them.
    wanted = [result_of(copy.deepcopy(model).eval(), make_inputs(seed)) for seed in range(4)]
    current = model
    for index, each in enumerate(passes):
        try:
            current = each(current)
        except Exception:
            return index
        current.eval()
        for seed, want in enumerate(wanted):
            if not alike(want, result_of(current, make_inputs(seed))):
                return index
    return None


@right("recursion from the last pass")
def recursive(model, passes, make_inputs):
    given = copy.deepcopy(model)

    def walk(current, index):
        if index == len(passes):
            return None
        try:
            current = passes[index](current)
        except Exception:
            return index
        return walk(current, index + 1) if same(given, current, make_inputs) else index

    return walk(copy.deepcopy(model), 0)


@right("all prefixes from the start, each on a fresh copy")
def prefixes(model, passes, make_inputs):
    def broken(count):
        current = copy.deepcopy(model)
        try:
            for each in passes[:count]:
                current = each(current)
        except Exception:
            return True
        return not same(copy.deepcopy(model), current, make_inputs)

    return next((i for i in range(len(passes)) if broken(i + 1)), None)


# ------------------------------------------------------------------ wrong

wrong("each pass alone", "missed", clause="chain")(
    finder(step=lambda each, current, model: each(copy.deepcopy(model)))
)
wrong("compared with the model that passes may edit", "missed", clause="as-given")(
    finder(keep=lambda model: model, work=lambda model: model)
)


wrong("counted from one", "wrong-index", clause="index")(finder(found=lambda index: index + 1))
wrong("zero is taken for none", "missed", clause="index")(finder(found=lambda index: index or None))
wrong("-1 for none", "false-alarm", clause="none")(finder(none=-1))
wrong("exceptions pass through", "crashed", clause="raises")(finder(errors=()))
wrong("some exceptions only", "crashed", clause="raises")(
    finder(errors=(RuntimeError, ValueError, LookupError))
)


wrong("in the mode that they have", "false-alarm", clause="eval")(
    finder(same=lambda *args: same(*args, mode=lambda module: module))
)


@wrong("only the model is in eval mode", "wrong-index", clause="eval")
def only_the_model(model, passes, make_inputs):
    given = copy.deepcopy(model).eval()
    current = copy.deepcopy(model).eval()
    return finder(
        keep=lambda _: given,
        work=lambda _: current,
        same=lambda *args: same(*args, mode=lambda module: module),
    )(model, passes, make_inputs)


wrong("arguments are not compared", "missed", clause="arguments")(
    finder(
        same=lambda *args: same(*args, alike=lambda a, b: alike(a[0], b[0])),
    )
)


def alike_in_double(a, b):
    def rounded(value):
        return pytree.tree_map_only(torch.Tensor, lambda t: t.double().round(decimals=5), value)

    return alike(rounded(a), rounded(b))


wrong("dtypes are not compared", "missed", clause="same")(
    finder(same=lambda *args: same(*args, alike=alike_in_double))
)


def alike_by(close):
    """A comparison whose tensors are compared by `close`."""

    def compared(a, b):
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            return a.dtype == b.dtype and a.shape == b.shape and bool(close(a, b))
        if isinstance(a, (list, tuple)) and type(a) is type(b):
            return len(a) == len(b) and all(map(compared, a, b))
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(compared(a[key], b[key]) for key in a)
        return type(a) is type(b) and a == b

    return finder(same=lambda *args: same(*args, alike=compared))


right("a comparison of its own")(
    alike_by(lambda a, b: torch.allclose(a, b, rtol=1e-5, atol=1e-7, equal_nan=True))
)
wrong("exact comparison", "wrong-index", clause="same")(
    alike_by(lambda a, b: ((a == b) | (a.isnan() & b.isnan())).all())
)


@wrong("only the end is looked at", "missed", clause="after-each")
def only_the_end(model, passes, make_inputs):
    given = copy.deepcopy(model)
    try:
        end = reduce(lambda current, each: each(current), passes, copy.deepcopy(model))
    except Exception:
        return finder()(model, passes, make_inputs)
    return None if same(given, end, make_inputs) else finder()(model, passes, make_inputs)


@wrong("the last bad pass", "wrong-index", clause="first")
def the_last(model, passes, make_inputs):
    given, current, found = copy.deepcopy(model), copy.deepcopy(model), None
    for index, each in enumerate(passes):
        try:
            current = each(current)
        except Exception:
            return index
        if not same(given, current, make_inputs):
            found = index
    return found


BEYOND = {
    "compared with the model that passes may edit": "no pass of a random model edits what is given",
    "each pass alone": "no pass of a random model depends on another",
    "dtypes are not compared": "no pass of a random model changes the dtype",
    "exact comparison": "no pass of a random model is right within the tolerance only",
}
