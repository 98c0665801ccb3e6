"""Beginners' mistakes in chapter 01."""

from __future__ import annotations

import copy

import torch
from torch import fx

from tests.exercises.mistakes import UNSTICKS, mistake

# ------------------------------------------------------------------ node_table


@mistake(
    "node_table", "the two counts exchanged", UNSTICKS, says=["In your row of `x`", "are exchanged"]
)
def exchanged(model):
    nodes = fx.symbolic_trace(model).graph.nodes
    return [(n.op, n.name, len(n.users), len(n.all_input_nodes)) for n in nodes]


@mistake("node_table", "inputs counted as positional arguments", UNSTICKS)
def positional(model):
    return [(n.op, n.name, len(n.args), len(n.users)) for n in fx.symbolic_trace(model).graph.nodes]


@mistake("node_table", "only nodes at the top of the arguments", UNSTICKS)
def top_level(model):
    rows = []
    for n in fx.symbolic_trace(model).graph.nodes:
        read = {a for a in n.args if isinstance(a, fx.Node)}
        rows.append((n.op, n.name, len(read), len(n.users)))
    return rows


@mistake("node_table", "each reading counted", UNSTICKS)
def not_distinct(model):
    rows = []
    for n in fx.symbolic_trace(model).graph.nodes:
        read = []
        fx.node.map_arg((n.args, n.kwargs), read.append)
        rows.append((n.op, n.name, len(read), len(n.users)))
    return rows


@mistake("node_table", "the users themselves", UNSTICKS)
def users_themselves(model):
    nodes = fx.symbolic_trace(model).graph.nodes
    return [(n.op, n.name, n.all_input_nodes, n.users) for n in nodes]


@mistake("node_table", "lists in place of tuples", UNSTICKS)
def lists(model):
    nodes = fx.symbolic_trace(model).graph.nodes
    return [[n.op, n.name, len(n.all_input_nodes), len(n.users)] for n in nodes]


@mistake(
    "node_table",
    "name before opcode",
    UNSTICKS,
    says=["In your first row, the name is 'placeholder'. It should be 'x'"],
)
def name_first(model):
    nodes = fx.symbolic_trace(model).graph.nodes
    return [(n.name, n.op, len(n.all_input_nodes), len(n.users)) for n in nodes]


@mistake("node_table", "prints the table", UNSTICKS)
def prints(model):
    for n in fx.symbolic_trace(model).graph.nodes:
        print((n.op, n.name, len(n.all_input_nodes), len(n.users)))


@mistake("node_table", "a set is made of the arguments", UNSTICKS)
def set_of_args(model):
    rows = []
    for n in fx.symbolic_trace(model).graph.nodes:
        rows.append((n.op, n.name, len(set(n.args)), len(n.users)))
    return rows


# ------------------------------------------------------------------ sign_flip


@mistake("sign_flip", "the branch as it is", UNSTICKS)
def branch(x):
    return x if x.sum() > 0 else -x


@mistake("sign_flip", "times the sign of the sum", UNSTICKS)
def times_sign(x):
    return x * torch.sign(x.sum())


@mistake("sign_flip", "each entry decides for itself", UNSTICKS)
def each_entry(x):
    return torch.where(x > 0, x, -x)


@mistake("sign_flip", "greater or equal", UNSTICKS)
def or_equal(x):
    return torch.where(x.sum() >= 0, x, -x)


@mistake("sign_flip", "negates in place", UNSTICKS, says=["`sign_flip` itself changes `x` itself"])
def in_place(x):
    return torch.where(x.sum() > 0, x, x.neg_())


@mistake(
    "sign_flip",
    "a tensor is made of the condition",
    UNSTICKS,
    says=["a tensor should be made from numbers"],
)
def tensor_of(x):
    return torch.where(torch.tensor(x.sum() > 0), x, -x)


@mistake("sign_flip", "a mask of floats", UNSTICKS)
def float_mask(x):
    mask = (x.sum() > 0).float()
    return x * mask - x * (1 - mask)


@mistake("sign_flip", "item of the sum", UNSTICKS)
def item(x):
    return torch.where(x.sum().item() > 0, x, -x)


@mistake("sign_flip", "abs", UNSTICKS)
def absolute(x):
    return torch.abs(x)


@mistake("sign_flip", "sides exchanged", UNSTICKS)
def sides(x):
    return torch.where(x.sum() > 0, -x, x)


# ------------------------------------------------------------------ is_faithful


@mistake("is_faithful", "no copies of the arguments", UNSTICKS)
def no_copies(model, inputs):
    try:
        trace = fx.symbolic_trace(model)
    except Exception:
        return False
    return all(torch.equal(model(*args), trace(*args)) for args in inputs)


@mistake("is_faithful", "tensors only", UNSTICKS)
def tensors_only(model, inputs):
    try:
        trace = fx.symbolic_trace(model)
    except Exception:
        return False
    for args in inputs:
        a = model(*copy.deepcopy(args))
        b = trace(*copy.deepcopy(args))
        if not torch.allclose(a, b):
            return False
    return True


@mistake("is_faithful", "assert_close on whatever comes", UNSTICKS)
def assert_close(model, inputs):
    try:
        trace = fx.symbolic_trace(model)
    except Exception:
        return False
    for args in inputs:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            a = model(*copy.deepcopy(args))
            torch.manual_seed(0)
            b = trace(*copy.deepcopy(args))
        try:
            torch.testing.assert_close(a, b, equal_nan=True)
        except AssertionError:
            return False
    return True


@mistake("is_faithful", "results are copied deeply", UNSTICKS)
def deep_results(model, inputs):
    try:
        trace = fx.symbolic_trace(model)
    except Exception:
        return False
    for args in inputs:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            a = copy.deepcopy(model(*copy.deepcopy(args)))
            torch.manual_seed(0)
            b = copy.deepcopy(trace(*copy.deepcopy(args)))
        if type(a) is not type(b) or not torch.equal(a, b):
            return False
    return True


@mistake("is_faithful", "compared with ==", UNSTICKS)
def equals(model, inputs):
    try:
        trace = fx.symbolic_trace(model)
    except Exception:
        return False
    return all(model(*copy.deepcopy(a)) == trace(*copy.deepcopy(a)) for a in inputs)


@mistake("is_faithful", "the error of tracing gets out", UNSTICKS)
def raises(model, inputs):
    trace = fx.symbolic_trace(model)
    return all(torch.equal(model(*copy.deepcopy(a)), trace(*copy.deepcopy(a))) for a in inputs)


@mistake("is_faithful", "only the first input", UNSTICKS)
def first_input(model, inputs):
    try:
        trace = fx.symbolic_trace(model)
        a, b = model(*copy.deepcopy(inputs[0])), trace(*copy.deepcopy(inputs[0]))
        torch.testing.assert_close(a, b, equal_nan=True)
    except Exception:
        return False
    return True
