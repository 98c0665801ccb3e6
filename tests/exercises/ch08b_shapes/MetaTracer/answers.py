"""Answers for `MetaTracer`."""

from __future__ import annotations

import copy
import dis
import operator
import sys

import torch
from torch import fx
from torch.func import functional_call
from torch.fx.proxy import Attribute, TraceError

from tests.exercises import right, wrong

NOTHING = object()


class Base(fx.Tracer):
    """The solution in small parts, so that a wrong answer can differ in one of them."""

    def __init__(self, **examples):
        super().__init__()
        self.examples = examples
        self.values, self.assumed, self.aside = {}, [], False

    def trace(self, root, concrete_args=None):
        self.values, self.assumed = {}, []
        return super().trace(root, concrete_args)

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        self.learn(node)
        return node

    def learn(self, node):
        self.aside = True
        try:
            with torch.no_grad(), torch.device("meta"):
                self.values[node] = self.value_of(node)
        except Exception:
            pass
        finally:
            self.aside = False

    def value_of(self, node):
        if node.op == "placeholder":
            return self.example(node)
        if node.op == "get_attr":
            return self.attribute(operator.attrgetter(node.target)(self.root))
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), self.values.__getitem__)
        if node.op == "call_module":
            return self.run_module(self.root.get_submodule(node.target), args, kwargs)
        if node.op == "call_method":
            return getattr(args[0], node.target)(*args[1:], **kwargs)
        return node.target(*args, **kwargs)

    def example(self, node):
        return on_meta(self.examples[node.target])

    def attribute(self, tensor):
        return on_meta(tensor)

    def run_module(self, module, args, kwargs):
        return copy.deepcopy(module).to("meta")(*args, **kwargs)

    def call_module(self, m, forward, args, kwargs):
        if self.aside:
            return forward(*args, **kwargs)
        return super().call_module(m, forward, args, kwargs)

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        return attr_val if self.aside else super().getattr(attr, attr_val, parameter_proxy_cache)

    def note(self, node):
        if node.name not in self.assumed:
            self.assumed.append(node.name)

    def ask(self, node, question):
        self.note(node)
        value = self.values.get(node, NOTHING)
        if value is NOTHING or (isinstance(value, torch.Tensor) and question is not len):
            raise TraceError(f"nothing is known about {node.name}")
        return question(value)

    def proxy(self, node):
        return Known(node, self)


def on_meta(tensor):
    return torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")


class Known(fx.Proxy):
    def __getattr__(self, name):
        return KnownAttribute(self, name)

    def __len__(self):
        return self.tracer.ask(self.node, len)

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __bool__(self):
        return self.tracer.ask(self.node, bool)

    def __int__(self):
        return self.tracer.ask(self.node, int)

    def __index__(self):
        return self.tracer.ask(self.node, operator.index)


class KnownAttribute(Known, Attribute):
    pass


@right("values are kept by node, copies of layers go to meta")
class ByNode(Base):
    pass


class OnMeta(fx.Interpreter):
    """Run the graph so far; values that cannot be computed, and all their readers, are unknown."""

    def __init__(self, module, graph, examples, root):
        super().__init__(module, garbage_collect_values=False, graph=graph)
        self.examples, self.root = examples, root

    def run_node(self, n):
        if any(self.env[each] is NOTHING for each in n.all_input_nodes):
            return NOTHING
        try:
            return super().run_node(n)
        except Exception:
            return NOTHING

    def placeholder(self, target, args, kwargs):
        shape, dtype = self.examples[target]
        return torch.empty(shape, dtype=dtype, device="meta")

    def get_attr(self, target, args, kwargs):
        return operator.attrgetter(target)(self.root).to("meta")


@right("the graph so far is run when a question comes", debrief=True)
class Lazy(fx.Tracer):
    def __init__(self, **examples):
        super().__init__()
        self.examples = {name: (each.shape, each.dtype) for name, each in examples.items()}
        self.assumed = []
        self.running = False

    def trace(self, root, concrete_args=None):
        self.assumed = []
        self.twin = copy.deepcopy(root).to("meta")
        return super().trace(root, concrete_args)

    def proxy(self, node):
        return LazyProxy(node, self)

    def call_module(self, m, forward, args, kwargs):
        if self.running:
            return forward(*args, **kwargs)
        return super().call_module(m, forward, args, kwargs)

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        if self.running:
            return attr_val
        return super().getattr(attr, attr_val, parameter_proxy_cache)

    def value(self, node):
        run = OnMeta(self.twin, self.graph, self.examples, self.root)
        self.running = True
        try:
            with torch.no_grad(), torch.device("meta"):
                run.run()
        finally:
            self.running = False
        return run.env[node]

    def answer(self, proxy, question):
        node = proxy.node
        self.assumed = list(dict.fromkeys([*self.assumed, node.name]))
        value = self.value(node)
        if value is NOTHING:
            raise TraceError("unknown")
        if question is not len and isinstance(value, torch.Tensor):
            raise TraceError("a value")
        return question(value)

    def to_bool(self, obj):
        return self.answer(obj, bool)

    def iter(self, obj):
        return (obj[i] for i in range(self.answer(obj, len)))


class LazyProxy(fx.Proxy):
    def __getattr__(self, k):
        return LazyAttribute(self, k)

    def __iter__(self):
        return self.tracer.iter(self)

    def __len__(self):
        return self.tracer.answer(self, len)

    def __index__(self):
        return self.tracer.answer(self, int)


class LazyAttribute(LazyProxy, Attribute):
    pass


def method(question):
    """A method of a Proxy that asks this."""

    def asked(self):
        tracer, node = self.tracer, self.node
        tracer.asked.setdefault(node.name)
        match self.known:
            case (False, _):
                raise TraceError(f"{node.name} is not known")
            case (True, torch.Tensor()) if question is not len:
                raise TraceError(f"the value of {node.name} is not known")
            case (True, value):
                return question(value)

    return asked


class Knows(fx.Proxy):
    """A Proxy whose methods are made from questions."""

    __len__, __bool__, __int__ = method(len), method(bool), method(int)
    __index__ = method(operator.index)

    def __init__(self, node, tracer, known):
        super().__init__(node, tracer)
        self.known = known

    def __getattr__(self, k):
        return KnowsAttribute(self, k)

    def __iter__(self):
        count = len(self)
        if isinstance(self.known[1], torch.Tensor):
            rows = self.unbind(0)
            return iter([rows[i] for i in range(count)])
        return iter(tuple(self[i] for i in range(count)))


class KnowsAttribute(Knows, Attribute):
    def __init__(self, root, attr):
        Attribute.__init__(self, root, attr)

    @property
    def known(self):
        node = self.node
        return self.tracer.values[node.name]


@right("known where a Proxy is made; rows by unbind; layers by functional_call")
class FunctionalCall(fx.Tracer):
    def __init__(self, **examples):
        super().__init__()
        self.given = dict(examples)
        self.asked, self.values, self.quiet = {}, {}, 0

    @property
    def assumed(self):
        return list(self.asked)

    def trace(self, root, concrete_args=None):
        self.asked, self.values, self.quiet = {}, {}, 0
        return super().trace(root, concrete_args)

    def proxy(self, node):
        return Knows(node, self, self.find_out(node))

    def find_out(self, node):
        if node.name not in self.values:
            state = torch.get_rng_state()
            self.quiet += 1
            try:
                self.values[node.name] = (True, self.work_out(node))
            except Exception:
                self.values[node.name] = (False, None)
            finally:
                self.quiet -= 1
                torch.set_rng_state(state)
        return self.values[node.name]

    def read(self, node):
        known, value = self.find_out(node)
        if not known:
            raise LookupError(node.name)
        return value

    @torch.no_grad()
    def work_out(self, node):
        if node.op == "placeholder":
            given = self.given[node.target]
            return torch.empty_like(given, device="meta", requires_grad=False)
        if node.op == "get_attr":
            owner, _, name = node.target.rpartition(".")
            tensor = getattr(self.root.get_submodule(owner), name)
            return torch.empty_like(tensor, device="meta")
        args = fx.node.map_arg(node.args, self.read)
        kwargs = fx.node.map_arg(node.kwargs, self.read)
        match node.op:
            case "call_function":
                result = node.target(*args, **kwargs)
                if isinstance(result, torch.Tensor) and not result.is_meta:
                    result = result.to("meta")
                return result
            case "call_method":
                return getattr(type(args[0]), node.target)(*args, **kwargs)
            case "call_module":
                layer = self.root.get_submodule(node.target)
                tensors = {**dict(layer.named_parameters()), **dict(layer.named_buffers())}
                empty = {name: torch.empty_like(t, device="meta") for name, t in tensors.items()}
                return functional_call(layer, empty, args, kwargs)
        raise LookupError(node.op)

    def call_module(self, m, forward, args, kwargs):
        return (forward if self.quiet else self.recorded(m, forward))(*args, **kwargs)

    def recorded(self, m, forward):
        usual = super().call_module
        return lambda *args, **kwargs: usual(m, forward, args, kwargs)

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        if self.quiet:
            return attr_val
        return super().getattr(attr, attr_val, parameter_proxy_cache)


@right("fake tensors, kept in the meta of nodes")
class Fake(fx.Tracer):
    def __init__(self, **examples):
        super().__init__()
        self.examples, self.assumed, self.mode = examples, [], None

    def trace(self, root, concrete_args=None):
        from torch._subclasses.fake_tensor import FakeTensorMode

        self.assumed, self.mode, self.at_work = (
            [],
            FakeTensorMode(allow_non_fake_inputs=True),
            False,
        )
        return super().trace(root, concrete_args)

    def fake(self, tensor):
        with self.mode:
            return torch.empty(tensor.shape, dtype=tensor.dtype)

    def create_node(self, *args, **kwargs):
        node = super().create_node(*args, **kwargs)
        if node.op != "output":
            self.at_work = True
            try:
                with torch.no_grad():
                    node.meta["fake"] = self.run(node)
            except Exception:
                node.meta.pop("fake", None)
            self.at_work = False
        return node

    def run(self, node):
        if node.op == "placeholder":
            return self.fake(self.examples[node.target])
        if node.op == "get_attr":
            found = self.root
            for part in node.target.split("."):
                found = getattr(found, part)
            return self.fake(found)
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), lambda each: each.meta["fake"])
        if node.op == "call_module":
            layer = self.root.get_submodule(node.target)
            state = {name: self.fake(each) for name, each in layer.state_dict().items()}
            with self.mode:
                return functional_call(layer, state, args, kwargs)
        with self.mode:
            if node.op == "call_method":
                return getattr(args[0], node.target)(*args[1:], **kwargs)
            return node.target(*args, **kwargs)

    def call_module(self, m, forward, args, kwargs):
        if self.at_work:
            return forward(*args, **kwargs)
        return super().call_module(m, forward, args, kwargs)

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        return attr_val if self.at_work else super().getattr(attr, attr_val, parameter_proxy_cache)

    def proxy(self, node):
        return FakeProxy(node, self)


class FakeProxy(fx.Proxy):
    def __getattr__(self, k):
        return FakeAttribute(self, k)

    def look(self):
        node = self.node
        if node.name not in self.tracer.assumed:
            self.tracer.assumed += [node.name]
        if "fake" not in node.meta:
            raise TraceError("nobody knows")
        return node.meta["fake"]

    def number(self):
        value = self.look()
        if isinstance(value, torch.Tensor):
            raise TraceError("that is a value")
        return value

    def __len__(self):
        return len(self.look())

    def __iter__(self):
        for i in range(len(self)):
            yield self[i]

    def __bool__(self):
        return bool(self.number())

    def __int__(self):
        return int(self.number())

    def __index__(self):
        return self.number().__index__()


class FakeAttribute(FakeProxy, Attribute):
    pass


@right("whatever has no answer is a TraceError")
class WhateverFails(Base):
    def ask(self, node, question):
        if node.name not in self.assumed:
            self.assumed += (node.name,)
        try:
            value = self.values[node]
            if question is len:
                return value.__len__()
            assert not isinstance(value, torch.Tensor)
            return question(value)
        except Exception as error:
            raise TraceError(f"{node.name} has no answer") from error


# ------------------------------------------------------------------ wrong


def register(style, finding, clause, made=None, **changes):
    """Register a wrong answer: `Base` with some parts exchanged, or another class."""
    made = made or type("Made", (Base,), changes)
    made.__module__ = __name__
    wrong(style, finding, clause=clause)(made)


def asking(**methods):
    """`Base` with another Proxy."""

    class Other(Known):
        def __getattr__(self, name):
            return OtherAttribute(self, name)

    for name, each in methods.items():
        setattr(Other, name, each)

    class OtherAttribute(Other, Attribute):
        pass

    return type("Made", (Base,), {"proxy": lambda self, node: Other(node, self)})


def by_asking(self):
    return iter([self[i] for i in range(self.tracer.ask(self.node, len))])


def no_answer_to(*opcodes):
    """An `__iter__` that leaves the cases of these instructions to FX, which refuses."""

    def items(self):
        code = sys._getframe(1)
        instructions = {i.offset: i.opname for i in dis.get_instructions(code.f_code)}
        if instructions[code.f_lasti] in opcodes:
            return self.tracer.iter(self)
        return by_asking(self)

    return items


def names_by_fx(self):
    """Unpack `a, b = x` as FX does: as many items as there are names."""
    code = sys._getframe(1)
    instructions = {i.offset: i for i in dis.get_instructions(code.f_code)}
    found = instructions[code.f_lasti]
    if found.opname == "UNPACK_SEQUENCE":
        self.tracer.note(self.node)
        return iter([self[i] for i in range(found.argval)])
    return by_asking(self)


def numbers_of_sizes(self):
    node = self.node
    self.tracer.note(node)
    value = self.tracer.values.get(node, NOTHING)
    return iter(value) if isinstance(value, torch.Size) else by_asking(self)


def size_at_once(self, name):
    value = self.tracer.values.get(self.node, NOTHING)
    if name == "shape" and isinstance(value, torch.Tensor):
        return value.shape
    return KnownAttribute(self, name)


def unable(*names):
    """Treat the results of these functions as unknown."""

    def value_of(self, node):
        name = getattr(node.target, "__name__", str(node.target))
        if name in names or (name == "getattr" and node.args[1] in names):
            raise LookupError(name)
        return Base.value_of(self, node)

    return value_of


register(
    "len is left to FX", "trace-raises", "len", asking(__len__=fx.Proxy.__len__, __iter__=by_asking)
)
register(
    "one does not loop over a Proxy", "trace-raises", "iteration",
    asking(__iter__=no_answer_to("GET_ITER")),
)  # fmt: skip
register("no star", "trace-raises", "starred", asking(__iter__=no_answer_to("UNPACK_EX")))
register(
    "no splats", "trace-raises", "splats",
    asking(__iter__=no_answer_to("CALL_FUNCTION_EX", "LIST_EXTEND")),
)  # fmt: skip
register("no list", "trace-raises", "list", asking(__iter__=no_answer_to("CALL", "PRECALL")))
register(
    "as many items as there are names", "wrong-number-accepted", "wrong-number",
    asking(__iter__=names_by_fx),
)  # fmt: skip
register("no __index__", "trace-raises", "range", asking(__index__=None))


def refuses_int(self):
    raise TypeError("a Proxy is no number")


register("no __int__", "trace-raises", "int", asking(__int__=refuses_int))


def known_and_true(self, node, question):
    self.note(node)
    value = self.values.get(node)
    if isinstance(value, torch.Tensor) and question is not len:
        raise TraceError("a value")
    if not value and not isinstance(value, torch.Tensor):
        raise TraceError("not known")
    return question(value)


register("0 and False are not known", "trace-raises", "truth", ask=known_and_true)
register(
    "attributes are left to FX", "trace-raises", "unpacking",
    asking(__getattr__=lambda self, name: Attribute(self, name)),
)  # fmt: skip
register("no dim", "trace-raises", "dimensions", value_of=unable("dim", "ndim"))
register("no numel", "trace-raises", "numel", value_of=unable("numel"))
register("no dtype", "trace-raises", "dtype", value_of=unable("dtype"))
register(
    "is_floating_point forgotten", "trace-raises", "floating", value_of=unable("is_floating_point")
)


def identical(self, other):
    return self is other


register(
    "equal means the same Proxy", "wrong-graph", "comparisons",
    asking(__eq__=identical, __hash__=object.__hash__),
)  # fmt: skip
register("x.shape is a size", "changed-graph", "unasked", asking(__getattr__=size_at_once))
register(
    "a loop over sizes gives numbers", "wrong-graph", "items-stay",
    asking(__iter__=numbers_of_sizes),
)  # fmt: skip


def no_layers(self, module, args, kwargs):
    raise LookupError("a layer")


def as_it_is(self, module, args, kwargs):
    return module(*args, **kwargs)


def moved_and_back(self, module, args, kwargs):
    weights = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    try:
        return module.to("meta")(*args, **kwargs)
    finally:
        module.to_empty(device="cpu")
        module.load_state_dict(weights)
        for tensor in weights.values():
            tensor.zero_()


register("layers give nothing known", "trace-raises", "leaves", run_module=no_layers)
register("layers keep their real weights", "trace-raises", "leaves", run_module=as_it_is)
register("layers go to meta and back", "caller-changed", "common.caller-values",
         run_module=moved_and_back)  # fmt: skip


register("parameters stay real", "trace-raises", "tensors", attribute=lambda self, tensor: tensor)


class Real(Base):
    """Use zeros instead of meta tensors."""

    def learn(self, node):
        self.aside = True
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=[]):
                self.values[node] = self.value_of(node)
        except Exception:
            pass
        finally:
            self.aside = False

    def example(self, node):
        return torch.zeros(self.examples[node.target].shape, dtype=self.examples[node.target].dtype)

    def attribute(self, tensor):
        return tensor

    def run_module(self, module, args, kwargs):
        return copy.deepcopy(module)(*args, **kwargs)


class RealExamples(Real):
    def example(self, node):
        return self.examples[node.target].detach().clone()

    def ask(self, node, question):
        self.note(node)
        if node not in self.values:
            raise TraceError("not known")
        return question(self.values[node])


register("the example's values answer", "answered-unknown", "values", RealExamples)


class RuntimeErrors(Base):
    def learn(self, node):
        self.aside = node.op != "output"
        if not self.aside:
            return
        try:
            with torch.no_grad(), torch.device("meta"):
                self.values[node] = self.value_of(node)
        except (RuntimeError, KeyError):
            pass
        finally:
            self.aside = False


register("only RuntimeError is caught", "trace-raises", "cannot-run", RuntimeErrors)


def by_default(self, node):
    if node.target not in self.examples and node.args:
        return node.args[0]
    return on_meta(self.examples[node.target])


register("a default is an example", "answered-unknown", "default", example=by_default)


class AllNeeded(Base):
    def learn(self, node):
        if node.op == "placeholder" and node.target not in self.examples:
            raise TypeError(f"an example for {node.target} is missing")
        super().learn(node)


register("each parameter needs an example", "trace-raises", "no-example", AllNeeded)


def asks_with(kind):
    def ask(self, node, question):
        self.note(node)
        value = self.values.get(node, NOTHING)
        if value is NOTHING or (isinstance(value, torch.Tensor) and question is not len):
            raise kind(f"nothing is known about {node.name}")
        return question(value)

    return ask


register("RuntimeError where there is no answer", "wrong-exception", "trace-error",
         ask=asks_with(RuntimeError))  # fmt: skip


def asks_meta(self, node, question):
    self.note(node)
    value = self.values.get(node, NOTHING)
    if value is NOTHING:
        raise TraceError("not known")
    return question(value)


register("a meta tensor is asked for its value", "wrong-exception", "values", ask=asks_meta)


register("one more name each time", "assumed-twice", "assumed-once",
         note=lambda self, node: self.assumed.append(node.name))  # fmt: skip


def in_front(self, node):
    if node.name not in self.assumed:
        self.assumed.insert(0, node.name)


def what_it_reads(self, node):
    for each in node.all_input_nodes or [node]:
        if each.name not in self.assumed:
            self.assumed.append(each.name)


def nodes_themselves(self, node):
    if node not in self.assumed:
        self.assumed.append(node)


register("the latest question first", "assumed-order", "assumed-order", note=in_front)
register("what the node reads", "assumed-extra", "assumed-nodes", note=what_it_reads)
register("nodes, not names", "assumed-kind", "assumed-kind", note=nodes_themselves)


class AllOnMeta(Base):
    def trace(self, root, concrete_args=None):
        with torch.device("meta"):
            return super().trace(root, concrete_args)


class FirstRoot(Base):
    """Look up layers in the root of the first trace."""

    def trace(self, root, concrete_args=None):
        self.first = getattr(self, "first", root)
        return super().trace(root, concrete_args)

    def run_module(self, module, args, kwargs):
        path = next(path for path, each in self.root.named_modules() if each is module)
        return super().run_module(self.first.get_submodule(path), args, kwargs)


class NoKeywords(Base):
    def value_of(self, node):
        if any(isinstance(each, fx.Node) for each in node.kwargs.values()):
            raise LookupError("a node among the keywords")
        return super().value_of(node)


register("the whole trace is on meta", "no-data", "unasked", AllOnMeta)
register("layers of the first root", "trace-raises", "roots", FirstRoot)
register("nodes among keywords are not seen", "trace-raises", "common.keyword-calls", NoKeywords)


class NotAnew(Base):
    def trace(self, root, concrete_args=None):
        self.values = {}
        return fx.Tracer.trace(self, root, concrete_args)


class OneList(Base):
    noted = []

    def note(self, node):
        if node.name not in self.noted:
            self.noted.append(node.name)
        self.assumed = list(self.noted)


class ByPlace(Base):
    """Use the first example for the first parameter."""

    def example(self, node):
        places = [n for n in self.graph.nodes if n.op == "placeholder"]
        return on_meta(list(self.examples.values())[places.index(node)])


register("assumed goes on", "assumed-old", "anew", NotAnew)
register("one list for all tracers", "assumed-old", "anew", OneList)
register("examples by place", "wrong-graph", "by-name", ByPlace)


register("the example itself", "caller-changed", "examples-stay",
         example=lambda self, node: self.examples[node.target].to("meta"))  # fmt: skip


class WantsGradients(Base):
    def learn(self, node):
        self.aside = True
        try:
            with torch.device("meta"):
                self.values[node] = self.value_of(node)
        except Exception:
            pass
        finally:
            self.aside = False

    def example(self, node):
        given = self.examples[node.target]
        return on_meta(given).requires_grad_(given.requires_grad)


register("gradients are kept", "wrong-graph", "shape-and-dtype", WantsGradients)


def always_float32(self, node):
    return torch.empty(self.examples[node.target].shape, device="meta")


register("all examples are float32", "wrong-graph", "example-dtype", example=always_float32)


class Draws(Base):
    def learn(self, node):
        self.aside = True
        try:
            with torch.no_grad():
                self.values[node] = self.value_of(node)
        except Exception:
            pass
        finally:
            self.aside = False


register("numbers are drawn", "caller-changed", "random-state", Draws)


BEYOND = {
    "only RuntimeError is caught": "all that a random model calls runs on meta tensors",
    "attributes are left to FX": "random models unpack no shapes",
    "a loop over sizes gives numbers": "nor do they loop over shapes",
}


RANDOM_MODELS_MAY_RAISE = "the task is about models that raise, too"


DECIDES_NOTHING = [
    (
        r"runs\[\]\.forward\.value\.graph(\[\].*)?",
        "a branch leaves nodes behind that nobody reads; names count only where `assumed` is asked",
    ),
    (r"runs\[\]\.forward\.value\.assumed.*", "only the cases about it look at `assumed`"),
]
"""Places in an outcome that decide no points, and why."""
