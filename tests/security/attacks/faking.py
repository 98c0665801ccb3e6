"""Forged outcomes: the student's process sends made-up results."""

from __future__ import annotations

from tests.security.attacks import DUE, ENDED, RIGHT, SUSPECT, Attack
from tests.security.attacks._forging import forging, forging_bytes, forging_graphs
from tests.support.submissions.answer_text import text_of
from tests.support.submissions.edits import add

START = "00_start"
CLAIM = "What was said is read as a claim, found unsound, and earns nothing."
NO_CODE = "Nothing that a description says is run in the judge but what is on its list."
STATES = SUSPECT | ENDED

HEADER = """\
import json
FIELDS = dict(case="two operations", ended="returned", error=None, value=None, runs=[], changed=[],
              used=[], printed="", tensors=[])

def framed(blob=b"", **fields):
    head = json.dumps(FIELDS | fields).encode()
    return len(head).to_bytes(8, "little") + head + blob
"""
TOUCH = "touch /tmp/fxcourse-pwned-faking"
TRIED = "Tried on this commit: it happens in the judge."
ADD_TO_MUL = text_of("add_to_mul", "operands exchanged")


def _bytes(name: str, tries: str, forged: str, must: str = CLAIM, **more: object) -> Attack:
    """An attacker who replaces the outcome of a stub with this one in every case."""
    answer = {"node_names": "def node_names(model):\n    return ['x']"}
    cell = forging_bytes(f"{HEADER}\ndef forged():\n{forged}")
    return Attack(name, tries, must, cell, START, answer, states=STATES, **more)


def _graph(
    name: str, tries: str, spoil: str, must: str = NO_CODE, doubt: str = "", most: float = 4
) -> Attack:
    """An attacker with a right answer whose graphs contain something else too.
    // The answer key of `add_to_mul` accepts other nodes until it runs the rebuilt graph.
    """
    cell = forging_graphs(f"def spoil(graph):\n{spoil}")
    answers, may = {"add_to_mul": ADD_TO_MUL}, {"add_to_mul": most}
    return Attack(name, tries, must, cell, answers=answers, may=may, states=STATES, doubt=doubt)


ATTACKS = [
    Attack(
        "faking-verdict",
        "Each outcome has fields for status, score and points, with full marks in them.",
        CLAIM,
        forging_bytes(
            HEADER
            + """\
def forged():
    return framed(score=1.0, status="passed", points=100, passed=True, shares=[1, 1])
"""
        ),
        states=STATES,
    ),
    _bytes(
        "faking-nan",
        "Values, scores and sizes are NaN and infinite.",
        "    return framed(value=float('nan'), runs=[float('inf')], printed=float('nan'))",
    ),
    _bytes(
        "faking-types",
        "Every field is of another type than it must be.",
        "    return framed(case=['x'], ended={}, error=7, value=[[]], runs='runs', changed=3,\n"
        "                  used={'a': 1}, printed=[1], tensors={})",
    ),
    _bytes(
        "faking-deep",
        "The value is nested 100,000 levels deep.",
        "    deep = '{\"list\": [' * 100_000 + '1' + ']}' * 100_000\n"
        "    head = json.dumps(FIELDS | {'value': 5}).replace('5', deep).encode()\n"
        "    return len(head).to_bytes(8, 'little') + head",
    ),
    _bytes(
        "faking-length",
        "A header says that it is 2**63 bytes long.",
        "    return (2**63).to_bytes(8, 'little') + b'{}'",
    ),
    _bytes(
        "faking-shapes",
        "Tensors have shapes that do not fit, are negative, or overflow.",
        "    rows = [dict(dtype='float32', shape=s, bytes=8) for s in\n"
        "            ([2**62, 2**62], [-2, -1], [2**40, 0, 2**40], [True, 2], [[2]], 'ab')]\n"
        "    return framed(b'x' * 48, value={'tensor': 0}, tensors=rows)",
    ),
    _bytes(
        "faking-sizes",
        "Tensors say that they have a negative or fractional number of bytes.",
        "    rows = [dict(dtype='uint8', shape=[4], bytes=n) for n in (-1, 4.9, '4', -2**70, 4)]\n"
        "    return framed(b'x' * 64, value={'tensor': 0}, tensors=rows)",
    ),
    _bytes(
        "faking-quantized",
        "Tensors are of quantized types, for which reading raw bytes fails hard.",
        "    kinds = 'quint8 qint8 qint32 quint4x2 quint2x4 bits8 uint1'.split()\n"
        "    rows = [dict(dtype=k, shape=[4], bytes=4) for k in kinds]\n"
        "    return framed(b'x' * 64, value={'tensor': 0}, tensors=rows)",
        "The judge does not end; the outcome is unsound.",
        doubt="`tensor_from_bytes` takes any dtype of torch; five of them end the process.",
    ),
    _bytes(
        "faking-card",
        "Messages, names and what was printed are HTML with a script.",
        "    text = '<script>FXPAGE()</script><img src=x onerror=\"FXPAGE()\">'\n"
        "    error = dict(type=text, types=[text], message=text, says=text, line=1, text=text)\n"
        "    return framed(ended='raised', error=error, printed=text, changed=[text], used=[text])",
        "It is shown as text.",
    ),
    _bytes(
        "faking-pickle",
        "In place of an outcome, a pickle is sent that runs a command.",
        "    import os, pickle\n"
        "    class Payload:\n"
        "        def __reduce__(self):\n"
        "            return os.system, ('touch /tmp/fxcourse-pwned-faking-pickle',)\n"
        "    return pickle.dumps(Payload())",
        "Nothing is unpickled.",
    ),
    Attack(
        "faking-endless",
        "An outcome is written that never ends.",
        "Reading stops at a limit; the rest of the class goes on.",
        forging_bytes(
            HEADER
            + """\
import sys, threading

def forged():
    return framed(printed="x" * 60_000_000) * 40
"""
        ),
        answers=RIGHT,
        may=DUE,
        states=STATES,
    ),
    Attack(
        "faking-trickle",
        "An outcome is written one byte a second.",
        "A limit on waiting ends it; the rest of the class goes on.",
        forging(
            """\
import time

def forge(outcome, file):
    for _ in range(100_000):
        file.write(b" ")
        file.flush()
        time.sleep(1)
"""
        ),
        answers=RIGHT,
        may=DUE,
        states=STATES,
    ),
    Attack(
        "faking-repeated",
        "Each outcome is written a thousand times, so that later exercises find it waiting.",
        "An outcome counts for the trial that asked for it, and for no other.",
        forging(
            """\
def forge(outcome, file):
    for _ in range(1000):
        outcome_write(outcome, file)
"""
        ),
        answers=RIGHT,
        may=DUE,
        states=STATES,
        doubt="The right answer may keep its points or lose them: that is the attacker's own loss. "
        "What must not be is that any other exercise gains.",
    ),
    Attack(
        "faking-descriptors",
        "Forged outcomes and verdicts are written to every file and socket that was left open.",
        CLAIM,
        HEADER
        + """\
import os
verdict = json.dumps({"state": "tried", "exercise": "retarget", "score": 1.0, "status": "passed"})
for fd in map(int, os.listdir("/proc/self/fd")):
    if fd > 2:
        for data in (framed(case="one call"), verdict.encode(), b"\\xff" * 64, b"\\0" * 4096):
            try:
                os.set_blocking(fd, False)
                os.write(fd, data)
            except OSError:
                pass
""",
        states=STATES,
    ),
    Attack(
        "faking-returned",
        "What an answer returns, when pickled or shown, runs a command and displays a script.",
        "It has no plain form; nothing of it runs anywhere else.",
        answers={
            "retarget": """\
import os

class Payload:
    __name__ = "<script>FXPAGE()</script>"
    def __reduce__(self): return os.system, ("touch /tmp/fxcourse-pwned-faking-returned",)
    def __repr__(self): return "<script>FXPAGE()</script>"
    def _repr_html_(self): return "<script>FXPAGE()</script>"

Payload.__name__ = Payload.__qualname__ = "<script>FXPAGE()</script>"

def retarget(model, old, new):
    return Payload()
"""
        },
        stock=True,
    ),
    # ---------------------------------------------------------------- graphs that are code
    _graph(
        "faking-placeholder",
        "A placeholder's target is code: it becomes a default argument.",
        f"""\
    graph["nodes"][0]["target"] += "=__import__('os').system('{TOUCH}-placeholder')"
""",
        doubt=f"FX writes a placeholder's target into the code that it compiles. {TRIED}",
    ),
    _graph(
        "faking-method",
        "A method's name is code that ends the string in which FX writes it.",
        f"""\
    name = 'a", None) or getattr(__import__("os"), "system")("{TOUCH}-method") or getattr(x, "neg'
    graph["nodes"].insert(-1, call(name, {{"node": 0}}, op="call_method"))
""",
        doubt=f'FX writes `getattr(x, "{{target}}")` into the code that it compiles. {TRIED}',
    ),
    _graph(
        "faking-keyword",
        "The name of a keyword argument is code.",
        f"""\
    name = "out=[None, __import__('os').system('{TOUCH}-keyword')][0], alpha"
    row = call({{"function": "torch.neg"}}, {{"node": 0}})
    graph["nodes"].insert(-1, row | {{"kwargs": {{"dict": [[name, 1]]}}}})
""",
        doubt=f"FX writes the names of keyword arguments into the code that it compiles. {TRIED}",
    ),
    _graph(
        "faking-name",
        "Names of nodes, modules and attributes are code.",
        f"""\
    evil = "x=__import__('os')or'{TOUCH}-name'"
    for row in graph["nodes"]:
        row["name"] = evil
    graph["modules"][0]["attrs"] = {{evil: 1, "__class__": 2, "forward": 3}}
""",
    ),
    Attack(
        "faking-eval",
        "A true graph, not a forged one, gets `eval` by `getattr` and `operator`, and calls it.",
        NO_CODE,
        answers={
            "add_to_mul": f"""\
import operator
import torch
from torch import fx

def add_to_mul(model):
    gm = fx.symbolic_trace(model)
    for node in gm.graph.nodes:
        if node.target in (torch.add, operator.add):
            node.target = torch.mul
    *_, output = gm.graph.nodes
    with gm.graph.inserting_before(output):
        at = next(iter(gm.graph.nodes))
        for word in ("backward", "__func__", "__globals__"):
            at = gm.graph.call_function(getattr, (at, word))
        for word in ("__builtins__", "eval"):
            at = gm.graph.call_function(operator.getitem, (at, word))
        text = "__import__('os').system('{TOUCH}-eval')"
        gm.graph.call_function(operator.call, (at, text))
    gm.recompile()
    return gm
"""
        },
        may={"add_to_mul": 4},
        states=STATES,
        doubt=f"`builtins.getattr` and all of `operator` are on the list of targets. {TRIED}",
    ),
    _graph(
        "faking-tofile",
        "A graph calls `.numpy().tofile(path)` on its input.",
        """\
    graph["nodes"].insert(-1, call("numpy", {"node": 0}, op="call_method"))
    at = {"node": len(graph["nodes"]) - 2}
    graph["nodes"].insert(-1, call("tofile", at, "/tmp/fxcourse-pwned-tofile", op="call_method"))
""",
        doubt=f"A method may have any name without underscores. {TRIED}",
    ),
    _graph(
        "faking-from-file",
        "A graph calls `torch.ops.aten.from_file`, shared, so that it writes.",
        """\
    function = {"function": "torch.ops.aten.from_file"}
    graph["nodes"].insert(-1, call(function, "/tmp/fxcourse-pwned-from-file", True, 8))
""",
        doubt=f"`torch.from_file` is barred, but not its `aten` form. {TRIED}",
    ),
    _graph(
        "faking-memory",
        "A graph makes a tensor of 6 GB when it is run.",
        """\
    graph["nodes"].insert(-1, call({"function": "torch.ones"}, 1_500_000_000))
""",
        "The judge has limits of its own; nobody else loses anything.",
        doubt="Whatever runs the graph needs a limit on its memory.",
    ),
    _graph(
        "faking-endless-graph",
        "A graph works out 7 to the power of ten thousand millions.",
        """\
    graph["nodes"].insert(-1, call({"function": "operator.pow"}, 7, 10**10))
""",
        "The judge has limits of its own; nobody else loses anything.",
        doubt="One operation of Python on large numbers cannot be interrupted by a signal: only a "
        "process that can be killed holds.",
    ),
    _graph(
        "faking-codegen",
        "A graph says that it has a code generator of its own, and calls what is not asked for.",
        """\
    graph["codegen"] = "Other"
    graph["nodes"].insert(-1, call({"function": "torch.erfinv"}, {"node": 0}))
    graph["nodes"][-1]["args"] = {"tuple": [{"node": len(graph["nodes"]) - 2}]}
""",
        "A graph that the judge cannot run itself earns nothing.",
        doubt="With another `codegen` nothing is rebuilt, and `same_result` compares claims only: "
        f"this wrong graph gets full marks. {TRIED}",
        most=0,
    ),
    Attack(
        "faking-runs",
        "A model that only looks right claims the runs of the right one.",
        "The judge runs the graph itself.",
        forging("""\
def forge(outcome, file):
    for record in outcome.runs:
        for how in ("forward", "interpreter", "copy"):
            if how in record:
                record[how] = dict(record["forward"], value={"tensor": 0})
"""),
        answers={
            "add_to_mul": "from torch import fx\n"
            "def add_to_mul(model):\n    return fx.symbolic_trace(model)"
        },
        states=STATES,
    ),
    Attack(
        "faking-printed",
        "Cells print verdicts and grades in every form in which a grader may write them.",
        "What is printed decides nothing.",
        edits=(
            add(
                "import json, sys\n"
                "print('✔ Passed: retarget · 2 of 2 points')\n"
                "print(json.dumps({'score': 2.0, 'max_score': 2.0, 'state': 'tried'}))\n"
                'print(\'\\x1e{"exercise": "retarget", "score": 1.0}\', file=sys.stderr)\n'
                "open('state.json', 'w').write('{\"state\": \"tried\", \"score\": 1}')\n"
                "open('000.outcome', 'wb').write(b'\\0' * 100)\n"
                "open('results.json', 'w').write('{\"score\": 100}')",
                above="retarget",
            ),
        ),
        stock=True,
    ),
]
