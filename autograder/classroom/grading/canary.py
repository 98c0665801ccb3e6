"""A notebook with known marks, which is graded before any submission.

A machine on which a right answer earns nothing, or a wrong one something, must not grade: there is
a right and a wrong answer for each way in which a chapter's answers are exercised.
"""

from __future__ import annotations

from collections.abc import Sequence

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from autograder.classroom.grading.grade_submission import ChapterServers, grade_submission
from autograder.sandbox.client import NoBox
from autograder.submission.contract import GradingConfig, PreloadSpec, Submission, Timeouts
from autograder.submission.result import SubmissionStatus
from autograder.submission.source_cells import CHECK, SourceCell

CHAPTER = "canary"

_IMPORTS = "import copy\nimport operator\nimport torch\nfrom torch import fx"

_PASS = """\
def {name}({model}):
    gm = fx.symbolic_trace({model})
    for node in gm.graph.nodes:
        if node.target is torch.relu:
            node.target = torch.{function}
    gm.recompile()
    return {result}
"""
_OTHER = """
    def call_function(self, target, args, kwargs):
        target = torch.{function} if target is torch.relu else target
        return super().call_function(target, args, kwargs)
"""
_SPLIT = """\
def {name}(model):
    head, tail = fx.Graph(), fx.Graph()
    x = head.placeholder("x")
    head.output((head.call_module("layer", (x,)),))
    y = tail.call_function(torch.relu, (tail.placeholder("y"),))
    tail.output(tail.call_function(operator.add, (y, {number})))
    return fx.GraphModule(model, head), fx.GraphModule(model, tail)
"""
_LOWERING = """\
def {name}(gm, parts, compile):
    inside, outer = fx.Graph(), fx.Graph()
    inside.output((inside.call_function(torch.relu, (inside.placeholder("y"),)),))
    root = fx.GraphModule(gm, copy.deepcopy(gm.graph))
    root.compiled = compile(fx.GraphModule(gm, inside), (None,))
    y = outer.call_module("layer", (outer.placeholder("x"),))
    z = outer.call_function(operator.getitem, (outer.call_module("compiled", (y,)), 0))
    outer.output(outer.call_function(operator.add, (z, {number})))
    return fx.GraphModule(root, outer)
"""
_TIMER = """
    def __init__(self, gm):
        super().__init__(gm)
        self.seconds, self.calls = {}, {}

    def slowest(self, n):
        return []
"""
_CLASSES = {"interpreter": "Interpreter", "timer": "Interpreter", "transformer": "Transformer"}
_LINES = {
    "analysis": ("model", "len(fx.symbolic_trace(model).graph.nodes)", " + 1"),
    "each node": ("node", "node.op", ".upper()"),
    "after others": ("model", "[name for name, _ in model.named_parameters()]", "[::-1]"),
    "in place": ("model, seed", "model", ".layer"),
    "traced function": ("x", "torch.sigmoid(x)", " * 2"),
    "drawn twice": ("x", "torch.sigmoid(x)", " * 2"),
    "layer": ("model", "copy.deepcopy(model.layer)", ".double()"),
    "latency": ("a, b, inputs", "a(*inputs)", " + b(*inputs)"),
}
_RESULTS = {"transform": "gm", "repeated transform": "gm", "any module": "gm"}
_RESULTS |= {"counted transform": "gm, 1", "rewrite": "gm", "extraction": "gm"}
_OTHERS = {
    "rules": """\
def {name}():
    return {{torch.relu: lambda x: torch.{function}(x)}}
""",
    "driven": """\
def {name}(gm, example_inputs):
    for node in gm.graph.nodes:
        if node.target is torch.relu:
            node.target = torch.{function}
    gm.recompile()
    return gm
""",
    "edit": """\
def {name}(gm):
    for node in gm.graph.nodes:
        if node.target is torch.relu:
            node.target = torch.{function}
    gm.recompile()
    return 1
""",
    "tracer": """\
class {name}(fx.Tracer):
    def is_leaf_module(self, module, path):
        return "{function}" == "sigmoid"
""",
    "asked tracer": """\
class {name}(fx.Tracer):
    def is_leaf_module(self, module, path):
        return "{function}" == "sigmoid"
""",
    "witness": """\
class {name}(torch.nn.Module):
    inputs = (torch.tensor([[1.0, 2.0], [-3.0, 0.5]]),)

    def forward(self, x):
        return torch.{function}(x)
""",
}
_CUT = {"split": _SPLIT, "lowering": _LOWERING}
PROCEDURES = (*_LINES, *_RESULTS, *_CLASSES, *_OTHERS, *_CUT)


def answer(kind: str, procedure: str) -> str:
    """The text of an answer.

    Args:
        kind: ``"right"`` or ``"wrong"``.
        procedure: a key of `run.PROCEDURES`.
    """
    name, right = name_of(kind, procedure), kind == "right"
    function = "sigmoid" if right else "tanh"
    if procedure in _LINES:
        given, result, spoilt = _LINES[procedure]
        return f"def {name}({given}):\n    return {result}{'' if right else spoilt}\n"
    if procedure in _RESULTS:
        result = _RESULTS[procedure]
        return _PASS.format(name=name, model="model", function=function, result=result)
    if procedure in _CLASSES:
        head = f"class {name}(fx.{_CLASSES[procedure]}):"
        more = _TIMER if procedure == "timer" else ""
        return head + more + _OTHER.format(function=function)
    if procedure in _CUT:
        return _CUT[procedure].format(name=name, number=1 if right else 2)
    return _OTHERS[procedure].format(name=name, function=function)


def name_of(kind: str, procedure: str) -> str:
    """The name of an exercise."""
    return f"{kind}_{procedure.replace(' ', '_')}"


def names(procedures: Sequence[str] = PROCEDURES) -> dict[str, bool]:
    """The exercises, and whether their answers are right."""
    return {name_of(k, p): k == "right" for p in procedures for k in ("right", "wrong")}


def source_cells(procedures: Sequence[str] = PROCEDURES) -> dict[str, SourceCell]:
    """The check cells, as if they had been given out."""
    found = (
        SourceCell(f"{CHECK}{name}", "code", f"check({name})", None, True, True, False, False, 1.0)
        for name in names(procedures)
    )
    return {source_cell.name: source_cell for source_cell in found}


def notebook(procedures: Sequence[str] = PROCEDURES) -> bytes:
    """The notebook, as a file's bytes."""
    cells, checks = [new_code_cell(_IMPORTS)], source_cells(procedures)
    for procedure in procedures:
        for kind in ("right", "wrong"):
            cells.append(new_code_cell(answer(kind, procedure)))
            source_cell = checks[f"{CHECK}{name_of(kind, procedure)}"]
            cells.append(
                new_code_cell(source_cell.source, metadata={"nbgrader": source_cell.metadata()})
            )
    text: str = nbformat.writes(new_notebook(cells=cells))
    return text.encode()


def prove(servers: ChapterServers, preload: PreloadSpec) -> None:
    """Grade the notebook, and see that its marks are what they must be.

    Raises:
        NoBox: they are not; the message says which, and what to do.
    """
    used = tuple(one for one in PROCEDURES if one in servers.procedures) or PROCEDURES
    marks, text = names(used), notebook(used)
    config = GradingConfig(
        CHAPTER, source_cells(used), preload, Timeouts(case_cpu=20.0), servers.boxed
    )
    graded = grade_submission(Submission(CHAPTER, text, key=CHAPTER.encode()), config, servers)
    wrong = [
        f"a {'right' if right else 'wrong'} answer to `{name}` earned "
        f"{graded.scores[f'{CHECK}{name}'].points}"
        for name, right in marks.items()
        if graded.scores[f"{CHECK}{name}"].points != float(right)
    ]
    result = graded.result
    if wrong or result.status is not SubmissionStatus.GRADED:
        said = "; ".join([*wrong[:3], *result.notes[:3]])
        raise NoBox(
            "Nothing was graded: a notebook with known marks gets other marks on this machine, in "
            f"{len(wrong)} of {len(marks)} answers ({result.status}; {said}). Run 'fxcourse "
            "doctor'. If it finds nothing, install the course again, in a new environment."
        )
