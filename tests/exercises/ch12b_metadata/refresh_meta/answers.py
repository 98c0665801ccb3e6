"""Answers to `refresh_meta`."""

from __future__ import annotations

import copy
import operator

import torch
from torch import fx, nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.utils import _pytree as pytree

from tests.exercises import right, wrong

FEW = "random models have none of these"
BEYOND = {
    "lists become tuples": FEW,
    "nested inputs stay real": FEW,
}
"""Wrong answers that random models cannot find, with the reason."""


def each_tensor(change, value):
    return pytree.tree_map_only(torch.Tensor, change, value)


def tensors_of(module):
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


class OnFakes(fx.Interpreter):
    """The structure of most answers: run on fake tensors, and record each value."""

    def __init__(self, gm, fake, note):
        super().__init__(gm)
        self.fake, self.note = fake, note

    def get_attr(self, target, args, kwargs):
        return each_tensor(self.fake, super().get_attr(target, args, kwargs))

    def call_module(self, target, args, kwargs):
        module = self.fetch_attr(target)
        state = each_tensor(self.fake, tensors_of(module))
        return torch.func.functional_call(module, state, args, kwargs)

    def run_node(self, n):
        value = super().run_node(n)
        self.note(n, value)
        return value


def kept(value):
    return each_tensor(torch.Tensor.detach, value)


def refresh(
    gm,
    inputs,
    *,
    mode=None,
    keep=kept,
    note=None,
    interpreter=OnFakes,
    when=lambda n, value: True,
):
    """The same structure; each step can be replaced."""
    mode = mode or FakeTensorMode()

    def write(n, value):
        if when(n, value):
            n.meta["val"] = keep(value)

    with mode:
        interpreter(gm, mode.from_tensor, note or write).run(*each_tensor(mode.from_tensor, inputs))


# ------------------------------------------------------------------ right


@right("an Interpreter on fakes, and detach")
def by_interpreter(gm, *inputs):
    refresh(gm, inputs)


class Whole(nn.Module):
    """Runs a graph module node by node, so that all of its tensors can be replaced at once."""

    def __init__(self, gm, note):
        super().__init__()
        self.gm, self.note = gm, note

    def forward(self, *inputs):
        outer = self

        class Noting(fx.Interpreter):
            def run_node(self, n):
                return outer.note(n, super().run_node(n))

        return Noting(self.gm).run(*inputs)


@right("all that the module holds is exchanged at once", debrief=True)
def by_functional_call(gm, *inputs):
    mode = FakeTensorMode()

    def note(n, value):
        n.meta["val"] = pytree.tree_map_only(
            torch.Tensor, lambda t: t.as_strided(t.shape, t.stride(), t.storage_offset()), value
        )
        return value

    whole = Whole(gm, note)
    state = {**dict(whole.named_parameters()), **dict(whole.named_buffers())}
    fakes = {name: mode.from_tensor(tensor) for name, tensor in state.items()}
    given = pytree.tree_map_only(torch.Tensor, mode.from_tensor, inputs)
    with mode, torch.no_grad():
        torch.func.functional_call(whole, fakes, given)


@right("by hand: values in a dictionary, tensors made like them")
def by_hand(gm, *inputs):
    mode = FakeTensorMode()
    values, given = {}, iter(inputs)

    def fake(value):
        if isinstance(value, torch.Tensor):
            return mode.from_tensor(value)
        if isinstance(value, dict):
            return {key: fake(item) for key, item in value.items()}
        if type(value) in (list, tuple):
            return type(value)(map(fake, value))
        return value

    def like(value):
        if isinstance(value, torch.Tensor):
            return torch.empty_strided(
                tuple(value.shape), value.stride(), dtype=value.dtype, device=value.device
            )
        if isinstance(value, dict):
            return {key: like(item) for key, item in value.items()}
        if isinstance(value, list):
            return [like(item) for item in value]
        return tuple(like(item) for item in value) if isinstance(value, tuple) else value

    def found(path):
        return operator.attrgetter(path)(gm) if path else gm

    with mode:
        for node in gm.graph.nodes:
            args, kwargs = fx.node.map_arg((node.args, node.kwargs), values.__getitem__)
            if node.op == "placeholder":
                value = next(given, None)
                value = fake(value) if value is not None else (args[0] if args else None)
            elif node.op == "get_attr":
                value = fake(found(node.target))
            elif node.op == "call_function":
                value = node.target(*args, **kwargs)
            elif node.op == "call_method":
                value = getattr(args[0], node.target)(*args[1:], **kwargs)
            elif node.op == "call_module":
                layer = gm.get_submodule(node.target)
                state = {**dict(layer.named_parameters()), **dict(layer.named_buffers())}
                state = {name: fake(tensor) for name, tensor in state.items()}
                value = torch.func.functional_call(layer, state, args, kwargs)
            else:
                break
            values[node] = value
            node.meta["val"] = like(value)


@right("FakeTensorProp on a copy that holds fakes; what it leaves out is filled in")
def by_prop(gm, *inputs):
    twin = copy.deepcopy(gm)
    mode = FakeTensorMode()
    for module in twin.modules():
        for store in (module._parameters, module._buffers):
            for name, tensor in list(store.items()):
                if tensor is not None:
                    setattr(module, name, mode.from_tensor(tensor))

    class Prop(FakeTensorProp):
        def run_node(self, n):
            n.meta.pop("val", None)
            result = super().run_node(n)
            if n.op != "output":
                n.meta["val"] = self.whole(n.meta.get("val"), result)
            return result

        def whole(self, noted, value):
            if isinstance(value, torch.Tensor):
                return noted
            if isinstance(value, dict):
                return {k: self.whole((noted or {}).get(k), v) for k, v in value.items()}
            if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
                parts = noted or [None] * len(value)
                items = [self.whole(a, b) for a, b in zip(parts, value, strict=True)]
                return items if isinstance(value, list) else tuple(items)
            return value

    given = pytree.tree_map_only(torch.Tensor, mode.from_tensor, inputs)
    Prop(twin, mode).propagate_dont_convert_inputs(*given)
    for old, new in zip(gm.graph.nodes, twin.graph.nodes, strict=True):
        if old.op != "output":
            old.meta["val"] = new.meta["val"]


@right("on meta tensors first, fakes are made of what they are")
def by_meta_tensors(gm, *inputs):
    def to_meta(tensor):
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")

    class OnMeta(fx.Interpreter):
        seen = {}

        def run_node(self, n):
            value = super().run_node(n)
            self.seen[n] = self.facts(value)
            return value

        def facts(self, value):
            if isinstance(value, torch.Tensor):
                return Facts(value.shape, value.stride(), value.dtype)
            if value == torch.device("meta") and isinstance(value, torch.device):
                return torch.device("cpu")
            if isinstance(value, dict):
                return {k: self.facts(v) for k, v in value.items()}
            if isinstance(value, list):
                return [self.facts(v) for v in value]
            return tuple(map(self.facts, value)) if isinstance(value, tuple) else value

    class Facts:
        def __init__(self, *all):
            self.all = all

        def tensor(self):
            shape, stride, dtype = self.all
            return torch.empty_strided(shape, stride, dtype=dtype)

    memo = {}

    def once(tensor):
        if id(tensor) not in memo:
            memo[id(tensor)] = to_meta(tensor)
        return memo[id(tensor)]

    runner = OnMeta(copy.deepcopy(gm).to("meta"))
    with torch.device("meta"):
        runner.run(*pytree.tree_map_only(torch.Tensor, once, inputs))
    with FakeTensorMode():
        for node, (known, facts) in zip(gm.graph.nodes, runner.seen.items(), strict=True):
            assert node.op == known.op
            if node.op != "output":
                node.meta["val"] = pytree.tree_map_only(Facts, Facts.tensor, facts)


@right("a generator of values, each noted before the next is worked out; the output, too")
def by_generator(gm, *inputs):
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    interpreter = fx.Interpreter(gm, garbage_collect_values=False)
    interpreter.args_iter = iter(each_tensor(mode.from_tensor, inputs))
    swaps = {}

    def values():
        for node in gm.graph.nodes:
            if node.op == "get_attr":
                interpreter.env[node] = mode.from_tensor(interpreter.fetch_attr(node.target))
            elif node.op == "call_module":
                if node.target not in swaps:
                    layer = interpreter.fetch_attr(node.target)
                    swaps[node.target] = layer, each_tensor(mode.from_tensor, tensors_of(layer))
                args, kwargs = interpreter.fetch_args_kwargs_from_env(node)
                interpreter.env[node] = torch.func.functional_call(
                    *swaps[node.target], args, kwargs
                )
            else:
                interpreter.env[node] = interpreter.run_node(node)
            yield node, interpreter.env[node]

    with torch.inference_mode(False), mode:
        for node, value in values():
            node.meta = {**node.meta, "val": kept(value)}


# ------------------------------------------------------------------ wrong


class Listing(fx.Interpreter):
    """Runs a copy, and lists the values."""

    def __init__(self, gm, keep):
        super().__init__(copy.deepcopy(gm))
        self.keep, self.values = keep, []

    def run_node(self, n):
        value = super().run_node(n)
        self.values.append(self.keep(value))
        return value

    def write_into(self, gm):
        for node, value in zip(gm.graph.nodes, self.values, strict=True):
            node.meta["val"] = value


@wrong("a run of a copy for real, noted as it is", "not-fake", clause="fake")
def really(gm, *inputs):
    runner = Listing(gm, lambda value: value)
    with torch.random.fork_rng(devices=[]):
        runner.run(*copy.deepcopy(inputs))
    runner.write_into(gm)


@wrong("a run of a copy for real, made fake afterwards", "crashed", clause="terabytes")
def really_then_fake(gm, *inputs):
    mode = FakeTensorMode()
    runner = Listing(gm, lambda value: each_tensor(lambda t: mode.from_tensor(t.detach()), value))
    with torch.random.fork_rng(devices=[]):
        runner.run(*copy.deepcopy(inputs))
    runner.write_into(gm)


@wrong("FakeTensorProp as it is", "missing-val", clause="as-they-are")
def prop(gm, *inputs):
    FakeTensorProp(gm, FakeTensorMode(allow_non_fake_inputs=True)).propagate(*inputs)


class Lax(OnFakes):
    """Call layers with the real tensors that they contain."""

    def call_module(self, target, args, kwargs):
        return fx.Interpreter.call_module(self, target, args, kwargs)


@wrong("layers keep their real buffers", "caller-changed", clause="buffers")
def counts_batches(gm, *inputs):
    refresh(gm, inputs, mode=FakeTensorMode(allow_non_fake_inputs=True), interpreter=Lax)


class RealAttributes(OnFakes):
    def get_attr(self, target, args, kwargs):
        return fx.Interpreter.get_attr(self, target, args, kwargs)


@wrong("attributes stay real", "not-fake", clause="fake")
def real_attributes(gm, *inputs):
    mode = FakeTensorMode(allow_non_fake_inputs=True)

    def keep(value):  # a real parameter has no fake twin to detach
        return each_tensor(lambda t: t.detach() if isinstance(t, FakeTensor) else t, value)

    refresh(gm, inputs, mode=mode, keep=keep, interpreter=RealAttributes)


@wrong("tensors that a layer's children hold stay real", "crashed", clause="layers")
def own_tensors_alone(gm, *inputs):
    class Flat(OnFakes):
        def call_module(self, target, args, kwargs):
            module = self.fetch_attr(target)
            own = {**module._parameters, **module._buffers}
            state = {name: self.fake(t) for name, t in own.items() if t is not None}
            return torch.func.functional_call(module, state, args, kwargs)

    refresh(gm, inputs, interpreter=Flat)


@wrong("the value itself is noted", "shows-later-change", clause="then")
def no_copy(gm, *inputs):
    refresh(gm, inputs, keep=lambda value: value)


@wrong("clones", "wrong-strides", clause="strides")
def clones(gm, *inputs):
    refresh(gm, inputs, keep=lambda value: each_tensor(torch.clone, value))


@wrong("empty tensors of the shape and strides, as floats", "wrong-dtype", clause="dtype")
def floats(gm, *inputs):
    def like(t):
        return torch.empty_strided(t.shape, t.stride())

    refresh(gm, inputs, keep=lambda value: each_tensor(like, value))


@wrong("on the device meta", "wrong-device", clause="device")
def on_meta(gm, *inputs):
    def like(t):
        return torch.empty_strided(t.shape, t.stride(), dtype=t.dtype, device="meta")

    refresh(gm, inputs, keep=lambda value: each_tensor(like, value))


@wrong("deep copies", "two-modes", clause="one-mode")
def deep_copies(gm, *inputs):
    def keep(value):
        return each_tensor(lambda t: copy.deepcopy(t.detach()), value)

    refresh(gm, inputs, keep=keep)


@wrong("a symbol for each size", "wrong-shape", clause="shape")
def symbols(gm, *inputs):
    mode = FakeTensorMode(shape_env=ShapeEnv())
    refresh(gm, inputs, mode=mode)


@wrong("nothing for inputs and attributes", "missing-val", clause="every")
def only_calls(gm, *inputs):
    refresh(gm, inputs, when=lambda n, value: n.op.startswith("call_"))


@wrong("of several values the first", "wrong-kind", clause="nested")
def first_only(gm, *inputs):
    def keep(value):
        several = isinstance(value, (tuple, list)) and not isinstance(value, torch.Size)
        return kept(value[0] if several else value)

    refresh(gm, inputs, keep=keep)


@wrong("lists become tuples", "wrong-kind", clause="nesting")
def tuples(gm, *inputs):
    def keep(value):
        if isinstance(value, (tuple, list)):
            return tuple(map(keep, value))
        if isinstance(value, dict):
            return {key: keep(item) for key, item in value.items()}
        return kept(value)

    refresh(gm, inputs, keep=keep)


@wrong("what was there is believed", "stale-val", clause="replaced")
def believes(gm, *inputs):
    refresh(gm, inputs, when=lambda n, value: "val" not in n.meta)


@wrong("meta is made anew", "meta-lost", clause="meta")
def new_meta(gm, *inputs):
    def note(n, value):
        n.meta = {"val": kept(value)}

    refresh(gm, inputs, note=note)


@wrong("a copy gets the values", "missing-val", clause="every")
def on_a_copy(gm, *inputs):
    refresh(copy.deepcopy(gm), inputs)


@wrong("eval first", "caller-changed", clause="unchanged")
def in_eval_mode(gm, *inputs):
    gm.eval()
    refresh(gm, inputs)


@wrong("the module comes back", "returns-something", clause="nothing")
def returns_the_module(gm, *inputs):
    refresh(gm, inputs)
    return gm


@wrong("inputs are placeholders, one by one", "crashed", clause="defaults")
def no_defaults(gm, *inputs):
    places = [n for n in gm.graph.nodes if n.op == "placeholder"]
    assert len(places) == len(inputs), "an input is missing"
    refresh(gm, inputs)


@wrong("keyword arguments are forgotten", "wrong-dtype", clause="keywords")
def no_keywords(gm, *inputs):
    class Positional(OnFakes):
        def call_function(self, target, args, kwargs):
            try:
                return target(*args)
            except TypeError:
                return super().call_function(target, args, kwargs)

    refresh(gm, inputs, interpreter=Positional)


@wrong("nested inputs stay real", "crashed", clause="nested-inputs")
def flat_inputs(gm, *inputs):
    mode = FakeTensorMode()

    def note(n, value):
        n.meta["val"] = kept(value)

    with mode:
        OnFakes(gm, mode.from_tensor, note).run(
            *(mode.from_tensor(x) if isinstance(x, torch.Tensor) else x for x in inputs)
        )


@wrong("the mode stays entered", "mode-left", clause="unchanged")
def stays_entered(gm, *inputs):
    mode = FakeTensorMode().__enter__()
    OnFakes(gm, mode.from_tensor, lambda n, value: n.meta.update(val=kept(value))).run(
        *each_tensor(mode.from_tensor, inputs)
    )


@wrong("seeded first", "random-changed", clause="unchanged")
def seeds(gm, *inputs):
    torch.manual_seed(0)
    refresh(gm, inputs)


@wrong("a mode for each value", "two-modes", clause="one-mode")
def many_modes(gm, *inputs):
    def keep(value):
        def in_its_own(t):
            with FakeTensorMode():
                return torch.empty_strided(t.shape, t.stride(), dtype=t.dtype, device=t.device)

        return each_tensor(in_its_own, value)

    refresh(gm, inputs, keep=keep)


RANDOM_MODELS_ARE_READ = (
    "its answers read a graph that may have values of terabytes, and do not run it"
)
