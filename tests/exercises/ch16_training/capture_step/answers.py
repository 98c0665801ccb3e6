"""Answers to `capture_step`."""

from __future__ import annotations

import torch
from torch.func import functional_call
from torch.nn.utils.stateless import _reparametrize_module
from torch.utils import _pytree as pytree

from autograder.core.torch_private import fake_tensor_mode
from autograder.given import annotate, make_fx, preserve_node_meta
from tests.exercises import right, wrong

# ------------------------------------------------------------------ parts

BACKWARD = {"phase": "backward"}


def trained_in(model):
    return [name for name, param in model.named_parameters() if param.requires_grad]


def fresh_leaves(params, trained):
    return {name: p.detach().requires_grad_(name in trained) for name, p in params.items()}


def gradients(value, leaves, trained):
    wanted = [leaves[name] for name in trained]
    if not value.requires_grad:
        return [torch.zeros_like(leaf) for leaf in wanted]
    return torch.autograd.grad(value, wanted, materialize_grads=True)


def pair(value, trained, grads):
    return value.detach(), dict(zip(trained, grads, strict=True))


def traced(step, *args):
    with preserve_node_meta():
        return make_fx(step, tracing_mode="fake")(*args)


def captured(
    model,
    loss,
    x,
    y,
    *,
    names=trained_in,
    state=lambda buffers: buffers,
    grads_of=gradients,
    result=pair,
    trace=traced,
):
    """The structure of most answers; each step can be replaced."""
    params, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    trained = names(model)

    def step(params, buffers, x, y):
        leaves = fresh_leaves(params, trained)
        value = loss(functional_call(model, (leaves, state(buffers)), (x,)), y)
        with annotate(BACKWARD):
            grads = grads_of(value, leaves, trained)
        return result(value, trained, grads)

    return trace(step, params, buffers, x, y)


# ------------------------------------------------------------------ right


@right("functional_call, and autograd.grad")
def by_grad(model, loss, x, y):
    return captured(model, loss, x, y)


@right("backward on fresh leaves", debrief=True)
def by_backward(model, loss, x, y):
    def step(params, buffers, x, y):
        leaves = {name: param.detach().clone() for name, param in params.items()}
        for name, param in model.named_parameters():
            leaves[name].requires_grad_(param.requires_grad)
        value = loss(functional_call(model, {**leaves, **buffers}, (x,)), y)
        wanted = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
        with annotate({"phase": "backward"}):
            if value.requires_grad:
                value.backward()
            grads = {
                name: torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
                for name, leaf in wanted.items()
            }
        return value.detach(), grads

    with preserve_node_meta():
        return make_fx(step, tracing_mode="fake")(
            dict(model.named_parameters()), dict(model.named_buffers()), x, y
        )


@right("the model gets other tensors for a while")
def by_reparametrizing(model, loss, x, y):
    trained = trained_in(model)

    def step(params, buffers, x, y):
        leaves = fresh_leaves(params, trained)
        with _reparametrize_module(model, {**leaves, **buffers}, tie_weights=True):
            value = loss(model(x), y)
        with annotate(BACKWARD):
            return pair(value, trained, gradients(value, leaves, trained))

    return traced(step, dict(model.named_parameters()), dict(model.named_buffers()), x, y)


@right("a fake mode of its own")
def by_own_mode(model, loss, x, y):
    mode = fake_tensor_mode()(allow_non_fake_inputs=True)

    def trace(step, *args):
        fakes = pytree.tree_map(lambda t: mode.from_tensor(t.detach()), args)
        with mode, preserve_node_meta():
            return make_fx(step)(*fakes)

    return captured(model, loss, x, y, trace=trace)


@right("the marks are set afterwards")
def marked_later(model, loss, x, y):
    trained = trained_in(model)

    def step(params, buffers, x, y):
        leaves = fresh_leaves(params, trained)
        value = loss(functional_call(model, (leaves, buffers), (x,)), y)
        with annotate({"mine": 1}):
            grads = gradients(value, leaves, trained)
        return pair(value, trained, grads)

    gm = traced(step, dict(model.named_parameters()), dict(model.named_buffers()), x, y)
    for node in gm.graph.nodes:
        if "mine" in node.meta.get("custom", {}):
            node.meta["custom"] = {"phase": "backward"}
    return gm


# ------------------------------------------------------------------ wrong


@wrong("the model is closed over", "state-inside", clause="no-state")
def closed_over(model, loss, x, y):
    trained = trained_in(model)

    def step(params, buffers, x, y):
        own = dict(model.named_parameters())
        value = loss(model(x), y)
        with annotate(BACKWARD):
            return pair(value, trained, gradients(value, own, trained))

    def trace(step, *args):
        with preserve_node_meta():
            return make_fx(step, tracing_mode="fake", _allow_non_fake_inputs=True)(*args)

    return trace(step, dict(model.named_parameters()), dict(model.named_buffers()), x, y)


@wrong("real tensors are traced", "caller-changed", clause="model-stays")
def real(model, loss, x, y):
    def trace(step, *args):
        with preserve_node_meta():
            return make_fx(step, tracing_mode="real")(*args)

    return captured(model, loss, x, y, trace=trace)


@wrong("random numbers are drawn", "caller-changed", clause="random-stays")
def seeded(model, loss, x, y):
    torch.manual_seed(0)
    return captured(model, loss, x, y)


@wrong("gradients on the parameters", "caller-changed", clause="gradients-stay")
def on_parameters(model, loss, x, y):
    gm = captured(model, loss, x, y)
    loss(
        functional_call(model, {n: b.clone() for n, b in model.named_buffers()}, (x,)), y
    ).backward()
    return gm


@wrong("notes are not kept", "wrong-mark", clause="marks")
def no_notes(model, loss, x, y):
    def trace(step, *args):
        return make_fx(step, tracing_mode="fake")(*args)

    return captured(model, loss, x, y, trace=trace)


@wrong("everything is marked", "wrong-mark", clause="forward")
def all_marked(model, loss, x, y):
    def trace(step, *args):
        with annotate(BACKWARD):
            return traced(step, *args)

    return captured(model, loss, x, y, trace=trace)


@wrong("zeros are made after the block", "wrong-mark", clause="zeros-marked")
def zeros_behind(model, loss, x, y):
    def grads_of(value, leaves, trained):
        wanted = [leaves[name] for name in trained]
        if not value.requires_grad:
            return [None] * len(wanted)
        return torch.autograd.grad(value, wanted, allow_unused=True)

    def result(value, trained, grads):
        some = zip(trained, grads, strict=True)
        params = dict(model.named_parameters())
        return value.detach(), {
            name: value.new_zeros(params[name].shape) if grad is None else grad
            for name, grad in some
        }

    return captured(model, loss, x, y, grads_of=grads_of, result=result)


@wrong("unused parameters raise", "crashed", clause="zeros")
def unused_raise(model, loss, x, y):
    def grads_of(value, leaves, trained):
        return torch.autograd.grad(value, [leaves[name] for name in trained])

    return captured(model, loss, x, y, grads_of=grads_of)


@wrong("unused parameters have None", "wrong-structure", clause="zeros")
def unused_none(model, loss, x, y):
    def grads_of(value, leaves, trained):
        return torch.autograd.grad(value, [leaves[n] for n in trained], allow_unused=True)

    return captured(model, loss, x, y, grads_of=grads_of)


@wrong("zeros of the usual dtype", "wrong-dtype", clause="dtype")
def plain_zeros(model, loss, x, y):
    def grads_of(value, leaves, trained):
        if not value.requires_grad:
            return [torch.zeros(leaves[name].shape) for name in trained]
        return gradients(value, leaves, trained)

    return captured(model, loss, x, y, grads_of=grads_of)


@wrong("frozen parameters, too", "wrong-names", clause="requires-one")
def frozen_too(model, loss, x, y):
    return captured(model, loss, x, y, names=lambda m: [name for name, _ in m.named_parameters()])


@wrong("in the order of the alphabet", "wrong-names", clause="order")
def in_alphabet(model, loss, x, y):
    return captured(model, loss, x, y, names=lambda m: sorted(trained_in(m)))


@wrong("a list of gradients", "wrong-structure", clause="returns")
def a_list(model, loss, x, y):
    return captured(model, loss, x, y, result=lambda value, _, grads: (value, list(grads)))


@wrong("tied parameters twice", "crashed", clause="tied")
def tied_twice(model, loss, x, y):
    params = dict(model.named_parameters(remove_duplicate=False))
    trained = [name for name, param in params.items() if param.requires_grad]

    def step(params, buffers, x, y):
        leaves = fresh_leaves(params, trained)
        value = loss(functional_call(model, (leaves, buffers), (x,)), y)
        with annotate(BACKWARD):
            return pair(value, trained, gradients(value, leaves, trained))

    return traced(step, params, dict(model.named_buffers()), x, y)


@wrong("copies of the buffers", "argument-changed", clause="buffers")
def buffers_copied(model, loss, x, y):
    def state(buffers):
        return {name: buffer.clone() for name, buffer in buffers.items()}

    return captured(model, loss, x, y, state=state)


@wrong("always in evaluation mode", "wrong-result", clause="mode")
def evaluated(model, loss, x, y):
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    gm = captured(model, loss, x, y)
    for module, mode in modes:
        module.training = mode
    return gm


@wrong("packets in place of overloads", "not-aten", clause="aten")
def packets(model, loss, x, y):
    gm = captured(model, loss, x, y)
    for node in gm.graph.nodes:
        if "alias" not in node.name:
            node.target = getattr(node.target, "overloadpacket", node.target)
    gm.recompile()
    return gm


@wrong("values without val", "wrong-val", clause="vals")
def no_vals(model, loss, x, y):
    gm = captured(model, loss, x, y)
    for node in gm.graph.nodes:
        node.meta.pop("val", None)
    return gm


RANDOM_MODELS_ARE_READ = "a graph takes parameters and buffers, and a model does not"
NOT_GROWN = "which parameters a random model trains is chosen by its number"
DECIDES_NOTHING = [
    (r"value\.graph_module\.meta\[\]\.(memory|stack_trace).*", "this task asks for no memory"),
    (r"value\.graph_module\.meta\[\]\.custom.*", "an alias may be marked or not"),
]
