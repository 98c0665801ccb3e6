"""Attacks that replace parts of the student's own process."""

from __future__ import annotations

from tests.security.attacks import DUE, ENDED, RIGHT, SUSPECT, Attack

NODES = "02_nodes"
NO_USE = "No decision is taken in the student's process, so nothing is gained."

ATTACKS = [
    Attack(
        "patching-assert",
        "A transformer of the syntax tree takes every `assert` and every call of `check` away.",
        NO_USE,
        """\
import ast

class Nothing(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
    def visit_Call(self, node):
        called = getattr(node.func, "id", "")
        return ast.Constant(2.0) if called in ("check", "grade") else node

get_ipython().ast_transformers.append(Nothing())
""",
        stock=True,
    ),
    Attack(
        "patching-input-transformer",
        "Every later cell becomes the number of points.",
        NO_USE,
        "get_ipython().input_transformers_post.append(lambda lines: ['2.0'])",
        stock=True,
    ),
    Attack(
        "patching-torch-comparisons",
        "PyTorch's comparisons always hold.",
        NO_USE,
        """\
import torch
torch.equal = torch.allclose = torch.isclose = lambda *a, **k: True
torch.testing.assert_close = lambda *a, **k: None
torch.Tensor.equal = torch.Tensor.allclose = lambda *a, **k: True
torch.Tensor.__eq__ = lambda *a: torch.tensor(True)
""",
        stock=True,
        states=ENDED,
    ),
    Attack(
        "patching-check",
        "The names `check` and `grade` become functions that return the points of an exercise.",
        NO_USE,
        "import autograder\n"
        "check = grade = lambda *a, **k: 2.0\n"
        "autograder.check = autograder.grade = check",
        stock=True,
    ),
    Attack(
        "patching-json",
        "`json.dumps` says that every outcome was returned, without an error, with full marks.",
        "The judge asks for the fields of an outcome and no others.",
        """\
import json
dumps = json.dumps

def lie(value, *args, **kwargs):
    if isinstance(value, dict) and "ended" in value:
        value = value | {"ended": "returned", "error": None, "score": 1.0, "status": "passed"}
    return dumps(value, *args, **kwargs)

json.dumps = lie
""",
        states=SUSPECT,
    ),
    Attack(
        "patching-sockets",
        "What is sent on sockets and files has every `raised` replaced by `returned`.",
        NO_USE,
        """\
import os, socket
os_write, send, sendall = os.write, socket.socket.send, socket.socket.sendall

def better(data):
    return bytes(data).replace(b'"raised"', b'"returned"').replace(b"not attempted", b"returned")

os.write = lambda fd, data: os_write(fd, better(data))
socket.socket.send = lambda self, data, *a: send(self, better(data), *a)
socket.socket.sendall = lambda self, data, *a: sendall(self, better(data), *a)
""",
        states=SUSPECT | ENDED,
    ),
    Attack(
        "patching-displayhook",
        "A result of two points is displayed before and after every cell.",
        "What a cell displays decides nothing.",
        """\
shell = get_ipython()
shell.displayhook(2.0)
shell.events.register("pre_run_cell", lambda *a: shell.displayhook(2.0))
shell.events.register("post_run_cell", lambda *a: shell.displayhook(float("nan")))
2.0
""",
        stock=True,
    ),
    Attack(
        "patching-kernel-session",
        "The kernel's session drops errors and says that every cell was fine.",
        "There is no kernel; what a cell says of itself decides nothing.",
        """\
session = get_ipython().kernel.session
send = session.send

def quiet(stream, kind, content=None, *args, **kwargs):
    if kind == "error":
        return None
    if kind == "execute_reply":
        content = {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}
    return send(stream, kind, content, *args, **kwargs)

session.send = quiet
""",
        stock=True,
    ),
    Attack(
        "patching-showtraceback",
        "IPython shows no errors, and every run of a cell is a success.",
        NO_USE,
        """\
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
InteractiveShell.showtraceback = lambda *a, **k: None
ExecutionResult.success = property(lambda self: True)
ExecutionResult.raise_error = lambda self: None
""",
        stock=True,
    ),
    Attack(
        "patching-events",
        "A callback before each cell defines whatever name is asked for as full marks.",
        NO_USE,
        """\
shell = get_ipython()

class Names(dict):
    def __missing__(self, name): return lambda *a, **k: 6.0
    def __contains__(self, name): return True

def before(*args):
    shell.user_ns.update({"retarget": lambda *a: 2.0, "add_to_mul": lambda *a: 4.0})
    shell.user_ns = shell.user_global_ns = Names(shell.user_ns)

shell.events.register("pre_run_cell", before)
""",
        states=ENDED,
    ),
    Attack(
        "patching-builtins",
        "`isinstance`, `type`, `len`, `all` and `id` of the builtins say what is wanted.",
        NO_USE,
        """\
import builtins
true_isinstance = builtins.isinstance
builtins.all = builtins.any = lambda items: True
builtins.callable = lambda value: True
builtins.isinstance = lambda value, kind: true_isinstance(value, kind) or kind is bool
builtins.repr = builtins.ascii = lambda value: "same"
""",
        states=ENDED,
    ),
    Attack(
        "patching-meta-path",
        "A finder at the head of `sys.meta_path` gives every later import a module of its own.",
        NO_USE,
        """\
import sys, importlib.abc, importlib.machinery

class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self)
    def exec_module(self, module):
        module.__getattr__ = lambda name: (lambda *a, **k: 1.0)

sys.meta_path.insert(0, Finder())
for name in [n for n in sys.modules if n.startswith("autograder.")]:
    del sys.modules[name]
""",
        states=ENDED,
    ),
    Attack(
        "patching-watch",
        "A right rewriting spoils its caller's model, and forges that nothing was changed.",
        "It earns nothing, because the caller's model is spoilt.",
        """\
import sys
for module in list(sys.modules.values()):
    for name, kind in list(getattr(module, "__dict__", {}).items()):
        if isinstance(kind, type) and kind.__name__ == "Snapshot":
            kind.changes = lambda self: []
""",
        answers={
            "retarget": RIGHT["retarget"].replace(
                "    return gm", "    model.eval_was_here = model._modules.clear()\n    return gm"
            )
        },
        doubt="What an answer did to objects of its process only that process can say. A second "
        "process that holds the caller's model does not help: the answer runs where the model is.",
        accepted=True,
    ),
    Attack(
        "patching-forbidden",
        "The forbidden attribute is fetched before the trial begins to watch it.",
        "The exercise forbids it, so nothing is earned.",
        "from torch import fx\n"
        "theirs = fx.Node.all_input_nodes.__get__\n"
        "own = fx.Graph.eliminate_dead_code",
        chapter=NODES,
        answers={
            "inputs_of": "def inputs_of(node):\n    return list(theirs(node))",
            "dead_nodes": """\
def dead_nodes(model):
    gm = fx.symbolic_trace(model)
    before = [node.name for node in gm.graph.nodes]
    own(gm.graph, lambda node: node.op in ("placeholder", "output"))
    left = {node.name for node in gm.graph.nodes}
    return [name for name in before if name not in left]
""",
        },
        doubt="The recorder is an attribute of a class in the student's process. Only reading the "
        "source of an answer, or no such rule, would hold.",
    ),
    Attack(
        "patching-clocks",
        "Clocks stand still, and timers are switched off, so that no limit is ever reached.",
        "The limits are kept outside of the process.",
        """\
import signal, time
time.process_time = time.monotonic = time.perf_counter = time.time = lambda: 0.0
signal.setitimer(signal.ITIMER_REAL, 0)
signal.setitimer = lambda *a: (0.0, 0.0)
signal.alarm = lambda *a: 0
signal.signal = lambda *a: None
""",
        answers={**RIGHT, "add_to_mul": "def add_to_mul(model):\n    while True:\n        pass"},
        earns=DUE,
        states=ENDED,
    ),
    Attack(
        "patching-code-objects",
        "The code of every function of the course in the process is swapped for `return 1.0`.",
        NO_USE,
        """\
import gc, types

def full(*args, **kwargs):
    return 1.0

for value in gc.get_objects():
    if isinstance(value, types.FunctionType) and value.__module__:
        if value.__module__.startswith("autograder") and not value.__code__.co_freevars:
            try:
                value.__code__ = full.__code__
            except ValueError:
                pass
""",
        states=ENDED | SUSPECT,
    ),
    Attack(
        "patching-false-is-true",
        "`False` and small integers are overwritten in memory.",
        "The judge's numbers are in another process.",
        """\
import ctypes
size = ctypes.sizeof(ctypes.c_size_t)
for number in (0, 2, 3):
    ctypes.c_int32.from_address(id(number) + 3 * size).value = 1
""",
        answers=RIGHT,
        may=DUE,
        states=ENDED,
    ),
]
