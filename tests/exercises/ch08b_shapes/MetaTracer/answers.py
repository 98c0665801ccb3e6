"""Answers for `MetaTracer`."""

from __future__ import annotations

import copy
import dis
import operator
import sys

import torch
from torch import fx, nn
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

    def create_proxy(self, *args, **kwargs):
        return super().create_proxy(*args, **kwargs)

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


def decided(name):
    """A comparison with a fixed result."""

    def compare(self, other):
        value = self.tracer.values.get(self.node, NOTHING)
        if isinstance(value, int) and isinstance(other, int):
            self.tracer.note(self.node)
            return getattr(operator, name)(value, other)
        return getattr(fx.Proxy, f"__{name}__")(self, other)

    return compare


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
register(
    "only sizes and dtypes are attributes", "trace-raises", "iteration",
    asking(__getattr__=lambda self, name: (
        Attribute(self, name) if name in ("T", "mT") else KnownAttribute(self, name)
    )),
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
register(
    "comparisons are decided at once", "changed-graph", "unasked",
    asking(__gt__=decided("gt"), __ge__=decided("ge"), __lt__=decided("lt"), __eq__=decided("eq"),
           __hash__=object.__hash__),
)  # fmt: skip
register("x.shape is a size", "changed-graph", "unasked", asking(__getattr__=size_at_once))
register(
    "a loop over sizes gives numbers", "wrong-graph", "items-stay",
    asking(__iter__=numbers_of_sizes),
)  # fmt: skip


class Swept(Base):
    def trace(self, root, concrete_args=None):
        graph = super().trace(root, concrete_args)
        graph.eliminate_dead_code()
        return graph


register("dead code goes", "changed-graph", "unasked", Swept)
register("parameters are read as tensors", "changed-graph", "unasked",
         getattr=lambda self, attr, attr_val, cache: attr_val)  # fmt: skip


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


def only_parameters(self, module, args, kwargs):
    empty = {name: on_meta(tensor) for name, tensor in module.named_parameters()}
    return functional_call(module, empty, args, kwargs)


register("layers give nothing known", "trace-raises", "leaves", run_module=no_layers)
register("layers keep their real weights", "trace-raises", "leaves", run_module=as_it_is)
register("layers go to meta and back", "caller-changed", "common.caller-values",
         run_module=moved_and_back)  # fmt: skip


class Watched(Base):
    """FX sees the calls inside a layer that runs during the trace."""

    def call_module(self, m, forward, args, kwargs):
        return fx.Tracer.call_module(self, m, forward, args, kwargs)


register("calls inside of layers are traced", "trace-raises", "leaves", Watched)
register("parameters stay real", "trace-raises", "tensors", attribute=lambda self, tensor: tensor)


class ByProxy(Base):
    """Learn about a node when its Proxy is made; constants have none."""

    def create_node(self, *args, **kwargs):
        return fx.Tracer.create_node(self, *args, **kwargs)

    def proxy(self, node):
        self.learn(node)
        return Known(node, self)


register("constants have no Proxy", "trace-raises", "tensors", ByProxy)


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


register("zeros instead of meta tensors", "answered-unknown", "items", Real)


class RealExamples(Real):
    def example(self, node):
        return self.examples[node.target].detach().clone()

    def ask(self, node, question):
        self.note(node)
        if node not in self.values:
            raise TraceError("not known")
        return question(self.values[node])


register("the example's values answer", "answered-unknown", "values", RealExamples)


class SomeErrors(Base):
    def learn(self, node):
        self.aside = True
        try:
            with torch.no_grad(), torch.device("meta"):
                self.values[node] = self.value_of(node)
        except (NotImplementedError, KeyError):
            pass
        finally:
            self.aside = False


register("only NotImplementedError is caught", "trace-raises", "cannot-run", SomeErrors)


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


class StaysAside(Base):
    def learn(self, node):
        self.aside = True
        try:
            with torch.no_grad(), torch.device("meta"):
                self.values[node] = self.value_of(node)
            self.aside = False
        except Exception:
            pass


register("the switch is not put back", "changed-graph", "cannot-run", StaysAside)


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


class Sentinel(Base):
    """Pass on unknown values as a special object."""

    def learn(self, node):
        super().learn(node)
        self.values.setdefault(node, NOTHING)

    def value_of(self, node):
        try:
            return super().value_of(node)
        except NotImplementedError:
            return NOTHING


register("what is not known is not equal to anything", "answered-unknown", "no-example", Sentinel)


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
register("ValueError where there is no answer", "wrong-exception", "trace-error",
         ask=asks_with(ValueError))  # fmt: skip


def asks_meta(self, node, question):
    self.note(node)
    value = self.values.get(node, NOTHING)
    if value is NOTHING:
        raise TraceError("not known")
    return question(value)


register("a meta tensor is asked for its value", "wrong-exception", "values", ask=asks_meta)


def false_where_unknown(self, node, question):
    self.note(node)
    value = self.values.get(node, NOTHING)
    if value is NOTHING or (isinstance(value, torch.Tensor) and question is not len):
        return question([])
    return question(value)


register("no where nobody knows", "answered-unknown", "values", ask=false_where_unknown)
register("one more name each time", "assumed-twice", "assumed-once",
         note=lambda self, node: self.assumed.append(node.name))  # fmt: skip


def in_front(self, node):
    if node.name not in self.assumed:
        self.assumed.insert(0, node.name)


def again_at_the_end(self, node):
    self.assumed = [name for name in self.assumed if name != node.name] + [node.name]


def sorted_names(self, node):
    self.assumed = sorted({*self.assumed, node.name})


def what_it_reads(self, node):
    for each in node.all_input_nodes or [node]:
        if each.name not in self.assumed:
            self.assumed.append(each.name)


def nodes_themselves(self, node):
    if node not in self.assumed:
        self.assumed.append(node)


def by_target(self, node):
    name = str(getattr(node.target, "__name__", node.target))
    if name not in self.assumed:
        self.assumed.append(name)


register("the latest question first", "assumed-order", "assumed-order", note=in_front)
register("in the order of the last question", "assumed-order", "assumed-order",
         note=again_at_the_end)  # fmt: skip
register("sorted", "assumed-order", "assumed-order", note=sorted_names)
register("what the node reads", "assumed-extra", "assumed-nodes", note=what_it_reads)
register("nodes, not names", "assumed-kind", "assumed-kind", note=nodes_themselves)
register("names of operations", "assumed-missing", "assumed-nodes", note=by_target)


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


class NoSlices(Base):
    """Look for nodes in lists and tuples only."""

    def value_of(self, node):
        if any(isinstance(each, slice) and each.start is not None for each in node.args):
            raise LookupError("a slice")
        return super().value_of(node)


class NoKeywords(Base):
    def value_of(self, node):
        if any(isinstance(each, fx.Node) for each in node.kwargs.values()):
            raise LookupError("a node among the keywords")
        return super().value_of(node)


register("the whole trace is on meta", "no-data", "constants-real", AllOnMeta)
register("layers of the first root", "trace-raises", "roots", FirstRoot)
register("nodes in slices are not seen", "trace-raises", "nested", NoSlices)
register("nodes among keywords are not seen", "trace-raises", "nested", NoKeywords)


class InGraphOrder(Base):
    def trace(self, root, concrete_args=None):
        graph = super().trace(root, concrete_args)
        self.assumed = [node.name for node in graph.nodes if node.name in self.assumed]
        return graph


class ASet(Base):
    def trace(self, root, concrete_args=None):
        graph = super().trace(root, concrete_args)
        self.assumed = set(self.assumed)
        return graph


class NotesComparisons(Base):
    """Record each comparison when it is made."""

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        if target in (operator.gt, operator.ge, operator.eq, getattr):
            self.note(node)
        return node


class OnlyTruth(Base):
    """Record the questions of `bool` only."""

    def ask(self, node, question):
        before = list(self.assumed)
        answer = super().ask(node, question)
        if question is not bool:
            self.assumed = before
        return answer


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


class ValuesByName(Base):
    """Keep the values of an earlier trace."""

    def __init__(self, **examples):
        super().__init__(**examples)
        self.by_name = {}

    def learn(self, node):
        super().learn(node)
        if node in self.values:
            self.by_name[node.name] = self.values[node]

    def ask(self, node, question):
        if node.name in self.by_name:
            self.values.setdefault(node, self.by_name[node.name])
        return super().ask(node, question)


class OneMetaTensorEach(Base):
    """Make each meta tensor once; the model works on that tensor in every trace."""

    def __init__(self, **examples):
        super().__init__(**examples)
        self.made = {name: on_meta(example) for name, example in examples.items()}

    def example(self, node):
        return self.made[node.target]


class OfTheClass(Base):
    given = {}

    def __init__(self, **examples):
        super().__init__(**examples)
        self.given.clear()
        self.given.update(examples)

    def example(self, node):
        return on_meta(self.given[node.target])


class UsedUp(Base):
    """Remove an example when it is used."""

    def __init__(self, **examples):
        super().__init__(**examples)
        self.examples = dict(examples)

    def example(self, node):
        return on_meta(self.examples.pop(node.target))


class ByPlace(Base):
    """Use the first example for the first parameter."""

    def example(self, node):
        places = [n for n in self.graph.nodes if n.op == "placeholder"]
        return on_meta(list(self.examples.values())[places.index(node)])


register("in the order of the graph", "assumed-order", "assumed-order", InGraphOrder)
register("a set", "assumed-kind", "assumed-kind", ASet)
register("comparisons are noted when they are made", "assumed-extra", "assumed-nodes",
         NotesComparisons)  # fmt: skip
register("only bool notes", "assumed-missing", "assumed-nodes", OnlyTruth)
register("assumed goes on", "assumed-old", "anew", NotAnew)
register("one list for all tracers", "assumed-old", "anew", OneList)
register("values by the names of nodes", "wrong-exception", "anew", ValuesByName)
register("one meta tensor for all traces", "wrong-graph", "anew", OneMetaTensorEach)
register("the latest tracer's examples", "wrong-graph", "", OfTheClass)
register("each example serves once", "trace-raises", "roots", UsedUp)
register("examples by place", "wrong-graph", "by-name", ByPlace)
register("examples by the names of nodes", "trace-raises", "by-name",
         example=lambda self, node: on_meta(self.examples[node.name]))  # fmt: skip


def without_default(self, node):
    if node.args:
        raise LookupError("a default is no example")
    return on_meta(self.examples[node.target])


class OncePerLayer(Base):
    """Assume that a layer's result has the same shape in every call."""

    def trace(self, root, concrete_args=None):
        self.given = {}
        return super().trace(root, concrete_args)

    def run_module(self, module, args, kwargs):
        if module not in self.given:
            self.given[module] = super().run_module(module, args, kwargs)
        return self.given[module]


class OfTheRoot(Base):
    """Look up parameters by `getattr`, which does not accept dots."""

    def value_of(self, node):
        if node.op == "get_attr":
            return self.attribute(getattr(self.root, node.target))
        return super().value_of(node)


class AnewAtTheEnd(Base):
    """Clear the list only after a complete trace."""

    ended = True

    def trace(self, root, concrete_args=None):
        before = [] if self.ended else self.assumed
        self.values, self.assumed, self.ended = {}, before, False
        graph = fx.Tracer.trace(self, root, concrete_args)
        self.ended = True
        return graph


register("parameters with a default have no example", "trace-raises", "by-name",
         example=without_default)  # fmt: skip
register("each layer is run once", "wrong-graph", "leaves", OncePerLayer)
register("parameters of parts are not found", "trace-raises", "tensors", OfTheRoot)
register("assumed goes on after an error", "assumed-extra", "anew", AnewAtTheEnd)
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


class RunsLayers(Base):
    """Run layers for real, so they count batches and draw numbers."""

    def run_module(self, module, args, kwargs):
        real = fx.node.map_aggregate(
            (tuple(args), dict(kwargs)),
            lambda each: (
                torch.ones_like(each, device="cpu") if isinstance(each, torch.Tensor) else each
            ),
        )
        with torch.device("cpu"):
            return fx.node.map_aggregate(
                module(*real[0], **real[1]),
                lambda each: each.to("meta") if isinstance(each, torch.Tensor) else each,
            )


register("layers are run for real", "caller-changed", "common.caller-values", RunsLayers)


class Marks(Base):
    def trace(self, root, concrete_args=None):
        root.on_meta = True
        return super().trace(root, concrete_args)


register("the model is marked", "caller-changed", "common.caller-attributes", Marks)


class GivesAModule(Base):
    def trace(self, root, concrete_args=None):
        return fx.GraphModule(root, super().trace(root, concrete_args))


register("a GraphModule comes out of trace", "wrong-kind", "common.wrong-kind", GivesAModule)


@wrong("layers are run in float32", "trace-raises", clause="leaves")
class Singles(Base):
    def run_module(self, module, args, kwargs):
        return copy.deepcopy(module).to("meta", torch.float32)(*args, **kwargs)


@wrong("a layer's forward is run, without its hooks", "wrong-graph", clause="leaves")
class ForwardAlone(Base):
    def run_module(self, module, args, kwargs):
        return copy.deepcopy(module).to("meta").forward(*args, **kwargs)


@wrong("FX's own tracer", "trace-raises")
class Plain(fx.Tracer):
    def __init__(self, **examples):
        super().__init__()
        self.assumed = []


@wrong("no tracer", "wrong-kind", clause="common.wrong-kind")
class NoTracer(nn.Module):
    pass


@wrong("untouched", "not-attempted")
class Untouched(fx.Tracer):
    def __init__(self, **examples):
        raise NotImplementedError


BEYOND = {
    "only RuntimeError is caught": "all that a random model calls runs on meta tensors",
    "one meta tensor for all traces": "no random model changes the shape of an argument",
    "attributes are left to FX": "random models unpack no shapes",
    "a loop over sizes gives numbers": "nor do they loop over shapes",
    "only sizes and dtypes are attributes": "nor have they `x.T` or `x.mT`",
    "zeros instead of meta tensors": "random models ask for no values",
    "assumed goes on": "both traces of a random model ask the same",
    "assumed goes on after an error": "random models are traced without an error",
    "parameters with a default have no example": "no input of a random model has a default",
    "each layer is run once": "no layer of a random model is called with two shapes",
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
