"""Answers for `first_bad_pass`."""

from __future__ import annotations

import copy
from functools import cache, reduce
from itertools import accumulate

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


def same(given, current, make_inputs, *, alike=alike, mode=lambda m: m.eval(), seeds=(0, 1, 2)):
    def run(module, seed):
        mode(module)
        return result_of(module, make_inputs(seed))

    return all(alike(run(given, seed), run(current, seed)) for seed in seeds)


def finder(
    *,
    keep=copy.deepcopy,
    work=copy.deepcopy,
    same=same,
    errors=Exception,
    step=lambda each, current, model: each(current),
    order=enumerate,
    found=lambda index: index,
    none=None,
):
    """A right answer in parts, each of which can be replaced by a faulty one."""

    def first_bad_pass(model, passes, make_inputs):
        given, current = keep(model), work(model)
        for index, each in order(passes):
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


@wrong("what the model returns is noted, and not copied", "missed")
def noted_itself(model, passes, make_inputs):
    model.eval()
    wanted = [model(*make_inputs(seed)) for seed in range(3)]
    current = model
    for index, each in enumerate(passes):
        try:
            current = each(current)
        except Exception:
            return index
        current.eval()
        for seed, want in enumerate(wanted):
            args = make_inputs(seed)
            got = result_of(current, args)
            if not alike((want, make_inputs(seed)), got):
                return index
    return None


@wrong("compared with a trace of the model", "missed")
def with_a_trace(model, passes, make_inputs):
    return finder(keep=torch.fx.symbolic_trace, work=lambda model: model)(
        model, passes, make_inputs
    )


wrong("counted from one", "wrong-index", clause="index")(finder(found=lambda index: index + 1))
wrong("zero is taken for none", "missed", clause="zero")(finder(found=lambda index: index or None))
wrong("-1 for none", "false-alarm", clause="none")(finder(none=-1))
wrong("the number of passes for none", "false-alarm")(
    lambda model, passes, make_inputs: finder(none=len(passes))(model, passes, make_inputs)
)
wrong("exceptions pass through", "crashed", clause="raises")(finder(errors=()))
wrong("some exceptions only", "crashed", clause="any-error")(
    finder(errors=(RuntimeError, ValueError, LookupError))
)
wrong("an error counts for the pass before", "wrong-index")(
    lambda model, passes, make_inputs: _one_less(model, passes, make_inputs)
)


def _one_less(model, passes, make_inputs):
    given, current = copy.deepcopy(model), copy.deepcopy(model)
    for index, each in enumerate(passes):
        try:
            current = each(current)
        except Exception:
            return max(0, index - 1)
        if not same(given, current, make_inputs):
            return index
    return None


@wrong("a pass that raises is left out", "missed")
def left_out(model, passes, make_inputs):
    def step(each, current, model):
        try:
            return each(current)
        except Exception:
            return current

    return finder(step=step)(model, passes, make_inputs)


@wrong("what differs counts before what raises", "wrong-index", clause="raises")
def what_differs_first(model, passes, make_inputs):
    raised = []

    def step(each, current, model):
        try:
            return each(current)
        except Exception:
            raised.append(passes.index(each))
            return current

    index = finder(step=step)(model, passes, make_inputs)
    return raised[0] if raised and index is None else index


@wrong("StopIteration ends the search", "missed", clause="any-error")
def ends_quietly(model, passes, make_inputs):
    given, index = copy.deepcopy(model), -1
    results = accumulate(passes, lambda model, each: each(model), initial=copy.deepcopy(model))
    try:
        for current in results:
            if not same(given, current, make_inputs):
                return index
            index += 1
    except Exception:
        return index
    return None


@wrong("the first place of the bad pass", "wrong-index", clause="index")
def first_place(model, passes, make_inputs):
    index = finder()(model, passes, make_inputs)
    return None if index is None else passes.index(passes[index])


wrong("in the mode that they have", "false-alarm", clause="eval")(
    finder(same=lambda *args: same(*args, mode=lambda module: module))
)
wrong("in train mode", "false-alarm")(
    finder(same=lambda *args: same(*args, mode=lambda module: module.train()))
)


wrong("parts of a model in eval mode keep theirs", "false-alarm", clause="eval")(
    finder(same=lambda *args: same(*args, mode=lambda m: m.eval() if m.training else m))
)


@wrong("only the model is in eval mode", "wrong-index")
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


@wrong("arguments are made once", "wrong-index", clause="arguments")
def made_once(model, passes, make_inputs):
    return finder()(model, passes, cache(make_inputs))


def alike_in_double(a, b):
    def rounded(value):
        return pytree.tree_map_only(torch.Tensor, lambda t: t.double().round(decimals=5), value)

    return alike(rounded(a), rounded(b))


wrong("dtypes are not compared", "missed", clause="same")(
    finder(same=lambda *args: same(*args, alike=alike_in_double))
)


def alike_by(close, shapes=True):
    """A comparison whose tensors are compared by `close`."""

    def compared(a, b):
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            one_shape = a.shape == b.shape or not shapes
            return a.dtype == b.dtype and one_shape and bool(close(a, b))
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
wrong("a wide tolerance", "missed", clause="same")(
    alike_by(lambda a, b: torch.allclose(a, b, rtol=0.01, atol=0.01, equal_nan=True))
)
wrong("NaN is not NaN", "wrong-index", clause="same")(
    alike_by(lambda a, b: torch.allclose(a, b, rtol=1e-5, atol=1e-7))
)
wrong("sums are compared", "missed", clause="same")(
    alike_by(lambda a, b: torch.allclose(a.nansum(), b.nansum(), rtol=1e-5, atol=1e-7))
)


wrong("shapes are not compared", "missed", clause="same")(
    alike_by(lambda a, b: torch.allclose(a, b, equal_nan=True, atol=1e-7), shapes=False)
)
wrong("compared with the largest entry", "missed", clause="same")(
    alike_by(lambda a, b: (a - b).nan_to_num().abs().max() <= 1e-5 * b.nan_to_num().abs().max())
)


@wrong("a tuple is a list", "missed", clause="same")
def tuple_is_list(model, passes, make_inputs):
    def listed(value):
        return [*map(listed, value)] if isinstance(value, (list, tuple)) else value

    return finder(same=lambda *args: same(*args, alike=lambda a, b: alike(listed(a), listed(b))))(
        model, passes, make_inputs
    )


def alike_as(plain):
    """A comparison of the results after `plain` converted them."""
    return finder(same=lambda *args: same(*args, alike=lambda a, b: alike(plain(a), plain(b))))


def values_alone(value):
    if isinstance(value, (list, tuple)):
        return type(value)(map(values_alone, value))
    return list(map(values_alone, value.values())) if isinstance(value, dict) else value


wrong("keys are not compared", "missed", clause="same")(alike_as(values_alone))
wrong("numbers of Python are not compared", "missed", clause="same")(
    alike_as(lambda value: pytree.tree_map_only((int, float), lambda number: 0, value))
)


@wrong("lists are unpacked", "missed")
def unpacked(model, passes, make_inputs):
    def leaves(a, b):
        return alike(pytree.tree_leaves(a), pytree.tree_leaves(b))

    return finder(same=lambda *args: same(*args, alike=leaves))(model, passes, make_inputs)


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


@wrong("bisection, as if all after a bad one were bad", "missed")
def bisected(model, passes, make_inputs):
    def broken(count):
        current = copy.deepcopy(model)
        try:
            for each in passes[:count]:
                current = each(current)
        except Exception:
            return True
        return not same(copy.deepcopy(model), current, make_inputs)

    low, high = 0, len(passes)
    if not broken(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if broken(middle) else (middle, high)
    return low


@wrong("the pass instead of its index", "wrong-kind")
def the_pass(model, passes, make_inputs):
    index = finder()(model, passes, make_inputs)
    return None if index is None else passes[index].__name__


@wrong("True for one", "wrong-kind")
def as_bool(model, passes, make_inputs):
    return finder()(model, passes, make_inputs) is not None


@wrong("the stub", "not-attempted")
def stub(model, passes, make_inputs):
    raise NotImplementedError


BEYOND = {
    "keys are not compared": "no pass of a random model changes the structure of the result",
    "numbers of Python are not compared": "no pass of a random model changes a number",
    "parts of a model in eval mode keep theirs": "a random model and its parts have one mode",
    "compared with the model that passes may edit": "no pass of a random model edits what is given",
    "compared with a trace of the model": "no pass of a random model edits what is given",
    "each pass alone": "no pass of a random model depends on another",
    "dtypes are not compared": "no pass of a random model changes the dtype",
    "exact comparison": "no pass of a random model is right within the tolerance only",
    "a wide tolerance": "the bad passes of random models change values by much",
    "NaN is not NaN": "random models give no NaN",
    "sums are compared": "no pass of a random model keeps the sum and changes the values",
    "StopIteration ends the search": "no pass of a random model raises it",
    "the first place of the bad pass": "no pass of a random model is bad at its second call alone",
    "shapes are not compared": "no pass of a random model changes the shape",
    "compared with the largest entry": "the bad passes of random models change values by much",
    "a tuple is a list": "no pass of a random model changes the structure of the result",
}
