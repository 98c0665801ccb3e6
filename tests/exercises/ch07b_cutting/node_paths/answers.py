"""Answers for `node_paths`."""

from __future__ import annotations

import contextlib
import copy
import sys
import weakref
from collections import OrderedDict, defaultdict

import torch
from torch import fx, nn

from tests.exercises import ONE_CLASS_EACH, kept_by_class, right, wrong


class PathTracer(fx.Tracer):
    """Records for each node the module whose forward made it."""

    def __init__(self):
        super().__init__()
        self.path, self.paths = "", {}

    def call_module(self, m, forward, args, kwargs):
        def inside(*args, **kwargs):
            outer, self.path = self.path, self.path_of_module(m)
            try:
                return forward(*args, **kwargs)
            finally:
                self.path = outer

        return super().call_module(m, inside, args, kwargs)

    def create_node(self, *args, **kwargs):
        node = super().create_node(*args, **kwargs)
        self.note(node)
        return node

    def note(self, node):
        if node.op != "output":
            self.paths[node.name] = self.path


def traced_with(tracer, model):
    tracer.trace(model)
    return tracer.paths


@right("a path inside of forward")
def inside(model):
    return traced_with(PathTracer(), model)


@right("a stack, and a question about leaves")
def stack(model):
    class Stacked(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            path = self.path_of_module(m)
            if self.is_leaf_module(m, path):
                return super().call_module(m, forward, args, kwargs)
            stack.append(path)
            try:
                return super().call_module(m, forward, args, kwargs)
            finally:
                stack.pop()

        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            node = super().create_node(kind, target, args, kwargs, name, type_expr)
            found[node] = stack[-1]
            return node

    stack, found = [""], {}
    Stacked().trace(model)
    return {node.name: path for node, path in found.items() if node.op != "output"}


@right("a note in meta")
def in_meta(model):
    class Noting(fx.Tracer):
        current = ""

        @contextlib.contextmanager
        def entered(self, path):
            before, self.current = self.current, path
            yield
            self.current = before

        def call_module(self, m, forward, args, kwargs):
            def run(*a, **k):
                with self.entered(self.path_of_module(m)):
                    return forward(*a, **k)

            return super().call_module(m, run, args, kwargs)

        def create_node(self, *args, **kwargs):
            node = super().create_node(*args, **kwargs)
            node.meta["where"] = self.current
            return node

    graph = Noting().trace(model)
    return {n.name: n.meta["where"] for n in graph.nodes if n.op != "output"}


@right("no call of super for modules")
def by_itself(model):
    class Own(PathTracer):
        def call_module(self, m, forward, args, kwargs):
            path = self.path_of_module(m)
            if self.is_leaf_module(m, path):
                return self.create_proxy("call_module", path, args, kwargs)
            outer = self.path
            self.path = path
            try:
                return forward(*args, **kwargs)
            finally:
                self.path = outer

    return traced_with(Own(), model)


@right("how many nodes there were before and after", debrief=True)
def by_count(model):
    spans = []

    class Counting(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            def run(*a, **k):
                first = len(self.graph.nodes)
                result = forward(*a, **k)
                spans.append((first, len(self.graph.nodes), self.path_of_module(m)))
                return result

            return super().call_module(m, run, args, kwargs)

    graph = Counting().trace(model)
    paths = [""] * len(graph.nodes)
    for first, last, path in reversed(spans):  # from outside to inside
        paths[first:last] = [path] * (last - first)
    return {n.name: p for n, p in zip(graph.nodes, paths, strict=True) if n.op != "output"}


@right("the scope of FX, noted inside of forward")
def scopes(model):
    class Scoped(PathTracer):
        def call_module(self, m, forward, args, kwargs):
            def inside(*a, **k):
                outer, self.path = self.path, self.scope.module_path
                try:
                    return forward(*a, **k)
                finally:
                    self.path = outer

            return fx.Tracer.call_module(self, m, inside, args, kwargs)

    tracer = Scoped()
    graph = tracer.trace(model)
    return OrderedDict((n.name, tracer.paths[n.name]) for n in graph.nodes if n.op != "output")


@right("the last of its names")
def last_name(model):
    names = {id(m): name for name, m in model.named_modules(remove_duplicate=False)}

    class Named(PathTracer):
        def call_module(self, m, forward, args, kwargs):
            def inside(*a, **k):
                outer, self.path = self.path, names[id(m)]
                try:
                    return forward(*a, **k)
                finally:
                    self.path = outer

            return fx.Tracer.call_module(self, m, inside, args, kwargs)

    return traced_with(Named(), model)


@right("one tracer for all calls, cleared before each")
def cleared(model):
    ONE.path, ONE.paths = "", {}
    return dict(traced_with(ONE, model))


ONE = PathTracer()


@right("all arguments of call_module recorded first")
def recorded_first(model):
    class Late(PathTracer):
        def call_module(self, m, forward, args, kwargs):
            args, kwargs = self.create_arg(args), self.create_arg(kwargs)
            proxies = fx.node.map_arg((args, kwargs), self.proxy)
            return super().call_module(m, forward, *proxies)

    paths = traced_with(Late(), model)
    names = {n.name for n in fx.Tracer().trace(model).nodes}
    return {name: path for name, path in paths.items() if name in names}


# ------------------------------------------------------------------ wrong


@wrong("a leaf's call belongs to the leaf", "wrong-path", clause="call-module")
def leaf_owns(model):
    class Leafy(PathTracer):
        def call_module(self, m, forward, args, kwargs):
            outer, self.path = self.path, self.path_of_module(m)
            try:
                return fx.Tracer.call_module(self, m, forward, args, kwargs)
            finally:
                self.path = outer

    return traced_with(Leafy(), model)


@wrong("the leaf's path cut off", "wrong-path")
def cut_off(model):
    class Cut(PathTracer):
        def note(self, node):
            super().note(node)
            if node.op == "call_module":
                self.paths[node.name] = node.target.rpartition(".")[0]

    return traced_with(Cut(), model)


@wrong("the path of the target", "wrong-path", clause="where-created")
def of_target(model):
    class Targets(PathTracer):
        def note(self, node):
            super().note(node)
            if node.op in ("call_module", "get_attr"):
                self.paths[node.name] = node.target.rpartition(".")[0]

    return traced_with(Targets(), model)


@wrong("parameters belong to their module", "wrong-path")
def parameters_at_home(model):
    class Home(PathTracer):
        def note(self, node):
            super().note(node)
            if node.op == "get_attr":
                self.paths[node.name] = node.target.rpartition(".")[0]

    return traced_with(Home(), model)


@wrong("only create_proxy", "missing-node")
def only_proxies(model):
    class Proxies(PathTracer):
        def create_proxy(self, *args, **kwargs):
            proxy = super().create_proxy(*args, **kwargs)
            PathTracer.note(self, proxy.node)
            return proxy

        def note(self, node):
            pass

    return traced_with(Proxies(), model)


@wrong("FX's stack of modules", "wrong-path")
def module_stack(model):
    gm = fx.symbolic_trace(model)
    found = {}
    for node in gm.graph.nodes:
        stack = [path for path, _ in node.meta.get("nn_module_stack", {}).values()]
        if node.op == "call_module":
            stack.pop()
        if node.op != "output":
            found[node.name] = stack[-1] if stack else ""
    return found


@wrong("the keys of FX's stack", "wrong-path")
def stack_keys(model):
    class Keys(PathTracer):
        def call_module(self, m, forward, args, kwargs):
            def inside(*a, **k):
                outer, self.path = self.path, next(reversed(self.module_stack))
                try:
                    return forward(*a, **k)
                finally:
                    self.path = outer

            return fx.Tracer.call_module(self, m, inside, args, kwargs)

    return traced_with(Keys(), model)


@wrong("FX's scope as it is", "wrong-path")
def scope_as_it_is(model):
    tracer = fx.Tracer()
    graph = tracer.trace(model)
    return {n.name: tracer.node_name_to_scope[n.name][0] for n in graph.nodes if n.op != "output"}


@wrong("FX's scope, one level up for leaves", "wrong-path")
def scope_up(model):
    class Up(fx.Tracer):
        def __init__(self):
            super().__init__()
            self.paths, self.callers = {}, [""]

        def call_module(self, m, forward, args, kwargs):
            self.callers.append(self.path_of_module(m))
            try:
                return super().call_module(m, forward, args, kwargs)
            finally:
                self.callers.pop()

        def create_node(self, kind, *args, **kwargs):
            node = super().create_node(kind, *args, **kwargs)
            if kind != "output":
                self.paths[node.name] = self.callers[-2 if kind == "call_module" else -1]
            return node

    return traced_with(Up(), model)


class NotPutBack(PathTracer):
    """Does not restore the path after a module."""

    def call_module(self, m, forward, args, kwargs):
        def inside(*a, **k):
            self.path = self.path_of_module(m)
            return forward(*a, **k)

        return fx.Tracer.call_module(self, m, inside, args, kwargs)


@wrong("the path is not put back", "wrong-path")
def not_put_back(model):
    return traced_with(NotPutBack(), model)


@wrong("back to the root at once", "wrong-path")
def back_to_root(model):
    class ToRoot(PathTracer):
        def call_module(self, m, forward, args, kwargs):
            def inside(*a, **k):
                self.path = self.path_of_module(m)
                try:
                    return forward(*a, **k)
                finally:
                    self.path = ""

            return fx.Tracer.call_module(self, m, inside, args, kwargs)

    return traced_with(ToRoot(), model)


@wrong("one dictionary for all tracers", "extra-key")
def class_dictionary(model):
    return traced_with(OneDictionary(), model)


class OneDictionary(PathTracer):
    kept: dict = {}

    def __init__(self):
        super().__init__()
        self.paths = self.kept


@wrong("one dictionary, cleared and handed out", "stale-state")
def handed_out(model):
    OneDictionary.kept.clear()
    return traced_with(OneDictionary(), model)


class Careless(PathTracer):
    """Restores the path only if the module does not raise."""

    def call_module(self, m, forward, args, kwargs):
        def inside(*a, **k):
            outer, self.path = self.path, self.path_of_module(m)
            result = forward(*a, **k)
            self.path = outer
            return result

        return fx.Tracer.call_module(self, m, inside, args, kwargs)


CARELESS = Careless()


@wrong("one tracer, which an error leaves inside", "wrong-path", clause="after-an-error")
def left_inside(model):
    CARELESS.paths = {}
    return traced_with(CARELESS, model)


@wrong("one stack for all tracers", "wrong-path", clause="two-models")
def one_stack(model):
    class Stacked(fx.Tracer):
        def call_module(self, m, forward, args, kwargs):
            path = self.path_of_module(m)
            if self.is_leaf_module(m, path):
                return super().call_module(m, forward, args, kwargs)
            STACK.append(path)
            result = super().call_module(m, forward, args, kwargs)
            STACK.pop()
            return result

        def create_node(self, *args, **kwargs):
            node = super().create_node(*args, **kwargs)
            found[node.name] = STACK[-1]
            return node

    found = {}
    Stacked().trace(model)
    found.pop("output")
    return found


STACK = [""]


@wrong("the output too", "lists-output", clause="output")
def with_output(model):
    class All(PathTracer):
        def note(self, node):
            self.paths[node.name] = self.path

    return traced_with(All(), model)


@wrong("the output is known by its usual name", "missing-node", clause="output")
def output_by_name(model):
    class ByName(PathTracer):
        def note(self, node):
            if node.name != "output":
                self.paths[node.name] = self.path

    return traced_with(ByName(), model)


@wrong("the module whose method runs, whatever it is called", "wrong-path", clause="where-created")
def by_frames(model):
    names = {id(m): name for name, m in model.named_modules()}

    class Frames(PathTracer):
        def note(self, node):
            super().note(node)
            at = sys._getframe()
            while node.op != "output" and at is not None:
                own, its = names.get(id(at.f_locals.get("self"))), at.f_code.co_filename
                if own is not None and "/torch/" not in its:
                    self.paths[node.name] = own
                    return
                at = at.f_back

    return traced_with(Frames(), model)


@wrong("without placeholders", "missing-node")
def no_placeholders(model):
    class Fewer(PathTracer):
        def note(self, node):
            if node.op != "placeholder":
                super().note(node)

    return traced_with(Fewer(), model)


@wrong("without get_attr nodes", "missing-node")
def no_attributes(model):
    class Fewer(PathTracer):
        def note(self, node):
            if node.op != "get_attr":
                super().note(node)

    return traced_with(Fewer(), model)


@wrong("only calls of leaves", "missing-node")
def only_leaves(model):
    class Fewer(PathTracer):
        def note(self, node):
            if node.op == "call_module":
                super().note(node)

    return traced_with(Fewer(), model)


@wrong("nodes as keys", "wrong-kind")
def node_keys(model):
    class Nodes(PathTracer):
        def note(self, node):
            if node.op != "output":
                self.paths[node] = self.path

    return traced_with(Nodes(), model)


@wrong("targets as keys", "missing-node")
def target_keys(model):
    class Targets(PathTracer):
        def note(self, node):
            if node.op != "output":
                self.paths[str(node.target)] = self.path

    return traced_with(Targets(), model)


@wrong("None for the root", "wrong-path", clause="root")
def none_for_root(model):
    return {name: path or None for name, path in inside(model).items()}


@wrong("the class of the root", "wrong-path")
def class_of_root(model):
    return {name: path or type(model).__name__ for name, path in inside(model).items()}


@wrong("classes in place of paths", "wrong-path")
def classes(model):
    modules = dict(model.named_modules())
    return {name: path and type(modules[path]).__name__ for name, path in inside(model).items()}


@wrong("only the last part of a path", "wrong-path")
def last_part(model):
    return {name: path.rpartition(".")[2] for name, path in inside(model).items()}


@wrong("only the first part of a path", "wrong-path")
def first_part(model):
    return {name: path.partition(".")[0] for name, path in inside(model).items()}


@wrong("guessed from the names", "wrong-path")
def guessed(model):
    paths = sorted((name for name, _ in model.named_modules()), key=len)
    return {
        node.name: next(
            (p for p in reversed(paths) if p and node.name.startswith(p.replace(".", "_"))), ""
        )
        for node in fx.Tracer().trace(model).nodes
        if node.op != "output"
    }


@wrong("only the first call counts", "wrong-path", clause="called-twice")
def first_call(model):
    seen = defaultdict(int)

    class Once(PathTracer):
        def call_module(self, m, forward, args, kwargs):
            seen[m] += 1
            if seen[m] > 1:
                return fx.Tracer.call_module(self, m, forward, args, kwargs)
            return super().call_module(m, forward, args, kwargs)

    return traced_with(Once(), model)


@wrong("every module a leaf", "missing-node")
def all_leaves(model):
    class Leaves(PathTracer):
        def is_leaf_module(self, m, path):
            return True

    return traced_with(Leaves(), model)


@wrong("no module a leaf", "missing-node")
def no_leaves(model):
    class Opened(PathTracer):
        def is_leaf_module(self, m, path):
            return isinstance(m, (nn.TransformerEncoderLayer,))

    return traced_with(Opened(), model)


@wrong("paths written on the modules", "caller-changed")
def on_modules(model):
    for name, module in model.named_modules():
        module.path = name
    return inside(model)


@wrong("a copy in eval mode traced", "missing-node")
def copy_in_eval(model):
    return inside(copy.deepcopy(model).eval())


@wrong("returns pairs", "wrong-kind")
def pairs(model):
    return list(inside(model).items())


@wrong("returns the tracer's notes and the graph", "wrong-kind")
def with_graph(model):
    tracer = PathTracer()
    graph = tracer.trace(model)
    return tracer.paths, torch.fx.GraphModule(model, graph)


@wrong("returns nothing", "returned-none")
def nothing(model):
    PathTracer().trace(model)


wrong("kept by the class of the model", "missing-node")(kept_by_class(inside))


@wrong("kept for each model", "missing-node", clause="two-models")
def kept_for_each_model(model):
    return KEPT.setdefault(model, inside(model))


KEPT: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


BEYOND = {
    "the output is known by its usual name": "nothing in a random model is called `output`",
    "kept for each model": "no random model is given twice",
    "kept by the class of the model": ONE_CLASS_EACH,
    "a copy in eval mode traced": "no module that is drawn branches on its mode",
}


RANDOM_MODELS_MAY_RAISE = "the task is about models that raise, too"
