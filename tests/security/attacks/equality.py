"""Objects that are equal to everything."""

from __future__ import annotations

from tests.security.attacks import ENDED, SUSPECT, Attack

START, NODES = "00_start", "02_nodes"
NOTHING = "Its plain form is compared, and that is not the right one."

EVERYTHING = """\
class Everything:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __len__(self): return 3
    def __iter__(self): return iter([self] * 3)
    def __getitem__(self, key): return self
    def __getattr__(self, name): return self
    def __call__(self, *args, **kwargs): return self
    __hash__ = object.__hash__

"""

ATTACKS = [
    Attack(
        "equality-answer",
        "The answer itself is an object that equals everything and does everything.",
        NOTHING,
        chapter=NODES,
        answers={name: f"{EVERYTHING}{name} = Everything()" for name in ("count_ops", "inputs_of")},
        stock=True,
    ),
    Attack(
        "equality-result",
        "The answer returns an object that equals everything.",
        NOTHING,
        chapter=START,
        answers={"node_names": f"{EVERYTHING}def node_names(model): return Everything()"},
        stock=True,
    ),
    Attack(
        "equality-str-subclass",
        "The answer returns a list of strings of a class of its own that equal every string.",
        NOTHING,
        chapter=START,
        answers={
            "node_names": """\
from torch import fx

class Name(str):
    def __eq__(self, other): return True
    def __str__(self): return "x"
    def __getitem__(self, key): return self
    __hash__ = str.__hash__

def node_names(model):
    return [Name("a") for _ in fx.symbolic_trace(model).graph.nodes]
"""
        },
        stock=True,
    ),
    Attack(
        "equality-changing-int",
        "The answer returns integers that are another number each time they are read.",
        NOTHING,
        chapter=NODES,
        answers={
            "count_ops": """\
import itertools
turn = itertools.count()

class Number(int):
    def __int__(self): return next(turn) % 3
    __index__ = __int__
    def __eq__(self, other): return True
    __hash__ = int.__hash__

OPS = "placeholder get_attr call_function call_method call_module output".split()

def count_ops(model):
    return {op: Number(7) for op in OPS}
"""
        },
    ),
    Attack(
        "equality-keys",
        "The answer returns a dictionary whose keys show as other keys, each one twice.",
        "Two keys that look the same are one dictionary too many.",
        chapter=NODES,
        answers={
            "count_ops": """\
class Key:
    def __init__(self, name): self.__name__ = repr(name)
    def __call__(self): pass

OPS = "placeholder get_attr call_function call_method call_module output".split()

def count_ops(model):
    return {Key(op): n for n in range(6) for op in OPS}
"""
        },
    ),
    Attack(
        "equality-lying-class",
        "The answer returns an object that says its class is `fx.GraphModule`.",
        "Nothing is earned by a class that is only claimed.",
        answers={
            "retarget": f"from torch import fx\n{EVERYTHING}"
            "class Fake(Everything):\n    __class__ = fx.GraphModule\n\n"
            "def retarget(model, old, new):\n    return Fake()"
        },
    ),
    Attack(
        "equality-tensor-subclass",
        "The graph's result is a tensor of a class of its own for which every comparison holds.",
        "The judge runs the graph itself; it does not do what is asked.",
        states=ENDED,
        answers={
            "add_to_mul": """\
import torch
from torch import fx

class Always(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in ("equal", "allclose", "eq", "isclose", "__eq__"):
            return torch.tensor(True)
        return super().__torch_function__(func, types, args, kwargs or {})

class Result(fx.GraphModule):
    def __call__(self, *args):
        return torch.zeros(2).as_subclass(Always)

def add_to_mul(model):
    gm = fx.symbolic_trace(model)
    return Result(gm, gm.graph)
"""
        },
        stock=True,
    ),
    Attack(
        "equality-endless-list",
        "The answer returns a list that goes on for ever when it is read.",
        "It ends by a limit, and costs only its exercise.",
        chapter=START,
        answers={
            "node_names": """\
class Endless(list):
    def __iter__(self):
        while True:
            yield "x"

def node_names(model):
    return Endless()
"""
        },
        states=SUSPECT | {"timed out", "out of memory", "crashed"},
    ),
]
