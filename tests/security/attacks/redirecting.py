"""Attacks that get the expected results from the course's own functions."""

from __future__ import annotations

from tests.security.attacks import Attack

START, NODES = "00_start", "02_nodes"
ABSENT = "What knows the right results cannot be imported, found or called in the box."


ATTACKS = [
    Attack(
        "redirecting-references",
        "The answer looks its results up in `autograder.judge.references`.",
        ABSENT,
        chapter=START,
        answers={
            "node_names": """\
from torch import fx
from autograder.judge.references import stored
CASES = ["two operations", "names of builtins", "several inputs and a dead node"]

def node_names(model):
    for case in CASES:
        value = stored("autograder.exercises.ch00_start.node_names.key")[case]["value"]
        names = [item for item in value["list"]]
        if len(names) == len(fx.symbolic_trace(model).graph.nodes):
            print("LOOT", names)
            return names
"""
        },
        stock=True,
    ),
    Attack(
        "redirecting-reference-files",
        "The answer finds the package's folder and reads the files of references in it.",
        ABSENT,
        chapter=START,
        answers={
            "node_names": """\
import glob, json, os, autograder

def node_names(model):
    folders = [os.path.dirname(autograder.__file__ or ""), *getattr(autograder, "__path__", ())]
    for folder in folders:
        for path in glob.glob(f"{folder}/**/*.json*", recursive=True):
            text = open(path).read()
            print("LOOT", path)
            return json.loads(text.splitlines()[0])
"""
        },
    ),
    Attack(
        "redirecting-oracles",
        "The answer calls what works out the results of random models.",
        ABSENT,
        chapter=NODES,
        answers={
            "count_ops": """\
import types

def count_ops(model):
    from autograder.exercises.ch02_nodes.count_ops.key import KEY
    found = KEY.oracle(types.SimpleNamespace(args=(model,), kwargs={}, functions={})).value
    print("LOOT", found)
    return found
""",
            "dead_nodes": """\
import types

def dead_nodes(model):
    from autograder.exercises.ch02_nodes.dead_nodes.key import KEY
    found = KEY.oracle(types.SimpleNamespace(args=(model,), kwargs={}, functions={})).value
    print("LOOT", found)
    return found
""",
        },
    ),
    Attack(
        "redirecting-solutions",
        "The answer imports the solved chapter, from wherever Python finds one.",
        ABSENT,
        answers={
            "relu_to_gelu": """\
import importlib, runpy, sys, os

def relu_to_gelu(model):
    places = [*sys.path, os.path.join(os.path.dirname(importlib.__file__), "..", "..", "..")]
    import autograder
    places += [os.path.join(p, "..") for p in getattr(autograder, "__path__", ())]
    for place in places:
        path = os.path.join(place, "solutions", "03_manipulation.py")
        if os.path.exists(path):
            found = runpy.run_path(path)["relu_to_gelu"]
            print("LOOT", path)
            return found(model)
"""
        },
    ),
    Attack(
        "redirecting-key",
        "The answer asks the key and the judge what they would say, and searches for a result.",
        ABSENT,
        answers={
            "add_to_mul": """\
def add_to_mul(model):
    from autograder.judge import judge
    from autograder.exercises import EXERCISES
    from autograder.rules import passes
    from autograder.judge.answer_key import key_of
    print("LOOT", key_of(EXERCISES["add_to_mul"]), judge, passes)
"""
        },
    ),
    Attack(
        "redirecting-disk",
        "Every folder that can be read is searched for solutions and hidden tests.",
        "There is no such file in the box.",
        """\
import os, time
stop, marks = time.time() + 8, (b"BEGIN " + b"SOLUTION", b"BEGIN " + b"HIDDEN")
for top, folders, files in os.walk("/"):
    folders[:] = [f for f in folders if os.path.join(top, f) not in ("/proc", "/sys", "/dev")]
    if time.time() > stop:
        break
    for name in files:
        if name.endswith((".ipynb", ".py")) and "nbgrader" not in top and top != os.getcwd():
            try:
                text = open(os.path.join(top, name), "rb").read(2_000_000)
            except OSError:
                continue
            if any(mark in text for mark in marks) and b"retarget" in text:
                print("LOOT", top, name)
""",
    ),
]
