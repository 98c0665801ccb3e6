"""Draws described graphs, most of them nearly right, and inspects the values in the judge.

A graph is a handful of rows that fit together, on small tensors. Two thirds also have something
odd: a path along attributes, a name from some namespace, a lie about a shape, a cycle, a huge size.
Each is admitted or refused as in the judge, and evaluated there. Checks for each graph:

* each value, and all of its contents, have types on a short list;
* no file is opened; nothing is imported, compiled, executed, started or called (audit events);
* state that later graphs see (default types, threads, gradients) and the table of tensors stay;
* the graph ends by itself, or by the limits of its process.

``python -m tests.security.attacks.graph_fuzz --count 100000`` draws this many.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import mmap
import os
import pickle
import resource
import signal
import sys
import time
import types
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import torch
from torch import nn

from autograder.core.allowlist import function_of
from autograder.core.codec import Encoded
from autograder.speed.warm_up import import_late
from tests.security.attacks._evaluating import evaluated

BATCH = 1000
SECONDS = 10.0
"""Processor time of one graph, including the kernel's."""
MEMORY = 6 << 30
MANY = 5
"""Minimum number of nodes in a graph that counts as one that ran."""

# ------------------------------------------------------------------ allowed values

PLAIN = (
    torch.Tensor, nn.Parameter, bool, int, float, complex, str, bytes, type(None), type(...),
    torch.dtype, torch.device, torch.layout, torch.memory_format, torch.finfo, torch.iinfo,
    type(NotImplemented),
)  # fmt: skip
CONTAINERS = (
    list, tuple, dict, set, frozenset, slice, range, torch.Size,
    type({}.keys()), type({}.values()), type({}.items()),
)  # fmt: skip
_FINE = frozenset({*PLAIN, *CONTAINERS})
_EVENTS = (
    "open", "os.", "subprocess.", "exec", "compile", "import", "socket.", "ctypes.", "pickle.",
    "marshal.", "code.__new__", "sys._getframe", "gc.", "shutil.", "tempfile.", "urllib.",
    "object.__getattr__", "object.__setattr__", "function.__new__", "mmap.", "glob.",
)  # fmt: skip
_watching: list[str] | None = None


def strange(value: Any) -> str:
    """The name of the first forbidden type in a value; "" if there is none."""
    waiting, seen = [value], set()
    while waiting:
        value = waiting.pop()
        kind = type(value)
        if kind not in _FINE and kind.__module__ != "torch.return_types":
            return f"{kind.__module__}.{kind.__qualname__}"
        if kind in CONTAINERS or isinstance(value, tuple):
            if id(value) in seen or len(seen) > 10_000:
                continue
            seen.add(id(value))
            if kind is dict:
                waiting += [*value.keys(), *value.values()]
            elif kind is slice:
                waiting += [value.start, value.stop, value.step]
            elif kind is not range:
                waiting += list(value)[:1000]
    return ""


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if _watching is not None and event.startswith(_EVENTS) and len(_watching) < 3:
        _watching.append(f"{event} {args[:1]!r}"[:150])


def _state() -> tuple[Any, ...]:
    return (
        torch.get_default_dtype(), torch.get_num_threads(), torch.is_grad_enabled(),
        torch.are_deterministic_algorithms_enabled(), torch.get_default_device(),
        torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu"),
        torch.is_warn_always_enabled(), torch.is_anomaly_enabled(),
    )  # fmt: skip


# ------------------------------------------------------------------ names

_SPACES = (
    "torch", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch._C._nn", "torch.func",
    "torch.linalg", "torch.special", "torch.fft", "torch.utils.checkpoint", "torch.overrides",
    "torch.autograd", "torch.library", "torch.jit", "torch.hub", "torch.random", "torch.fx",
    "torch.sparse", "torch.serialization", "torch.ops.higher_order", "torch._C", "builtins",
    "operator", "math", "functools", "itertools", "os", "sys", "subprocess", "importlib", "pickle",
    "types", "io", "ctypes", "gc", "inspect", "torch.Tensor", "torch._tensor.Tensor",
)  # fmt: skip
_CLASS_SPACES = (
    "torch.nn.modules.activation", "torch.nn.modules.linear", "torch.nn.modules.module",
    "torch.nn.modules.container", "torch.nn.modules.lazy", "torch.nn.modules.normalization",
    "torch.nn.utils.parametrize", "torch.fx.graph_module", "torch.fx.interpreter",
    "torch.jit._script", "torch.nn.parallel.data_parallel",
    "autograder.exercises.ch02b_lint.wellformed.models_faults_elsewhere",
    "autograder.models.additions", "autograder.given", "autograder.core.graph_record",
)  # fmt: skip
WALKS = (
    "_modules _parameters _buffers forward training __dict__ __class__ __init__ named_parameters "
    "parameters modules children state_dict apply register_forward_hook _forward_hooks gi_frame "
    "f_builtins f_globals f_back f_locals __func__ __self__ __globals__ __builtins__ __code__ "
    "__closure__ grad_fn next_functions data grad __reduce_ex__ dump_patches add_module compile "
    "_compiled_call_impl _call_impl weight bias in_features T_destination named_modules values "
    "__subclasses__ __mro__ __base__ to share_memory type"
).split()


def _space(name: str) -> Any:
    root, *rest = name.split(".")
    found = importlib.import_module(root)
    for part in rest:
        found = getattr(found, part)
    return found


@functools.cache
def functions() -> tuple[str, ...]:
    """Names of functions; a graph may call few of them."""
    found = [
        f"{space}.{name}"
        for space in _SPACES
        for name in dir(_space(space))
        if callable(getattr(_space(space), name, None))
    ]
    schemas = sorted(torch._C._dispatch_get_all_op_names())
    aten = [name.removeprefix("aten::") for name in schemas if name.startswith("aten::")]
    return tuple(dict.fromkeys([*found, *(f"torch.ops.aten.{name}" for name in aten)]))


@functools.cache
def listed() -> tuple[str, ...]:
    """The names among these that are on the list of allowed functions."""

    def may(name: str) -> bool:
        try:
            return callable(function_of(name))
        except LookupError:
            return False

    return tuple(name for name in functions() if may(name))


@functools.cache
def methods() -> tuple[str, ...]:
    """Names of methods of tensors and of all other values in a graph."""
    kinds = (torch.Tensor, list, dict, str, tuple, set, int, nn.Module, types.FunctionType)
    return tuple(sorted({name for kind in kinds for name in dir(kind)}))


@functools.cache
def classes() -> tuple[str, ...]:
    """Names of classes, and of other members of modules that define module classes."""
    found = []
    for space in _CLASS_SPACES:
        module = importlib.import_module(space)
        found += [f"{space}.{n}" for n, v in vars(module).items() if isinstance(v, type)]
    return tuple(found)


# ------------------------------------------------------------------ drawing

SAFE = (
    ("torch.add", 2), ("torch.mul", 2), ("torch.sub", 2), ("torch.maximum", 2), ("torch.relu", 1),
    ("torch.sin", 1), ("torch.neg", 1), ("torch.abs", 1), ("torch.sigmoid", 1), ("torch.tanh", 1),
    ("torch.exp", 1), ("operator.add", 2), ("operator.mul", 2), ("operator.sub", 2),
    ("operator.neg", 1), ("torch.nn.functional.relu", 1), ("torch.nn.functional.gelu", 1),
    ("operator.iadd", 2), ("torch.clone", 1), ("torch.where", 3), ("torch.addcmul", 3),
)  # fmt: skip
SAFE_METHODS = "relu sigmoid neg abs clone contiguous sin cos exp float detach add_ mul_".split()
LAYERS = (
    ("torch.nn.modules.linear.Linear", ("weight", "bias"), {"in_features": 3, "out_features": 3}),
    ("torch.nn.modules.activation.ReLU", (), {"inplace": False}),
    ("torch.nn.modules.linear.Identity", (), {}),
    ("torch.nn.modules.activation.Sigmoid", (), {}),
)
HUGE = (2**31, 2**33, 2**40, 2**62, -1, 10**11, 2**64)


def fn(name: str) -> Encoded:
    """The encoding of a function, by its name."""
    return {"function": name}


class Draw:
    """One drawn graph: its rows, its modules, and the table of tensors."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.rows: list[Encoded] = []
        self.modules = [self.module("", "torch.nn.modules.module.Module")]
        self.tensors = [torch.ones(3, 3), torch.zeros(3), torch.ones(2, 3)]
        self.values: list[int] = []
        """Rows whose values are tensors of two rows and three columns."""

    def module(self, path: str, kind: str, **more: Any) -> Encoded:
        """A row of the table of modules."""
        return {
            "path": path, "class": kind, "training": False, "origin": None, "children": [],
            "attrs": {}, "params": {}, "buffers": {}, "tensors": {},
        } | more  # fmt: skip

    def row(self, op: str, target: Encoded, /, *args: Encoded, named: Encoded = None) -> int:
        """Append a row with these arguments; return its number."""
        self.rows.append({
            "op": op, "name": f"n{len(self.rows)}", "target": target, "args": {"tuple": [*args]},
            "args_type": "tuple", "kwargs": {"dict": [*map(list, (named or {}).items())]},
            "users": [], "inputs": [],
        })  # fmt: skip
        return len(self.rows) - 1

    def tensor(self) -> Encoded:
        """One of the values that are tensors."""
        return {"node": self.random.choice(self.values)}

    def entry(self, index: Any, **more: Any) -> Encoded:
        """Declare a tensor."""
        return {"tensor": index, "requires_grad": False, "origin": None} | more

    def graph(self) -> Encoded:
        """Draw the complete graph."""
        random = self.random
        self.values += [
            self.row(
                "placeholder",
                name,
            )
            for name in ("x", "y")
        ]
        if random.random() < 0.3:
            self.declare()
        for _ in range(random.randint(3, 8)):
            self.fitting()
        odd = random.random()
        if odd < 0.4:
            for _ in range(random.choice((1, 1, 2))):
                random.choice(ALMOST)(self)
        elif odd < 0.65:
            for _ in range(random.choice((1, 2, 3))):
                self.anything()
        self.row("output", "output", self.tensor())
        if odd > 0.97:
            self.break_something()
        return {
            "type": "torch.fx.graph_module.GraphModule", "owner": True, "codegen": "CodeGen",
            "nodes": self.rows, "modules": self.modules, "training": False,
            "code": "", "fresh_code": "", "lint": None, "signature": [], "unresolved": [],
        }  # fmt: skip

    def declare(self) -> str:
        """Declare a layer; return its path."""
        kind, tensors, attrs = self.random.choice(LAYERS)
        path = f"m{len(self.modules)}"
        params = {name: self.entry(i, requires_grad=True) for i, name in enumerate(tensors)}
        self.modules.append(self.module(path, kind, attrs=dict(attrs), params=params))
        self.modules[0]["children"].append(path)
        return path

    def fitting(self) -> None:
        """Append a row that fits the existing ones."""
        random, kind = self.random, self.random.random()
        if kind < 0.6:
            name, count = random.choice(SAFE)
            args = [self.tensor() for _ in range(count)]
            if name == "torch.where":
                args[0] = {"node": self.row("call_function", fn("torch.gt"), args[0], 0)}
            self.values.append(self.row("call_function", fn(name), *args))
        elif kind < 0.8:
            method = random.choice(SAFE_METHODS)
            args = [1] if method.endswith("_") else []
            own = {"node": self.row("call_method", "clone", self.tensor())}
            self.values.append(self.row("call_method", method, own, *args))
        elif kind < 0.9 and len(self.modules) > 1:
            path = random.choice(self.modules[1:])["path"]
            self.values.append(self.row("call_module", path, self.tensor()))
        elif kind < 0.95:
            shape = self.row("call_function", fn("builtins.getattr"), self.tensor(), "shape")
            size = self.row("call_function", fn("operator.getitem"), {"node": shape}, 0)
            self.values.append(
                self.row("call_function", fn("operator.mul"), self.tensor(), {"node": size})
            )
        else:
            both = {"list": [self.tensor(), self.tensor()]}
            made = self.row("call_function", fn("torch.stack"), both)
            self.values.append(self.row("call_function", fn("operator.getitem"), {"node": made}, 1))

    # -------------------------------------------------------------- possible faults

    def argument(self, depth: int = 0) -> Encoded:
        """Draw an arbitrary argument."""
        random, kind = self.random, self.random.randrange(22)
        if kind < 8 or depth > 3:
            return {"node": random.randrange(len(self.rows))}
        if kind < 11:
            return random.choice((0, 1, -1, 2, 3, 0.5, True, None, "mean", "sum", "x", ""))
        if kind < 14:
            key = random.choice(("list", "tuple", "set"))
            return {key: [self.argument(depth + 1) for _ in range(random.randrange(4))]}
        if kind == 14:
            return {"slice": [self.argument(depth + 1), None, None]}
        if kind == 15:
            return {"torch": random.choice(("float64", "int64", "bool", "strided", "uint8"))}
        if kind == 16:
            return {"dict": [["a", self.argument(depth + 1)]]}
        if kind == 17:
            return {"device": random.choice(("cpu", "meta"))}
        if kind == 18:
            return {"tensor": random.randrange(3)}
        if kind == 19:
            return fn(random.choice(("builtins.float", "torch.neg", "builtins.eval")))
        if kind == 20:
            return {"case": "f"} if random.random() < 0.5 else {"range": [0, 3, 1]}
        return random.choice(({"float": "nan"}, {"complex": ["1", "2"]}, {"ellipsis": 0}))

    def arguments(self) -> list[Encoded]:
        """Draw a few arguments, mostly with a tensor first."""
        first = [self.tensor()] if self.random.random() < 0.7 else []
        return first + [self.argument() for _ in range(self.random.choice((0, 0, 1, 1, 2, 3)))]

    def anything(self) -> None:
        """Append a row with an allowed operation and arbitrary arguments."""
        if self.random.random() < 0.75:
            self.row("call_function", fn(self.random.choice(listed())), *self.arguments())
        else:
            self.row("call_method", self.random.choice(methods()), *self.arguments())

    def walk(self, start: str) -> str:
        """A path that continues from a part along attributes."""
        steps = [self.random.choice(WALKS) for _ in range(self.random.choice((1, 1, 2, 3)))]
        return ".".join([start, *steps] if start else steps)

    def break_something(self) -> None:
        """Make one field of one row wrong."""
        row = self.random.choice(self.rows)
        field_ = self.random.choice(("op", "name", "target", "args", "kwargs"))
        wrong = (None, 0, "", [], {}, "x" * 300, {"tuple": 3}, {"dict": [[1, 2]]}, {"node": 0},
                 {"node": -1}, "lambda", "a b", {"list": [{"node": 99}]}, True)  # fmt: skip
        if self.random.random() < 0.1:
            del row[field_]
        else:
            row[field_] = self.random.choice(wrong)


ALMOST: list[Callable[[Draw], Any]] = []


def almost(draw: Callable[[Draw], Any]) -> Callable[[Draw], Any]:
    """Register a way to make a graph nearly right."""
    ALMOST.append(draw)
    return draw


@almost
def _(d: Draw) -> None:
    d.row("get_attr", d.walk(d.declare()))


@almost
def _(d: Draw) -> None:
    d.row("call_module", d.walk(d.declare()), *d.arguments()[: d.random.randrange(2)])


@almost
def _(d: Draw) -> None:
    """Change a table, and call the new entry."""
    path = d.declare()
    table = d.row("get_attr", f"{path}._modules")
    made = d.row("call_module", d.walk(path))
    d.row("call_function", fn("operator.setitem"), {"node": table}, "g", {"node": made})
    d.row("get_attr", d.walk(f"{path}.g"))
    d.row("call_module", f"{path}.g", d.argument())


@almost
def _(d: Draw) -> None:
    d.row("call_function", fn("builtins.getattr"), d.argument(), d.random.choice(
        (*WALKS, "shape", "dtype", "real", "T", "device", "is_cuda", "data")))  # fmt: skip


@almost
def _(d: Draw) -> None:
    d.row("call_function", fn(d.random.choice(functions())), *d.arguments())


@almost
def _(d: Draw) -> None:
    d.row("call_method", d.random.choice((*methods(), *WALKS)), *d.arguments())


@almost
def _(d: Draw) -> None:
    d.modules.append(d.module("k", d.random.choice(classes())))
    d.row(d.random.choice(("call_module", "get_attr")), "k", *d.arguments()[:1])


@almost
def _(d: Draw) -> None:
    path = d.declare()
    name = d.random.choice(WALKS)
    d.modules[-1]["attrs"] |= {name: d.argument(3)}
    d.row("call_module", path, d.tensor())


@almost
def _(d: Draw) -> None:
    """Name a declared part like a member that its class uses."""
    path = d.declare()
    kind = d.random.choice(("params", "buffers", "tensors", "children"))
    name = d.random.choice((*WALKS, "", "a.b", "9", "hidden"))
    if kind == "children":
        d.modules.append(d.module(f"{path}.{name}", "torch.nn.modules.linear.Identity"))
    else:
        d.modules[-1][kind] = {name: d.entry(2)}
    d.row("get_attr", f"{path}.{name}")


@almost
def _(d: Draw) -> None:
    """Lie about the table of tensors."""
    path = d.declare()
    wrong = (-1, 3, 10**9, True, "0", None, 1.0, [0])
    d.modules[-1]["buffers"] = {"b": d.entry(d.random.choice(wrong))}
    d.row("get_attr", f"{path}.b")


@almost
def _(d: Draw) -> None:
    """Change a tensor of the table in place."""
    path = d.declare()
    d.modules[-1]["buffers"] = {"b": d.entry(d.random.randrange(3))}
    part = d.row("get_attr", f"{path}.b")
    name = d.random.choice(("add_", "zero_", "t_", "resize_", "set_", "fill_", "requires_grad_"))
    d.row("call_method", name, {"node": part}, *[1] * d.random.randrange(2))


@almost
def _(d: Draw) -> None:
    """Let rows read later rows, themselves, or nothing."""
    at = len(d.rows)
    d.row(
        "call_function", fn("torch.neg"), {"node": d.random.choice((at, at + 1, -1, 99, True, "x"))}
    )


@almost
def _(d: Draw) -> None:
    """Declare modules that are the same as each other."""
    first, other = d.declare(), f"s{len(d.modules)}"
    d.modules.append({"path": other, "same_as": d.random.choice((other, "", first, "none", 3))})
    d.row("call_module", other, d.tensor())


@almost
def _(d: Draw) -> None:
    """Make a list that contains itself."""
    made = d.row("call_function", fn("builtins.list"), {"tuple": [1]})
    d.row("call_method", "append", {"node": made}, {"node": made})
    d.row("call_function", fn(d.random.choice(("builtins.len", "operator.eq", "builtins.sum"))),
          {"node": made}, *[{"node": made}] * d.random.randrange(2))  # fmt: skip


@almost
def _(d: Draw) -> None:
    """Nest arguments."""
    made: Encoded = d.argument()
    for _ in range(d.random.choice((5, 39, 41, 300))):
        made = {d.random.choice(("list", "tuple")): [made]}
    d.row("call_function", fn("builtins.len"), made)


@almost
def _(d: Draw) -> None:
    """Use a huge size."""
    size = d.random.choice(HUGE)
    name = d.random.choice(
        ("torch.ones", "torch.empty", "torch.zeros", "torch.arange", "torch.eye")
    )
    d.row("call_function", fn(f"torch.{name}"), size)


@almost
def _(d: Draw) -> None:
    """Use an unknown keyword, or one that sets the output."""
    name = d.random.choice(("out", "x=1, y", "__class__", "key", "file", "self", "lambda", "dtype"))
    d.row("call_function", fn(d.random.choice(("torch.add", "builtins.max", "builtins.print"))),
          d.tensor(), d.tensor(), named={name: d.argument()})  # fmt: skip


@almost
def _(d: Draw) -> None:
    """Call a row's value, or a function that is passed as a value."""
    target = d.random.choice(({"node": 0}, {"tensor": 0}, {"case": "g"}, {"unlisted": "os.system"},
                              {"list": [fn("torch.neg")]}, {"opaque": "f"}))  # fmt: skip
    d.row("call_function", target, d.tensor())


@almost
def _(d: Draw) -> None:
    d.row("call_function", fn(d.random.choice(("builtins.max", "builtins.min", "builtins.sorted"))),
          {"list": [1, 2]}, named={"key": fn("operator.neg")})  # fmt: skip


# ------------------------------------------------------------------ trying

WORDS = ("refused", "raised", "ran")


@dataclass
class Tally:
    """The results of many graphs.

    Attributes:
        drawn: the number of graphs.
        ends: the number of graphs that were refused, raised, or ran.
        many: the number that were admitted and evaluated with `MANY` nodes or more.
        stopped: the number that the limits of their process ended.
        seconds: the duration.
        found: forbidden values and events, by the seed of the graph.
    """

    drawn: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    many: int = 0
    stopped: int = 0
    seconds: float = 0.0
    found: list[tuple[int, str]] = field(default_factory=list)

    def __str__(self) -> str:
        ends = ", ".join(f"{word} {self.ends[word]:,}" for word in WORDS)
        return (
            f"graphs {self.drawn:,}: {ends}; admitted and run with {MANY} nodes or more "
            f"{self.many:,}; ended by bounds {self.stopped}; found {len(self.found)}; "
            f"{self.drawn / max(self.seconds, 1e-9):.0f} a second"
        )


def look(seed: int) -> tuple[str, int, list[str]]:
    """Draw and evaluate a graph; return the result, the number of nodes, and the violations."""
    global _watching
    draw = Draw(seed)
    data = draw.graph()
    before = [tensor.clone() for tensor in draw.tensors]
    inputs = torch.ones(2, 3), torch.full((2, 3), 0.5)
    state, events, seen, kinds = _state(), [], 0, []

    def see(value: Any) -> None:
        nonlocal seen
        seen += 1
        if kind := strange(value):
            kinds.append(f"a value of type {kind}")

    _watching = events
    try:
        word = evaluated(data, draw.tensors, {"f": lambda value: value}, inputs, see)
    finally:
        _watching = None
    found = kinds + [f"the event {event}" for event in events]
    if _state() != state:
        found.append(f"what later graphs meet was changed: {_state()}")
    for old, new in zip(before, draw.tensors, strict=True):
        if old.shape != new.shape or not torch.equal(old, new):
            found.append("the table of tensors was changed")
    return word, seen, found


def _child(seeds: range, at: mmap.mmap, into: int) -> None:
    """Inspect graphs one after the other, with the progress in shared memory."""
    sys.addaudithook(_audit)
    warnings.simplefilter("ignore")  # as in grading a class; showing a warning reads the source
    sys.setrecursionlimit(1000)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    rows = []
    for seed in seeds:
        at[:8] = seed.to_bytes(8, "little")
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        row = look(seed)
        signal.setitimer(signal.ITIMER_PROF, 0)
        rows.append((seed, *row))
    with os.fdopen(into, "wb") as file:
        pickle.dump(rows, file)


def _batch(seeds: range, tally: Tally) -> None:
    """Inspect graphs in a child process; start a new one after a graph that ended it."""
    at = mmap.mmap(-1, 8)
    while seeds:
        out, into = os.pipe()
        if (pid := os.fork()) == 0:
            try:
                os.close(out)
                _child(seeds, at, into)
            finally:
                os._exit(0)
        os.close(into)
        with os.fdopen(out, "rb") as file:
            sent = file.read()
        _, status = os.waitpid(pid, 0)
        if sent:
            for seed, word, seen, found in pickle.loads(sent):
                tally.drawn += 1
                tally.ends[word] += 1
                tally.many += word != "refused" and seen >= MANY
                tally.found += [(seed, text) for text in found]
            return
        last = int.from_bytes(at[:8], "little")
        ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        if ended in (signal.SIGPROF, signal.SIGKILL):
            tally.stopped += 1
        else:
            tally.found.append((last, f"its process ended ({status})"))
        tally.drawn += 1
        _batch(range(seeds.start, last), tally)
        seeds = range(last + 1, seeds.stop)


def fuzz(count: int, start: int = 0, say: Callable[[str], None] = lambda text: None) -> Tally:
    """Inspect this many graphs, starting at this seed."""
    for names in (listed, methods, classes):  # a graph must not cause their imports
        names()
    import_late()
    tally, begin = Tally(), time.monotonic()
    for first in range(start, start + count, BATCH):
        _batch(range(first, min(first + BATCH, start + count)), tally)
        tally.seconds = time.monotonic() - begin
        if (first // BATCH) % 20 == 19:
            say(str(tally))
    return tally


def main() -> int:
    """Inspect many graphs; return 1 if there are violations."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.security.attacks.graph_fuzz", description=__doc__
    )
    parser.add_argument("--count", type=int, default=100_000, help="how many graphs")
    parser.add_argument("--start", type=int, default=0, help="the first one's seed")
    options = parser.parse_args()
    tally = fuzz(options.count, options.start, print)
    for seed, text in tally.found[:50]:
        print(f"graph {seed}: {text}")
    print(tally)
    return int(bool(tally.found))


if __name__ == "__main__":
    sys.exit(main())
