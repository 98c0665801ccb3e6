"""Answers for `keep_dynamic`."""

from __future__ import annotations

import copy
import operator
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


@wrong("the exceptions that were met so far", "crashed", clause="any-exception")
def met_so_far(model):
    class MetSoFar(Attempt):
        errors = (TypeError, ValueError, RuntimeError)

    return again(model, MetSoFar)


@wrong("another exception of the same class", "another-exception", clause="root-raises")
def same_class(model):
    try:
        return again(model)
    except Exception as error:
        raise type(error)("the root cannot be traced") from None


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


@wrong("what begins with the name of a leaf", "shallow-leaf", clause="only-those")
def begins_alike(model):
    def namesakes(dynamic, failed):
        names = {m: name for name, m in model.named_modules()}
        dynamic.update(m for m in names if names[m].startswith(names[failed]))

    return again(model, after=namesakes)


@wrong("what ends with the name of a leaf", "shallow-leaf", clause="only-those")
def ends_alike(model):
    def namesakes(dynamic, failed):
        names = {m: name.rpartition(".")[2] for name, m in model.named_modules()}
        dynamic.update(m for m in names if names[m].endswith(names[failed]))

    return again(model, after=namesakes)


def of_like_paths(alike):
    """Leaves are also those whose whole path is like that of a leaf."""

    def answer(model):
        def namesakes(dynamic, failed):
            paths = {m: path for path, m in model.named_modules() if path}
            dynamic.update(m for m in paths if alike(paths[m], paths[failed]))

        return again(model, after=namesakes)

    answer.__module__ = __name__
    return answer


wrong("a path that ends with that of a leaf", "shallow-leaf", clause="only-those")(
    of_like_paths(str.endswith)
)
wrong("a path that a leaf's path ends with", "shallow-leaf", clause="only-those")(
    of_like_paths(lambda path, leaf: leaf.endswith(path))
)


@wrong("what a leaf holds stays a leaf, too", "shallow-leaf", clause="only-those")
def with_its_parts(model):
    return again(model, after=lambda dynamic, failed: dynamic.update(failed.modules()))


@wrong("ten attempts", "crashed", clause="all-of-them")
def ten_attempts(model):
    def counted(dynamic, failed):
        dynamic.add(failed)
        if len(dynamic) == 10:
            raise RuntimeError("no trace was found in ten attempts")

    return again(model, after=counted)


@wrong("siblings stay leaves, too", "shallow-leaf", clause="only-those")
def siblings(model):
    def with_siblings(dynamic, failed):
        for parent in model.modules():
            if failed in list(parent.children()):
                dynamic.update(parent.children())

    return again(model, after=with_siblings)


@wrong("a graph module counts as traced", "shallow-leaf", clause="only-those")
def counts_as_traced(model):
    if isinstance(model, fx.GraphModule):
        return fx.GraphModule(model, copy.deepcopy(model.graph))
    return again(model)


@wrong(
    "each attempt in the mode of the whole model", "caller-changed", clause="common.caller-modes"
)
def mode_of_the_root(model):
    return again(model.train(model.training))


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


@wrong("modules are opened from the outside in", "shallow-leaf", clause="only-those")
def outside_in(model):
    closed = [m for m in model.modules() if m is not model]

    class Known(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            kept = any(m is each for each in closed)
            return kept or super().is_leaf_module(m, module_qualified_name)

    for module in [*closed]:
        before = [*closed]
        closed = [each for each in closed if each is not module]
        try:
            Known().trace(model)
        except Exception:
            closed = before
    return fx.GraphModule(model, Known().trace(model))


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


@wrong("a question about each leaf stays", "leftover-node", clause="no-leftovers")
def question_stays(model):
    gm = again(model)
    for node in list(gm.graph.nodes):
        if node.op == "call_module" and not fx.Tracer().is_leaf_module(
            gm.get_submodule(node.target), ""
        ):
            with gm.graph.inserting_after(node):
                gm.graph.call_function(operator.is_, (node, None))
    gm.recompile()
    return gm


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


@wrong("only direct children", "crashed")
def direct_children(model):
    class Direct(Attempt):
        def note(self, m):
            if any(m is child for child in model.children()):
                self.failed = m

    return again(model, Direct)


@wrong("the root's exception in another one", "wrong-exception", clause="root-raises")
def another_exception(model):
    try:
        return again(model)
    except Exception as error:
        raise RuntimeError("the root cannot be traced") from error


@wrong("the root in a box", "should-raise", clause="root-raises")
def root_in_a_box(model):
    try:
        return again(model)
    except Exception:
        return again(nn.Sequential(model))


@wrong("the model itself where the root cannot be traced", "should-raise")
def model_itself(model):
    try:
        return again(model)
    except Exception:
        return model


@wrong("part modules are marked", "caller-changed", clause="common.caller-attributes")
def marked(model):
    def mark(dynamic, failed):
        failed.is_dynamic = True
        dynamic.add(failed)

    return again(model, after=mark)


@wrong("parts are exchanged while it traces", "caller-changed", clause="common.caller-submodules")
def exchanged(model):
    def exchange(dynamic, failed):
        for parent in model.modules():
            for name, child in list(parent.named_children()):
                if child is failed:
                    setattr(parent, name, new := copy.copy(failed))
                    dynamic.add(new)

    return again(model, after=exchange)


@wrong("in eval mode", "caller-changed")
def in_eval_mode(model):
    return again(model.eval())


@wrong("a Graph", "not-a-graph-module", clause="common.wrong-kind")
def a_graph(model):
    return again(model).graph


@wrong("symbolic_trace alone", "crashed", clause="dynamic-leaves")
def alone(model):
    return fx.symbolic_trace(model)


@wrong("what was called before is blamed", "shallow-leaf")
def called_before(model):
    class Before(Attempt):
        last = None

        def call_module(self, m, forward, args, kwargs):
            result = super().call_module(m, forward, args, kwargs)
            self.last = m
            return result

        def note(self, m):
            self.failed = self.failed or self.last or m

    def add(dynamic, failed):
        if failed in dynamic:
            raise ValueError("again")
        dynamic.add(failed)

    try:
        return again(model, Before, add)
    except ValueError:
        return again(nn.Sequential(model))


@wrong("dynamic parts run as they are", "crashed")
def run_as_they_are(model):
    class Runs(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            try:
                return super().call_module(m, forward, args, kwargs)
            except Exception:
                return args[0]

    tracer = Runs()
    return fx.GraphModule(model, tracer.trace(model))


@wrong("untouched", "not-attempted")
def untouched(model):
    raise NotImplementedError


wrong("kept by the class of the model", "missing-node")(kept_by_class(traced_again))


BEYOND = {
    "modules are opened from the outside in": "no part of a random model returns a number",
    "a parameter that an attempt has read is remembered": "random models read no part's parameter",
    "kept by the class of the model": ONE_CLASS_EACH,
    "ten attempts": "random models have fewer parts",
    "what a leaf holds stays a leaf, too": "random models call no part of a part",
}


DECIDES_NOTHING = [
    (
        GRAPH + r"modules\[\]\.params(\..*)?",
        "a leaf needs the weights of the branch that it takes, and of no other",
    ),
]
"""Places in an outcome that decide no points, and why."""
