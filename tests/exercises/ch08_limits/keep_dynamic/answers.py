"""Answers for `keep_dynamic`."""

from __future__ import annotations

import traceback

from torch import fx, nn
from torch.fx.proxy import TraceError

from tests.exercises import GRAPH, ONE_CLASS_EACH, kept_by_class, right, wrong


class Attempt(fx.Tracer):
    """Records the innermost module that raised."""

    errors = Exception

    def __init__(self, dynamic):
        super().__init__()
        self.dynamic, self.failed = dynamic, None

    def is_leaf_module(self, m, module_qualified_name):
        return m in self.dynamic or super().is_leaf_module(m, module_qualified_name)

    def call_module(self, m, forward, args, kwargs):
        try:
            return super().call_module(m, forward, args, kwargs)
        except self.errors:
            self.note(m)
            raise

    def note(self, m):
        if self.failed is None:
            self.failed = m


def again(model, kind=Attempt, after=lambda dynamic, failed: dynamic.add(failed)):
    dynamic = set()
    while True:
        tracer = kind(dynamic)
        try:
            graph = tracer.trace(model)
        except Exception:
            if tracer.failed is None:
                raise
            after(dynamic, tracer.failed)
        else:
            return fx.GraphModule(tracer.root, graph)


@right("traced again with one leaf more")
def traced_again(model):
    return again(model)


@right("each module is asked by a tracer of the same kind", debrief=True)
def asked(model):
    known = {}

    class Asking(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            if super().is_leaf_module(m, module_qualified_name):
                return True
            if m not in known:
                try:
                    Asking().trace(m)
                    known[m] = False
                except Exception:
                    known[m] = True
            return known[m]

    tracer = Asking()
    graph = tracer.trace(model)
    return fx.GraphModule(tracer.root, graph)


@right("nodes of a failed attempt are erased")
def rolled_back(model):
    class Rollback(fx.Tracer):
        proxies = {}

        def getattr(self, attr, attr_val, parameter_proxy_cache):
            self.proxies = parameter_proxy_cache
            return super().getattr(attr, attr_val, parameter_proxy_cache)

        def call_module(self, m, forward, args, kwargs):
            path = self.path_of_module(m)
            if self.is_leaf_module(m, path):
                return super().call_module(m, forward, args, kwargs)
            count, stack = len(self.graph.nodes), dict(self.module_stack)
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception:
                self.module_stack.clear()
                self.module_stack.update(stack)
                for node in list(self.graph.nodes)[: count - 1 : -1]:
                    self.graph.erase_node(node)
                there = {*self.graph.nodes}
                for name in [n for n, proxy in self.proxies.items() if proxy.node not in there]:
                    del self.proxies[name]
                return self.create_proxy("call_module", path, args, kwargs)

    tracer = Rollback()
    graph = tracer.trace(model)
    gm = fx.GraphModule(tracer.root, graph)
    gm.graph.lint()
    return gm


@right("from the bottom up")
def bottom_up(model):
    leaves = []

    class Known(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return any(m is leaf for leaf in leaves) or super().is_leaf_module(
                m, module_qualified_name
            )

    def visit(module):
        for child in module.children():
            visit(child)
        if module is model or fx.Tracer().is_leaf_module(module, ""):
            return
        try:
            Known().trace(module)
        except Exception:
            leaves.append(module)

    visit(model)
    tracer = Known()
    graph = tracer.trace(model)
    return fx.GraphModule(tracer.root, graph)


@right("the traceback says whose forward it was")
def by_traceback(model):
    leaves = set()

    class Known(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return id(m) in leaves or super().is_leaf_module(m, module_qualified_name)

    while True:
        tracer = Known()
        try:
            return fx.GraphModule(model, tracer.trace(model))
        except Exception as error:
            owners = [
                frame.f_locals.get("self")
                for frame, _ in traceback.walk_tb(error.__traceback__)
                if frame.f_code.co_name == "forward"
            ]
            owner = [o for o in owners if isinstance(o, nn.Module)][-1]
            if owner is model:
                raise
            leaves.add(id(owner))


# ------------------------------------------------------------------ wrong


@wrong("each module is asked alone", "shallow-leaf", clause="deep")
def asked_alone(model):
    class Alone(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            try:
                fx.symbolic_trace(m)
            except Exception:
                return True
            return super().is_leaf_module(m, module_qualified_name)

    tracer = Alone()
    return fx.GraphModule(model, tracer.trace(model))


@wrong("the outermost module is blamed", "shallow-leaf", clause="deep")
def outermost(model):
    class Outermost(Attempt):
        def note(self, m):
            self.failed = m

    return again(model, Outermost)


@wrong("only TraceError", "crashed", clause="any-exception")
def only_trace_error(model):
    class OnlyTraceError(Attempt):
        errors = TraceError

    return again(model, OnlyTraceError)


@wrong("all of its class", "shallow-leaf", clause="only-those")
def all_of_its_class(model):
    def all_of(dynamic, failed):
        dynamic.update(m for m in model.modules() if type(m) is type(failed))

    return again(model, after=all_of)


@wrong("all modules of its own stay leaves", "shallow-leaf", clause="only-those")
def all_own(model):
    class Closed(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return not isinstance(m, nn.Sequential)

    return fx.GraphModule(model, Closed().trace(model))


@wrong("nodes of the attempt stay", "leftover-node", clause="no-leftovers")
def attempt_stays(model):
    class NoRollback(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            stack = dict(self.module_stack)
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception:
                self.module_stack.clear()
                self.module_stack.update(stack)
                return self.create_proxy("call_module", self.path_of_module(m), args, kwargs)

    tracer = NoRollback()
    return fx.GraphModule(model, tracer.trace(model))


@wrong("a parameter that an attempt has read is remembered", "foreign-node", clause="no-leftovers")
def still_remembered(model):
    class Rollback(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            count, stack = len(self.graph.nodes), dict(self.module_stack)
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception:
                self.module_stack.clear()
                self.module_stack.update(stack)
                for node in list(self.graph.nodes)[: count - 1 : -1]:
                    self.graph.erase_node(node)
                return self.create_proxy("call_module", self.path_of_module(m), args, kwargs)

    tracer = Rollback()
    return fx.GraphModule(model, tracer.trace(model))


@wrong("what nobody reads is removed", "missing-node", clause="rest-as-usual")
def dead_removed(model):
    gm = again(model)
    for node in reversed(gm.graph.nodes):
        if not node.users and node.op not in ("output", "placeholder"):
            gm.graph.erase_node(node)
    for node in list(gm.graph.nodes):
        if node.op == "call_method" and node.target == "abs":
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)
    gm.recompile()
    return gm


@wrong("the keywords of a leaf are lost", "missing-node", clause="arguments")
def keywords_lost(model):
    class Positional(Attempt):
        def call_module(self, m, forward, args, kwargs):
            if m in self.dynamic:
                args, kwargs = (args or (kwargs["x"],))[:1], {}
            return super().call_module(m, forward, args, kwargs)

    return again(model, Positional)


@wrong("only one leaf", "crashed", clause="all-of-them")
def only_one(model):
    tracer = Attempt(set())
    try:
        return fx.GraphModule(model, tracer.trace(model))
    except Exception:
        if tracer.failed is None:
            raise
    tracer = Attempt({tracer.failed})
    return fx.GraphModule(model, tracer.trace(model))


@wrong("the root's exception in another one", "wrong-exception", clause="root-raises")
def another_exception(model):
    try:
        return again(model)
    except Exception as error:
        raise RuntimeError("the root cannot be traced") from error


@wrong("part modules are marked", "caller-changed", clause="common.caller-attributes")
def marked(model):
    def mark(dynamic, failed):
        failed.is_dynamic = True
        dynamic.add(failed)

    return again(model, after=mark)


@wrong("in eval mode", "caller-changed", clause="common.caller-modes")
def in_eval_mode(model):
    return again(model.eval())


@wrong("symbolic_trace alone", "crashed", clause="dynamic-leaves")
def alone(model):
    return fx.symbolic_trace(model)


wrong("kept by the class of the model", "missing-node", clause="common.own-result")(
    kept_by_class(traced_again)
)


@wrong("what the attempt has read stays", "leftover-node", clause="no-leftovers")
def read_stays(model):
    class Calls(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            count, stack = len(self.graph.nodes), dict(self.module_stack)
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception:
                self.module_stack.clear()
                self.module_stack.update(stack)
                for node in list(self.graph.nodes)[: count - 1 : -1]:
                    if node.op != "get_attr":
                        self.graph.erase_node(node)
                return self.create_proxy("call_module", self.path_of_module(m), args, kwargs)

    tracer = Calls()
    return fx.GraphModule(model, tracer.trace(model))


@wrong("another exception of the same class", "another-exception", clause="root-raises")
def same_class(model):
    try:
        return again(model)
    except Exception as error:
        raise type(error)("the root cannot be traced") from None


BEYOND = {
    "a parameter that an attempt has read is remembered": "random models read no part's parameter",
    "kept by the class of the model": ONE_CLASS_EACH,
}


DECIDES_NOTHING = [
    (
        GRAPH + r"modules\[\]\.params(\..*)?",
        "a leaf needs the weights of the branch that it takes, and of no other",
    ),
]
"""Places in an outcome that decide no points, and why."""
