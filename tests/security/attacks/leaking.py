"""Attacks that reveal secrets to a student: hidden cases, the order of cases, seeds, bounds."""

from __future__ import annotations

import hashlib

from torch import fx

from autograder.exercises import EXERCISES, of_chapter
from tests.security.attacks import ENDED, GRADED, Attack
from tests.support.submissions.answer_text import text_of
from tests.support.submissions.edits import add

HIDDEN = "Hidden cases show their message, never what they are made of."
APART = "What a trial has seen reaches no cell, and no other trial."
NOT_TOLD = "A student's process holds nothing of the kind."


def mark_of(code: str) -> str:
    """A hash that identifies a code where the code itself must not appear."""
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def _marks(*names: str) -> dict[str, bool]:
    """The marks of these exercises' graphs, and whether only hidden cases have them."""
    marks: dict[str, bool] = {}
    for name in names:
        for case in EXERCISES[name].cases:
            mark = mark_of(fx.symbolic_trace(case.make(0).model).code)
            marks[mark] = case.hidden and marks.get(mark, True)
    return marks


def _hidden_marks(*names: str) -> set[str]:
    """The marks of graphs that only hidden cases of these exercises have."""
    return {mark for mark, is_hidden in _marks(*names).items() if is_hidden}


def _names(*, hidden: bool) -> set[str]:
    """The marks of case names in chapter 03, except single words, which occur anywhere."""
    exercises = of_chapter("03_manipulation")
    cases = [case for exercise in exercises for case in exercise.cases if " " in case.name]
    return {mark_of(case.name) for case in cases if case.hidden or not hidden}


MARKS = f"""\
import gc, hashlib, sys
from torch import fx

CODES = {sorted(_hidden_marks("add_to_mul", "retarget"))!r}

def mark_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]

def hidden(model):
    code = fx.symbolic_trace(model).code
    return code if mark_of(code) in CODES else ""
"""
OBJECTS = """\
def texts():
    for value in gc.get_objects():
        kept = value.values() if type(value) is dict else value
        if type(value) in (dict, list, tuple, set):
            for text in list(kept):
                if type(text) is str and len(text) < 80:
                    yield text
        name = getattr(value, "__dict__", None)
        if type(name) is dict and type(name.get("name")) is str:
            yield name["name"]
"""


FILE = """\
import os

def read():
    return [open('kept').read()] if os.path.exists('kept') else []
"""


def _known(names: set[str]) -> str:
    return f"{MARKS}{OBJECTS}\nNAMES = {sorted(names)!r}\n"


def _answers(**bodies: str) -> dict[str, str]:
    heads = {"retarget": "model, old, new", "add_to_mul": "model"}
    return {
        name: f"{text_of(name, _STYLES[name])}\n\nright_{name} = {name}\n\n"
        f"def {name}({heads[name]}):\n    result = right_{name}({heads[name]})\n{body}"
        for name, body in bodies.items()
    }


_STYLES = {"retarget": "new nodes, then erased", "add_to_mul": "operands exchanged"}


def _shown(name: str, tries: str, body: str) -> Attack:
    """A right answer that fails on hidden models and then shows something."""
    text = f"    code = hidden(model)\n    if code:\n{body}    return result\n"
    return Attack(
        f"leaking-{name}", tries, HIDDEN, MARKS, answers=_answers(add_to_mul=text),
        may={"add_to_mul": 4},
    )  # fmt: skip


def _carried(name: str, tries: str, above: str, put: str, get: str) -> Attack:
    """Print what `retarget` saw in its trial, from the trial of `add_to_mul` and from a cell."""
    return Attack(
        f"leaking-{name}", tries, APART, MARKS + above,
        answers=_answers(
            retarget=f"    code = hidden(model)\n    if code:\n{put}    return result\n",
            add_to_mul=f"    for code in {get}:\n        print('LOOT', code)\n    return None\n",
        ),
        edits=(add(f"for code in {get}:\n    print('LOOT', code)"),),
        may={"retarget": 2},
        states=ENDED,
    )  # fmt: skip


ATTACKS = [
    Attack(
        "leaking-cells",
        "A cell looks through all objects for hidden cases, before anything is tried.",
        NOT_TOLD,
        _known(_names(hidden=True))
        + """\
for text in set(texts()):
    if mark_of(text) in NAMES:
        print("LOOT", text)
for value in gc.get_objects():
    try:
        if vars(value).get("hidden") is True:
            print("LOOT", value)
    except TypeError:
        pass
""",
    ),
    Attack(
        "leaking-models-in-cells",
        "A cell makes every model for which it finds a recipe, and looks for hidden ones.",
        NOT_TOLD,
        MARKS
        + """\
for value in gc.get_objects():
    try:
        make = vars(value).get("make")
        model = make(0).model
        if hidden(model):
            print("LOOT", hidden(model))
    except Exception:
        pass
""",
    ),
    Attack(
        "leaking-names",
        "An answer looks for the name of the case that it is tried on, in frames and objects.",
        NOT_TOLD,
        _known(_names(hidden=False)),
        answers={
            "add_to_mul": """\
def add_to_mul(model):
    frame, found = sys._getframe(1), set()
    while frame:
        for value in list(frame.f_locals.values()):
            found |= {str(value), str(getattr(value, "name", "")), str(getattr(value, "case", ""))}
        frame = frame.f_back
    for text in {*found, *texts()}:
        if mark_of(text) in NAMES:
            print("LOOT", text)
"""
        },
    ),
    _shown("printed", "An answer prints a hidden model.",
           "        print('LOOT', code)\n        return None\n"),
    _shown("raised", "An answer raises an error whose text is a hidden model.",
           "        raise ValueError(' '.join(['LO' + 'OT', *code.split()]))\n"),
    _shown("error-name", "An answer raises an error whose class is named after a hidden model.",
           "        raise type('LO' + 'OT' + code, (Exception,), {})()\n"),
    _shown("stderr", "An answer writes a hidden model to standard error, and warns of it.",
           "        import warnings\n        print('LOOT', code, file=sys.stderr)\n"
           "        warnings.warn('LOOT ' + code)\n        return None\n"),
    _shown("returned", "An answer returns something whose class is named after a hidden model.",
           "        return type('LOOT' + code, (), {})()\n"),
    _shown("node-names", "An answer names a node after a hidden model.",
           "        *_, last = result.graph.nodes\n"
           "        with result.graph.inserting_before(last):\n"
           "            new = result.graph.call_function(torch.neg, (last.args[0],))\n"
           "        new.name = 'LOOT_' + ''.join(c if c.isalnum() else '_' for c in code)[:200]\n"
           "        last.args = (new,)\n        result.recompile()\n"),
    _shown("target-names", "An answer calls a function that is named after a hidden model.",
           "        *_, last = result.graph.nodes\n"
           "        def own(value):\n            return value\n"
           "        own.__name__ = 'LOOT ' + code\n"
           "        with result.graph.inserting_before(last):\n"
           "            new = result.graph.call_function(own, (last.args[0],))\n"
           "        last.args = (new,)\n        result.recompile()\n"),
    _carried(
        "carried", "A hidden model is kept in a list of the notebook.", "KEPT = []\n",
        "        KEPT.append(code)\n", "KEPT",
    ),
    _carried(
        "carried-file", "A hidden model is written into a file beside the notebook.", FILE,
        "        open('kept', 'a').write(code)\n", "read()",
    ),
    _carried(
        "carried-memory", "A hidden model is written into memory that processes share.",
        "import mmap\nSHARED = mmap.mmap(-1, 100_000)\n\ndef read():\n"
        "    text = SHARED[:].rstrip(b'\\0')\n    return [text.decode()] if text else []\n",
        "        SHARED[: len(code.encode())] = code.encode()\n", "read()",
    ),
    _carried(
        "carried-pipe", "A hidden model is written into a pipe.",
        "import os\nOUT, INTO = os.pipe()\nos.set_blocking(OUT, False)\n\ndef read():\n    try:\n"
        "        return [os.read(OUT, 60_000).decode()]\n    except BlockingIOError:\n"
        "        return []\n",
        "        os.write(INTO, code.encode())\n", "read()",
    ),
    _carried(
        "carried-process", "A process that was started before takes what an answer has seen.",
        """\
import os, socket
HERE, THERE = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
ASK, GIVE = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
if os.fork() == 0:
    kept = []
    while True:
        got = THERE.recv(100_000)
        if got == b'?':
            GIVE.send(b'\\n'.join(kept)[:60_000] or b'-')
        else:
            kept.append(got)

def read():
    HERE.send(b'?')
    ASK.settimeout(2)
    text = ASK.recv(100_000).decode()
    return [] if text == '-' else [text]
""",
        "        HERE.send(code.encode())\n", "read()",
    ),
    _carried(
        "carried-name", "A hidden model is written into the environment.",
        """\
import os

def read():
    found = [os.environ.get('KEPT', '')]
    for top in os.listdir('/proc'):
        try:
            found.append(open(f'/proc/{top}/environ').read())
        except OSError:
            pass
    return [text for text in found if 'forward' in text]
""",
        "        os.environ['KEPT'] = code\n", "read()",
    ),
    Attack(
        "leaking-late",
        "A hidden model goes into a file, and an answer that is defined late prints that file.",
        HIDDEN,
        MARKS + FILE,
        answers=_answers(
            retarget="    code = hidden(model)\n    if code:\n"
            "        open('kept', 'a').write(code)\n    return result\n",
        ),
        edits=(
            add("def add_to_mul(model):\n    for code in read():\n"
                "        print('LOOT', code)\n\nadd_to_mul(None)"),
        ),
        may={"retarget": 2},
    ),
    Attack(
        "leaking-random",
        "An answer keeps a hidden model, and prints it when it is tried on a random one.",
        HIDDEN,
        f"{MARKS}KEPT, CASES = [], {sorted(_marks('add_to_mul'))!r}\n",
        answers=_answers(
            add_to_mul="    if code := hidden(model):\n        KEPT.append(code)\n"
            "    elif KEPT and mark_of(fx.symbolic_trace(model).code) not in CASES:\n"
            "        print('LOOT', *KEPT)\n"
            "        raise ValueError(' '.join(['LO' + 'OT', *' '.join(KEPT).split()]))\n"
            "    return result\n",
        ),
        may={"add_to_mul": 4},
    ),
    Attack(
        "leaking-seed",
        "An answer looks for the seed of random models in the frames and objects around it.",
        "A seed is good for one hand-in, and is not in the student's process.",
        answers={
            "add_to_mul": """\
import gc, sys

def add_to_mul(model):
    tables, frame = [], sys._getframe(1)
    while frame:
        tables.append(dict(frame.f_locals))
        frame = frame.f_back
    tables += [value for value in gc.get_objects() if type(value) is dict and "seed" in value]
    for table in tables:
        seed = table.get("seed")
        if type(seed) is int and seed > 2**16:
            print("LOOT: the seed is", seed)
"""
        },
        edits=(
            add("import gc\nfor v in gc.get_objects():\n    if type(v) is dict and type("
                "v.get('seed')) is int and v['seed'] > 2**16:\n        print('LOOT', v['seed'])"),
        ),
    ),
    Attack(
        "leaking-command-line",
        "The command lines in the box are read, for what a grader has told its processes.",
        "They say nothing of exercises, bounds and folders.",
        """\
import glob
for path in glob.glob("/proc/[0-9]*/cmdline"):
    words = open(path, "rb").read()
    for word in (b"syllabus", b"bounds", b"covered", b"imports", b"processes"):
        if b'"' + word in words:
            print("LOOT", path, word, words[:300])
""",
    ),
    Attack(
        "leaking-modules",
        "What judges answers is looked for among the modules that are there or can be had.",
        NOT_TOLD,
        """\
import importlib, sys
for name in ("judge", "judge.references", "rules", "builder", "classroom", "grading",
             "judge.oracles", "judge.evidence", "rules.passes", "cli", "submission.seeds",
             "exercises.ch03_manipulation.relu_to_gelu.cases",
             "exercises.ch03_manipulation.relu_to_gelu.redraws",
             "exercises.ch03_manipulation.relu_to_gelu.key", "exercises.ch05_proxy.keys"):
    name = "autograder." + name
    if name in sys.modules:
        print("LOOT", name, "is there")
    try:
        print("LOOT", importlib.import_module(name))
    except Exception:
        pass
""",
    ),
    Attack(
        "leaking-memory",
        "The memory of the process is searched for other work and for texts of answer keys.",
        "The process it was forked from has never held another student's work, nor a secret.",
        """\
import ctypes
words = [b"CAN" + b"ARY-", b"def right" + b"_value", b"def places" + b"_rewritten"]
libc = ctypes.CDLL(None, use_errno=True)

class Part(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]

room = ctypes.create_string_buffer(1 << 20)
own = ctypes.addressof(room)
for line in open("/proc/self/maps").read().splitlines():
    span, rights = line.split()[:2]
    start, end = (int(word, 16) for word in span.split("-"))
    if "r" not in rights or "[v" in line or end - start > 1 << 30:
        continue
    for at in range(start, end, 1 << 20):
        size = min(1 << 20, end - at)
        if at <= own < at + size or own <= at < own + len(room):
            continue
        import os
        got = libc.process_vm_readv(os.getpid(), ctypes.byref(Part(own, size)), 1,
                                    ctypes.byref(Part(at, size)), 1, 0)
        if got <= 0:
            try:
                block = ctypes.string_at(at, size) if "w" in rights else b""
            except Exception:
                continue
        else:
            block = room.raw[:got]
        found = block.find(words[0])
        tail = block[found + 7 : found + 23]
        if found >= 0 and len(tail) == 16 and all(c in b"0123456789abcdef" for c in tail):
            print("LOOT: a token in memory")
        for word in words[1:]:
            found = block.find(word)
            if found >= 0 and block[found + len(word) : found + len(word) + 1] == b"(":
                print("LOOT", word)
""",
        states=GRADED | {"crashed", "timed out"},
    ),
]  # fmt: skip
