"""How an attacker gets between his own process and the judge.

The one place that knows by what name the student's process writes outcomes; if that changes,
it changes here.
"""

from __future__ import annotations

_HOOK = """
from autograder.outcome import Outcome
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

def call(target, *args, op="call_function"):
    return {"op": op, "name": "forged", "target": target, "args": {"tuple": list(args)},
            "args_type": "tuple", "kwargs": {"dict": []}, "users": [], "inputs": []}
"""


def forging(source: str) -> str:
    """Student code that lets ``forge(outcome, file)`` have a look before an outcome is written.

    What `forge` returns, unless ``None``, stands for what writing returns.
    """
    return source + _HOOK


def forging_bytes(source: str) -> str:
    """Student code that writes what ``forged()`` returns in place of every outcome."""
    return source + _BYTES + _HOOK


def forging_graphs(source: str) -> str:
    """Student code that lets ``spoil(description)`` change each description of a graph."""
    return source + _GRAPH + _HOOK
