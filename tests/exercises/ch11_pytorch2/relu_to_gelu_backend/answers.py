"""Answers to `relu_to_gelu_backend`."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import fx, nn

from tests.exercises import right, wrong

FUNCTIONS = {torch.relu, F.relu, torch.relu_, F.relu_}
METHODS = {"relu", "relu_"}


def is_relu(node):
    return (node.op == "call_function" and node.target in FUNCTIONS) or (
        node.op == "call_method" and node.target in METHODS
    )


def value_of(node):
    return node.args[0] if node.args else node.kwargs["input"]


def graph_modules(gm):
    return [m for m in gm.modules() if isinstance(m, fx.GraphModule)]


def exchange(gm, *, wanted=is_relu, value=value_of, gelu=F.gelu, kwargs=None, modules=graph_modules,
             recompile=True):  # fmt: skip
    for module in modules(gm):
        for node in list(module.graph.nodes):
            if wanted(node):
                with module.graph.inserting_before(node):
                    new = module.graph.call_function(gelu, (value(node),), kwargs or {})
                node.replace_all_uses_with(new)
                module.graph.erase_node(node)
        if recompile:
            module.recompile()
    return gm


@right("new nodes in every module")
def new_nodes(gm, example_inputs):
    return exchange(gm)


@right("nodes retargeted, from branch to branch", debrief=True)
def retargeted(gm, example_inputs):
    for node in gm.graph.nodes:
        if node.op == "get_attr" and isinstance(getattr(gm, node.target, None), fx.GraphModule):
            retargeted(getattr(gm, node.target), [])
        name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
        if node.op in ("call_function", "call_method") and name in ("relu", "relu_"):
            node.op, node.target = "call_function", F.gelu
            node.args, node.kwargs = (node.all_input_nodes[0],), {}
    gm.graph.lint()
    gm.recompile()
    return gm.forward


@right("an Interpreter, and one for each branch")
def interpreted(gm, example_inputs):
    class Gelu(fx.Interpreter):
        def call_function(self, target, args, kwargs):
            if target in FUNCTIONS:
                return F.gelu(args[0] if args else kwargs["input"])
            args = tuple(
                (lambda *inner, m=a: Gelu(m).run(*inner)) if isinstance(a, fx.GraphModule) else a
                for a in args
            )
            if str(target) == "cond":
                return args[1](*args[3]) if args[0] else args[2](*args[3])
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            if target in METHODS:
                return F.gelu(args[0])
            return super().call_method(target, args, kwargs)

    return lambda *args: Gelu(gm).run(*args)


@right("a graph built anew, with a module")
def rebuilt(gm, example_inputs):
    for name, child in list(gm.named_children()):
        if isinstance(child, fx.GraphModule):
            setattr(gm, name, rebuilt(child, []))
    gm.add_module("exact_gelu", nn.GELU())
    graph, env = fx.Graph(), {}
    for node in gm.graph.nodes:
        if is_relu(node):
            env[node] = graph.call_module("exact_gelu", (env[value_of(node)],))
        else:
            env[node] = graph.node_copy(node, env.__getitem__)
    return fx.GraphModule(gm, graph)


@right("the formula, and erf")
def formula(gm, example_inputs):
    def gelu(x):
        return 0.5 * x * (1 + torch.erf(x / 2**0.5))

    exchange(gm, gelu=gelu)
    return lambda *args: gm(*args)


# ------------------------------------------------------------------ wrong


@wrong("F.relu forgotten", "wrong-result", clause="f-relu")
def no_f(gm, example_inputs):
    return exchange(gm, wanted=lambda n: is_relu(n) and n.target is not F.relu)


@wrong("torch.relu forgotten", "wrong-result", clause="torch-relu")
def no_torch(gm, example_inputs):
    return exchange(gm, wanted=lambda n: is_relu(n) and n.target is not torch.relu)


@wrong("torch.relu_ forgotten", "wrong-result", clause="torch-relu-in-place")
def no_torch_in_place(gm, example_inputs):
    return exchange(gm, wanted=lambda n: is_relu(n) and n.target is not torch.relu_)


@wrong("the method forgotten", "wrong-result", clause="method")
def no_method(gm, example_inputs):
    return exchange(gm, wanted=lambda n: is_relu(n) and n.target != "relu")


@wrong("the method in place forgotten", "wrong-result", clause="method-in-place")
def no_method_in_place(gm, example_inputs):
    return exchange(gm, wanted=lambda n: is_relu(n) and n.target != "relu_")


@wrong("calls with inplace=True skipped", "wrong-result", clause="inplace-keyword")
def not_in_place(gm, example_inputs):
    return exchange(gm, wanted=lambda n: is_relu(n) and not n.kwargs.get("inplace"))


@wrong("the input taken from args", "crashed", clause="input-keyword")
def from_args(gm, example_inputs):
    return exchange(gm, value=lambda node: node.args[0])


@wrong("branches forgotten", "wrong-result", clause="branches")
def no_branches(gm, example_inputs):
    return exchange(gm, modules=lambda gm: [gm])


@wrong("branches of branches forgotten", "wrong-result", clause="nested")
def one_level(gm, example_inputs):
    def modules(gm):
        return [gm, *(m for m in gm.children() if isinstance(m, fx.GraphModule))]

    return exchange(gm, modules=modules)


@wrong("relu6, too", "wrong-result", clause="rest")
def six_too(gm, example_inputs):
    return exchange(gm, wanted=lambda n: is_relu(n) or n.target in (F.relu6, F.hardtanh))


@wrong("leaky_relu, too", "wrong-result", clause="rest")
def leaky_too(gm, example_inputs):
    return exchange(gm, wanted=lambda n: is_relu(n) or n.target is F.leaky_relu)


@wrong("the approximation by tanh", "wrong-result", clause="exact")
def by_tanh(gm, example_inputs):
    return exchange(gm, kwargs={"approximate": "tanh"})


@wrong("recompile forgotten", "wrong-result", clause="recompiled")
def stale(gm, example_inputs):
    return exchange(gm, recompile=False)


@wrong("returns a result", "result-raises", clause="callable")
def returns_result(gm, example_inputs):
    return exchange(gm)(*example_inputs)


@wrong("unpacks what comes back", "wrong-shape", clause="returns")
def unpacked(gm, example_inputs):
    exchange(gm)
    return lambda *args: gm(*args)[0]


@wrong("the first model for all", "wrong-result", clause="several-models")
def first_model(gm, example_inputs):
    key = len(example_inputs)
    if key not in _KNOWN or len(gm.graph.nodes) != 4:
        _KNOWN[key] = exchange(gm)
    return _KNOWN[key]


_KNOWN: dict = {}


@wrong("inputs that nobody reads are taken out", "result-raises", clause="arguments")
def unread_inputs_gone(gm, example_inputs):
    exchange(gm)
    for node in [n for n in gm.graph.nodes if n.op == "placeholder" and not n.users]:
        gm.graph.erase_node(node)
    gm.recompile()
    return gm


@wrong("made for the example's shape", "result-raises", clause="shapes")
def one_shape(gm, example_inputs):
    exchange(gm)
    shapes = [x.shape for x in example_inputs if isinstance(x, torch.Tensor)]

    def run(*args):
        found = [x.shape for x in args if isinstance(x, torch.Tensor)]
        if [tuple(s) for s in found] != [tuple(map(int, s)) for s in shapes]:
            raise ValueError("another shape")
        return gm(*args)

    return run


@wrong("computed in single precision", "wrong-dtype", clause="dtypes")
def single(gm, example_inputs):
    return exchange(gm, gelu=lambda x: F.gelu(x.float()))


@wrong("without gradients", "result-raises", clause="gradients")
def without_gradients(gm, example_inputs):
    return torch.no_grad()(exchange(gm))
