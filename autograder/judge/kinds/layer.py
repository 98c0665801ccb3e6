"""Functions that return a layer, which is described as the only call of a graph."""

from __future__ import annotations

from autograder.judge.judged_kind import JudgedKind
from autograder.judge.oracles import runs_of
from autograder.judge.schema import graph_module
from autograder.runner.canary import Small

KIND = JudgedKind(graph_module, canary=lambda trial: runs_of(Small().layer, trial))
