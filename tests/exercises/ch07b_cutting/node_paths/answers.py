"""Answers for `node_paths`."""

from __future__ import annotations

import contextlib
from collections import OrderedDict, defaultdict

from torch import fx

from tests.exercises import right, wrong


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


@wrong("the path of the target", "wrong-path", clause="where-created")
def of_target(model):
    class Targets(PathTracer):
        def note(self, node):
            super().note(node)
            if node.op in ("call_module", "get_attr"):
                self.paths[node.name] = node.target.rpartition(".")[0]

    return traced_with(Targets(), model)


@wrong("only create_proxy", "missing-node", clause="every-node")
def only_proxies(model):
    class Proxies(PathTracer):
        def create_proxy(self, *args, **kwargs):
            proxy = super().create_proxy(*args, **kwargs)
            PathTracer.note(self, proxy.node)
            return proxy

        def note(self, node):
            pass

    return traced_with(Proxies(), model)


@wrong("FX's stack of modules", "wrong-path", clause="leaf-buffer")
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


class NotPutBack(PathTracer):
    """Does not restore the path after a module."""

    def call_module(self, m, forward, args, kwargs):
        def inside(*a, **k):
            self.path = self.path_of_module(m)
            return forward(*a, **k)

        return fx.Tracer.call_module(self, m, inside, args, kwargs)


@wrong("the path is not put back", "wrong-path", clause="where-created")
def not_put_back(model):
    return traced_with(NotPutBack(), model)


@wrong("one dictionary for all tracers", "extra-key", clause="two-models")
def class_dictionary(model):
    return traced_with(OneDictionary(), model)


class OneDictionary(PathTracer):
    kept: dict = {}

    def __init__(self):
        super().__init__()
        self.paths = self.kept


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


@wrong("None for the root", "wrong-path", clause="root")
def none_for_root(model):
    return {name: path or None for name, path in inside(model).items()}


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


@wrong("paths written on the modules", "caller-changed", clause="common.caller-attributes")
def on_modules(model):
    for name, module in model.named_modules():
        module.path = name
    return inside(model)


BEYOND = {
    "the output is known by its usual name": "nothing in a random model is called `output`",
}


RANDOM_MODELS_MAY_RAISE = "the task is about models that raise, too"
