"""Attacks that want points without the work: skipped runs, known results, bypassed tasks."""

from __future__ import annotations

from autograder.exercises import EXERCISES
from autograder.judge.answer_key import key_of
from tests.security.attacks import ENDED, SUSPECT, Attack
from tests.security.attacks._forging import forging
from tests.support.submissions.answer_text import text_of

NODES, TRACING, CHANGES = "02_nodes", "01_tracing", "03_manipulation"
LESSONS, MEASURING = "06_interpreter", "06b_measuring"
FEATURES, CUTTING = "07_features", "07b_cutting"
STATES = SUSPECT | ENDED
NOT_RUN = "What was not run has not held."
NOT_TOLD = "The process is not told which case is tried, nor what must come of it."
NOT_ASKED = "A graph that the judge cannot run itself earns nothing."
FORBIDDEN = "What is forbidden is noticed, however it is come by."


def _plain(value: object) -> object:
    """Decode plain data if it is a list, a dictionary or a number."""
    if isinstance(value, dict) and set(value) == {"list"}:
        return [_plain(item) for item in value["list"]]
    if isinstance(value, dict) and set(value) == {"dict"}:
        return {_plain(k): _plain(v) for k, v in value["dict"]}
    return value


def _table(name: str) -> dict[str, object]:
    """The expected result of each case of an exercise, by the case's name."""
    exercise = EXERCISES[name]
    known = {c.name: key_of(exercise).reference(exercise, c) for c in exercise.cases}
    return {case: _plain(found.value) for case, found in known.items()}


_LOOK_UP = """\
import gc, sys

def told(table):
    frame = sys._getframe(1)
    while frame:
        for value in list(frame.f_locals.values()):
            for text in (value, getattr(value, "name", None), getattr(value, "case", None)):
                if type(text) is str and text in table:
                    return table[text]
        frame = frame.f_back
    raise LookupError("no case is named here")
"""


def _by_name(name: str, argument: str, otherwise: str) -> Attack:
    """An answer that looks up the expected result by the name of the case."""
    return Attack(
        f"claiming-table-{name.replace('_', '-')}",
        f"`{name}` looks for its answer by the name of the case, which it reads in the frames.",
        NOT_TOLD,
        f"{_LOOK_UP}\nTABLE = {_table(name)!r}",
        EXERCISES[name].chapter,
        answers={
            name: f"def {name}({argument}):\n    try:\n        return told(TABLE)\n"
            f"    except LookupError:\n        return {otherwise}"
        },
        states=STATES,
    )


def _by_order(name: str, argument: str) -> Attack:
    """An answer that counts its calls and knows the expected result of each."""
    return Attack(
        f"claiming-order-{name.replace('_', '-')}",
        f"`{name}` counts how often it is called, and knows the order of the cases.",
        "The order of the cases is another for each submission.",
        f"import itertools\nTURN, ANSWERS = itertools.count(), {[*_table(name).values()]!r}",
        EXERCISES[name].chapter,
        answers={name: f"def {name}({argument}):\n    return ANSWERS[next(TURN) % len(ANSWERS)]"},
        states=STATES,
    )


NOTHING_RUN = """\
import sys

class Nothing(list):
    def append(self, item):
        pass

def no_runs():
    frame = sys._getframe(1)
    while frame:
        found = frame.f_locals.get("outcome")
        if found is not None:
            found.runs = Nothing()
        frame = frame.f_back
"""
LESSON_ANSWERS = {
    name: f"class {name}(fx.Interpreter):\n    def __init__(self, gm):\n"
    f"        super().__init__(gm)\n        no_runs()\n"
    for name in ("NegSigmSwap", "AddToMul")
}
IDLE = {name: f"class {name}(fx.Interpreter):\n    pass\n" for name in ("NegSigmSwap", "AddToMul")}
RIGHT_LESSONS = {
    "NegSigmSwap": text_of("NegSigmSwap", "a table for each handler"),
    "AddToMul": text_of("AddToMul", "meta copied in run_node, except for the output"),
}


def _forged_runs(name: str, tries: str, forge: str) -> Attack:
    """Interpreters that do nothing of the task, with made-up runs."""
    return Attack(
        f"claiming-runs-{name}", tries, NOT_RUN,
        forging(f"def forge(outcome, file):\n    {forge}\n"),
        LESSONS, answers=IDLE, states=STATES,
    )  # fmt: skip


FORM = """\
SIGNATURES = []

def forge(outcome, file):
    outcome.changed, outcome.used = [], []
    value = outcome.value
    if isinstance(value, dict) and "graph_module" in value:
        graph = value["graph_module"]
        graph["code"] = graph["fresh_code"] = ""
        graph["lint"], graph["owner"], graph["unresolved"] = None, True, []
        graph["signature"] = SIGNATURES.pop(0)
        for run in outcome.runs:
            run["forward"] = run["interpreter"]
            if "copy" in run:
                run["copy"] = run["interpreter"]
"""
NO_RECOMPILE = """\
import operator
import torch
from torch import fx
from autograder.core.graph_record import signature_of
from autograder.core.codec import Encoder

SUMS = {torch.add: torch.mul, operator.add: operator.mul}

def add_to_mul(model):
    gm = fx.symbolic_trace(model)
    SIGNATURES.append(signature_of(gm, Encoder()))
    for node in gm.graph.nodes:
        if node.target in SUMS and node.kwargs.get("alpha", 1) == 1 and len(node.args) < 3:
            node.target = SUMS[node.target]
            node.kwargs = {k: v for k, v in node.kwargs.items() if k != "alpha"}
    model.__dict__["spoilt"] = True
    return gm
"""

_WHOLE = """\
import torch
from torch import fx, nn

def traced_places(model, wanted):
    traced = fx.symbolic_trace(model)
    nodes = list(traced.graph.nodes)
    calls = {n.target: n.name for n in nodes if n.op == "call_module"}
    names = {n.name for n in nodes if n.op != "output"}
    for name in wanted:
        if name not in calls and name not in names:
            raise ValueError(f"no such name: {list(wanted)}")
    return traced, {key: calls.get(name, name) for name, key in wanted.items()}

def still(value):
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, (list, tuple)):
        return type(value)(map(still, value))
    if isinstance(value, dict):
        return {k: still(v) for k, v in value.items()}
    return value

class Everything(nn.Module):
    def __init__(self, traced, means):
        super().__init__()
        self.__dict__["traced"], self.means = traced, means

    def forward(self, *args):
        seen = {}

        class Look(fx.Interpreter):
            def run_node(self, n):
                value = super().run_node(n)
                seen[n.name] = still(value)
                return value

        given = [n for n in self.traced.graph.nodes if n.op == "placeholder"]
        flat = []
        for node, value in zip(given, args):
            name = str(node.target)
            flat += value if name.startswith("*") and not name.startswith("**") else [value]
        Look(self.traced).run(*flat)
        return {key: seen[name] for key, name in self.means.items()}
"""


def _extract(name: str, tries: str, last: str, above: str = "") -> Attack:
    """Answer `extract` with a graph of one node, in which code of the notebook does everything."""
    return Attack(
        f"claiming-{name}", tries, NOT_ASKED, _WHOLE + above, FEATURES, answers={
            "extract": f"""\
def extract(model, wanted):
    traced, means = traced_places(model, wanted)
    everything = Everything(traced, means)
    graph = fx.Graph()
    given = [graph.node_copy(n) for n in traced.graph.nodes if n.op == "placeholder"]
    root = nn.Module()
{last}
    return fx.GraphModule(root, graph)
"""
        },
        states=STATES,
    )  # fmt: skip


def _inputs(name: str, tries: str, above: str, body: str, doubt: str = "") -> Attack:
    """Answer `inputs_of` with the list that it must compute and is not allowed to read."""
    return Attack(
        f"claiming-inputs-{name}", tries, FORBIDDEN, above, NODES,
        answers={"inputs_of": f"def inputs_of(node):\n    {body}"}, states=STATES, doubt=doubt,
    )  # fmt: skip


def _backbone(name: str, tries: str, cls: str, last: str) -> Attack:
    return Attack(
        f"claiming-backbone-{name}", tries, "What is asked for is in the result.", "", FEATURES,
        answers={
            "backbone_c4_c5": "from torchvision.models.feature_extraction import "
            f"create_feature_extractor as make\nfrom torch import fx, nn\n\n{cls}\n"
            f"def backbone_c4_c5(model):\n    {last}\n"
        },
        states=STATES,
    )  # fmt: skip


HOOKED = """\
class Whole(nn.Module):
    def __init__(self, net, other=None):
        super().__init__()
        self.net = net
        if other is not None:
            self.other = other

    def forward(self, x):
        found, hooks = {}, []
        for name, key in (("layer3", "C4"), ("layer4", "C5")):
            part = getattr(self.net, name)
            def note(m, given, result, key=key):
                found[key] = result
            hooks.append(part.register_forward_hook(note))
        try:
            self.net(x)
        finally:
            for hook in hooks:
                hook.remove()
        return found
"""

DUELS = "09b_duels"
LIES = """\
def forge(outcome, file):
    value = outcome.value
    if not (isinstance(value, dict) and "ran" in value):
        return
    value["ran"]["trace"] = value["ran"]["after"] = value["ran"]["before"]
    graph = value["graph_module"]
    for module in graph["modules"]:
        module["training"] = True
    for row in graph["nodes"]:
        if row["target"] == {"function": "operator.sub"}:
            row["target"] = {"function": "operator.isub"}
        if row["op"] == "call_function":
            row["name"] = f"relu_{row['name']}"
    for key in ("code", "fresh_code"):
        graph[key] = None
"""
NO_WITNESSES = {
    "WitnessByName": "return torch.exp(x)",
    "WitnessDeadCode": "x - 1\n        self.drop(x)\n        return x + torch.rand_like(x)",
    "WitnessEqualCalls": "return self.drop(x), self.drop(x)",
    "WitnessPlusZero": "return x + (0.0 if isinstance(x, fx.Proxy) else 0.0 * x.sum())",
}
NO_WITNESS = """\
import torch
from torch import fx, nn

class {name}(nn.Module):
    inputs = (torch.linspace(-1, 1, 64),)

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        {body}
"""

ATTACKS = [
    Attack(
        "claiming-duels",
        "Models that convict nobody are described as what they are not: in training mode, with "
        "operators in place, under other names.",
        NOT_RUN,
        forging(LIES),
        DUELS,
        answers={
            name: NO_WITNESS.format(name=name, body=body) for name, body in NO_WITNESSES.items()
        },
        states=STATES,
    ),
    # ---------------------------------------------------------------- skipped runs
    Attack(
        "claiming-no-runs",
        "Interpreters that do nothing see to it that none of their runs is noted.",
        NOT_RUN,
        NOTHING_RUN,
        LESSONS,
        answers=LESSON_ANSWERS,
        states=STATES,
    ),
    _forged_runs("none", "All runs are left out of what is said.", "outcome.runs = []"),
    _forged_runs(
        "empty", "All runs are said, and empty.", "outcome.runs = [{} for _ in outcome.runs]"
    ),
    _forged_runs("fewer", "The last run is left out.", "outcome.runs = outcome.runs[:-1]"),
    _forged_runs(
        "no-value",
        "Runs have no value, no error and no arguments.",
        "outcome.runs = [{k: {} for k in run} for run in outcome.runs]",
    ),
    _forged_runs(
        "no-tensors",
        "What is said refers to tensors that are not sent.",
        "outcome.tensors = []",
    ),
    *(
        Attack(
            f"claiming-runs-less-{word}",
            f"Answers that are right, of whose runs it is not said {what}.",
            "A record that lacks a field holds nothing, whatever the answer is worth.",
            forging(
                "def forge(outcome, file):\n    for run in outcome.runs:\n"
                f"        for record in run.values():\n            record.pop({word!r}, None)\n"
            ),
            LESSONS,
            answers=RIGHT_LESSONS,
            states=STATES,
        )
        for word, what in (
            ("log", "what the model's own functions noted"),
            ("args", "what became of the arguments"),
        )
    ),
    Attack(
        "claiming-runs-of-timers",
        "A timer that measures nothing, and no run is said.",
        NOT_RUN,
        forging("def forge(outcome, file):\n    outcome.runs = []\n"),
        MEASURING,
        answers={"OpTimer": "class OpTimer(fx.Interpreter):\n    pass\n"},
        states=STATES,
    ),
    Attack(
        "claiming-no-value",
        "Answers that do nothing are said to have returned nothing, on every case.",
        NOT_RUN,
        forging("def forge(outcome, file):\n    outcome.value, outcome.runs = None, []\n"),
        CHANGES,
        answers={
            exercise.name: f"def {exercise.name}(*args, **kwargs):\n    return args[0]"
            for exercise in EXERCISES.values()
            if exercise.chapter == CHANGES
        },
        states=STATES,
    ),
    Attack(
        "claiming-form",
        "A rewriting without `recompile`, on a model that it spoils, claims sound form.",
        "What can be looked at in the graph itself is looked at by the judge.",
        forging(FORM),
        CHANGES,
        answers={"add_to_mul": NO_RECOMPILE},
        states=STATES,
    ),
    # ---------------------------------------------------------------- known results
    _by_name("wellformed", "gm", "[]"),
    _by_name("is_faithful", "model, *args", "True"),
    _by_name("count_ops", "model", "{}"),
    _by_order("wellformed", "gm"),
    _by_order("is_faithful", "model, *args"),
    _by_order("count_ops", "model"),
    Attack(
        "claiming-meta",
        "`wellformed` says what stands in its argument's `meta`, and in those of its nodes.",
        "An argument does not say what must come of it.",
        f"{_LOOK_UP}\nTABLE = {_table('wellformed')!r}",
        "02b_lint",
        answers={
            "wellformed": """\
def wellformed(gm):
    kept = [gm.meta, gm.__dict__, gm.graph.__dict__, *(node.meta for node in gm.graph.nodes)]
    for table in kept:
        for key, value in list(table.items()):
            if "codes" in str(key) and isinstance(value, list):
                print("LOOT", key, value)
                return list(value)
    try:
        return told(TABLE)
    except LookupError:
        return []
"""
        },
        states=STATES,
    ),
    # ---------------------------------------------------------------- the notebook's own code
    _extract(
        "own-function",
        "`extract` returns one node that calls a function of the notebook, which does everything.",
        "    def run_all(*args):\n        return everything(*args)\n"
        "    graph.output(graph.call_function(run_all, tuple(given)))",
    ),
    _extract(
        "own-module",
        "`extract` returns one node that calls a module of the notebook, which does everything.",
        "    root.add_module('everything', everything)\n"
        "    graph.output(graph.call_module('everything', tuple(given)))",
    ),
    _extract(
        "own-copy",
        "`extract` returns a model's first value through a helper of one argument that does all.",
        "    def copied(value):\n        return everything(value)\n"
        "    graph.output(graph.call_function(copied, tuple(given[:1])))",
    ),
    _extract(
        "own-wrapped",
        "`extract` calls a function that was given to `fx.wrap`, under the name of another one.",
        "    def clone(*args):\n        return everything(*args)\n"
        "    clone.__module__, clone.__qualname__ = 'torch', 'clone'\n"
        "    graph.output(graph.call_function(clone, tuple(given)))",
    ),
    _extract(
        "own-copied-apart",
        "A helper of one argument, which is to copy, counts its calls and runs everything.",
        "    kept = {}\n"
        "    def copied(value):\n"
        "        if 'all' not in kept:\n            kept['all'] = everything(*kept['given'])\n"
        "        return kept['all'][value]\n"
        "    def note(*args):\n        kept.clear()\n        kept['given'] = args\n"
        "    graph.call_function(note, tuple(given))\n"
        "    graph.output({key: graph.call_function(copied, (key,)) for key in means})",
    ),
    Attack(
        "claiming-probe-all",
        "`probe_values` calls a function of the notebook that runs the model and every probe.",
        NOT_ASKED,
        "",
        "03b_effects",
        answers={
            "probe_values": """\
from torch import fx

def probe_values(model, probe):
    traced = fx.symbolic_trace(model)

    class Look(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            if n.op.startswith("call_"):
                probe(n.name, value)
            return value

    def everything(*args):
        flat = []
        for node, value in zip(given, args):
            name = str(node.target)
            flat += value if name.startswith("*") and not name.startswith("**") else [value]
        return Look(traced).run(*flat)

    graph = fx.Graph()
    given = [n for n in traced.graph.nodes if n.op == "placeholder"]
    own = [graph.node_copy(n) for n in given]
    graph.output(graph.call_function(everything, tuple(own)))
    return fx.GraphModule(model, graph)
"""
        },
        states=STATES,
    ),
    Attack(
        "claiming-split-inside",
        "`split_at` returns a tail whose one node calls a function that runs the rest.",
        NOT_ASKED,
        "",
        CUTTING,
        answers={
            "split_at": """\
from torch import fx

def split_at(model, name):
    traced = fx.symbolic_trace(model)
    nodes = list(traced.graph.nodes)
    if name not in [n.name for n in nodes if n.op not in ("placeholder", "output")]:
        raise ValueError(name)
    cut = [n.name for n in nodes].index(name) + 1
    first, rest = nodes[:cut], nodes[cut:]
    crossing = [n for n in first if any(u in rest for u in n.users)]
    head, new = fx.Graph(), {}
    for node in first:
        new[node] = head.node_copy(node, new.__getitem__)
    head.output(tuple(new[n] for n in crossing))

    def everything(*values):
        env = dict(zip(crossing, values))
        run = fx.Interpreter(traced)
        run.env = env
        for node in rest:
            env[node] = run.run_node(node)
        return env[nodes[-1]]

    tail = fx.Graph()
    given = [tail.placeholder(f"v{i}") for i in range(len(crossing))]
    tail.output(tail.call_function(everything, tuple(given)))
    return fx.GraphModule(traced, head), fx.GraphModule(traced, tail)
"""
        },
        states=STATES,
    ),
    # ---------------------------------------------------------------- around the task
    _backbone(
        "discarded",
        "The extractor's result is thrown away; hooks on the whole network give the features.",
        HOOKED,
        'make(model, ["layer4"])\n    return Whole(model)',
    ),
    _backbone(
        "kept-unused",
        "The extractor's result is kept beside, and never called.",
        HOOKED,
        'return Whole(model, make(model, {"layer3": "C4", "layer4": "C5"}))',
    ),
    _backbone(
        "forward-replaced",
        "The extractor's result has a `forward` of its own, which uses hooks.",
        HOOKED,
        'gm = make(model, {"layer3": "C4", "layer4": "C5"})\n'
        "    gm.__dict__['forward'] = Whole(model).forward\n    return gm",
    ),
    _inputs(
        "descriptor",
        "The forbidden list is read through the descriptor of the class in C.",
        "import torch",
        "return list(torch._C._NodeBase._input_nodes.__get__(node))",
    ),
    _inputs(
        "base",
        "The forbidden list is read through `super`.",
        "from torch import fx",
        "return list(super(fx.Node, node)._input_nodes)",
    ),
    _inputs(
        "mro",
        "The descriptor is looked for in all classes above, by a name put together.",
        "",
        "name = '_input' + '_nodes'\n"
        "    found = [vars(c)[name] for c in type(node).__mro__ if name in vars(c)]\n"
        "    return list(found[-1].__get__(node, type(node)))",
    ),
    _inputs(
        "garbage",
        "The garbage collector is asked what the node refers to.",
        "import gc\nfrom torch import fx",
        "for value in gc.get_referents(node):\n"
        "        if type(value) is dict and value and all(v is None for v in value.values()):\n"
        "            if all(isinstance(k, fx.Node) and node in k.users for k in value):\n"
        "                return list(value)\n    return []",
    ),
    _inputs(
        "garbage-alias",
        "The same, by a function that was imported under another name.",
        "from gc import get_referents as read\nfrom torch import fx",
        "for value in read(node):\n"
        "        if type(value) is dict and value and all(v is None for v in value.values()):\n"
        "            if all(isinstance(k, fx.Node) and node in k.users for k in value):\n"
        "                return list(value)\n    return []",
    ),
    _inputs(
        "state",
        "What a node says of itself when it is copied is read.",
        "",
        "return list(node.__reduce_ex__(2)[2]['_input_nodes'])",
    ),
    Attack(
        "claiming-dead-code",
        "`dead_nodes` has FX take them out, under another name that was kept.",
        FORBIDDEN,
        "from torch import fx\nkept = vars(fx.Graph)['eliminate_dead_code']\n"
        "import copy, types\ntwin = types.FunctionType(getattr(kept, '__wrapped__', kept).__code__,"
        " fx.graph.__dict__)",
        NODES,
        answers={
            "dead_nodes": """\
def dead_nodes(model):
    gm = fx.symbolic_trace(model)
    before = [n.name for n in gm.graph.nodes]
    twin(gm.graph)
    left = {n.name for n in gm.graph.nodes}
    return [name for name in before if name not in left]
"""
        },
        states=STATES,
    ),
    Attack(
        "claiming-other-answer",
        "A right answer's text stands in a string, and a wrong one under its name.",
        "The answer is what the name stands for.",
        f"TEXT = {text_of('retarget', 'new nodes, then erased')!r}",
        CHANGES,
        answers={"retarget": "def retarget(model, old, new):\n    return model"},
        states=STATES,
    ),
]  # fmt: skip
