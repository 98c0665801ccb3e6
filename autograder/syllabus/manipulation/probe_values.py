"""Exercise 3.6: call a probe after every node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import fx, nn

from autograder.core.exercise import Aspect, Case, Exercise, Trial
from autograder.core.outcome import Reference
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.judge.oracles import runs_of
from autograder.models import T, model_case
from autograder.models import probed as zoo
from autograder.rubric.effects import not_probed_yet, probes_in_the_graph, readers_kept, right_log
from autograder.rules.passes import (
    caller_untouched,
    copies,
    returns_graph_module,
    runs,
    same_result,
    signature_kept,
)
from autograder.rules.wellformed import wellformed

X, WIDE = T(2, 3), T(4, 3)

HINTS = (
    """**Where to look.** `show_modules` in section 3.6 inserts a call and rewires nothing.
Which nodes does it look at, and which are you asked for?
If FX complains about `__name__`: which kind of object always has one?""",
    """**What to use.** `graph.inserting_after(node)` and
`graph.call_function(function, (node.name, node))`.
A function that you define inside your pass can call `probe`, whatever `probe` is.""",
    """**A skeleton.**

```python
def call_probe(name, value):               # a function, so it has a name
    ...

gm = ...
for node in list(gm.graph.nodes):
    if node.op in ...:
        with ...:
            ...                            # the name as a string, the node as the value
...
```""",
)


def probe_case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *inputs: Any,
    probe: Callable[[zoo.Log], zoo.Probe] = zoo.function_probe,
    **options: Any,
) -> Case:
    """A case whose probe writes to the trial's log."""
    plain = model_case(name, aspect, make, *inputs, **options)

    def trial(seed: int) -> Trial:
        made = plain.make(seed)
        made.args = (made.model, probe(made.log))
        made.watch = (made.log,)  # nobody is to be probed before the result runs
        return made

    return replace(plain, make=trial)


VOCABULARY = Vocabulary(
    ops(
        "torch.sin({a})",
        "{a} + {b}",
        "{a}.cos()",
        "[nn.Tanh()]({a})",
        "[nn.ReLU()]({a})",
        "{x}.mul_({n})",
        "{x}.add_({b})",
        "{a} * [nn.Parameter(torch.ones(()))]",
        "{x}.reshape({x}.size())",
        "{a} * {b}.dim()",
        "torch.maximum(input={a}, other={b})",
    )
    + COMMON,
    training=True,
    namesakes=("sin", "add"),
)
PROBES = (
    zoo.function_probe,
    zoo.method_probe,
    zoo.Collector,
    zoo.passing_probe,
    zoo.method_probe,
    zoo.answering_probe,
    zoo.partial_probe,
    zoo.lambda_probe,
    zoo.Slots,
    zoo.nameless_probe,
)


def with_probe(trial: Trial, choice: int) -> Trial:
    """The trial with a probe that writes to its log."""
    probe = PROBES[choice % len(PROBES)]
    trial.args = (trial.model, probe(trial.log))
    trial.watch = (trial.log,)
    return trial


def values_seen(trial: Trial) -> Reference:
    """What an Interpreter shows to the probe, and what the model itself computes."""
    probe = trial.args[1]

    class Showing(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            value = super().run_node(n)
            if n.op.startswith("call_"):
                probe(n.name, value)
            return value

    gm = fx.symbolic_trace(trial.model)
    return runs_of(lambda *args: Showing(gm).run(*args), trial)


PROBE_VALUES = Exercise(
    name="probe_values",
    chapter="03_manipulation",
    title="Watch without touching",
    stars=2,
    minutes=10,
    points=4,
    procedure="transform",
    aspects=(
        Aspect("task", 2, "the probe sees the name and value of each call"),
        Aspect("kinds", 2, "functions, methods and modules, and nothing else"),
        Aspect("order", 1, "each directly after its node"),
        Aspect("readers", 2, "no reader is rewired, whatever the probe returns"),
        Aspect("probes", 2, "any callable object can be the probe"),
        Aspect("rest", 1, "models of every kind"),
    ),
    cases=(
        probe_case("three calls", "task", zoo.SinSum, (X,), (T(5),)),
        probe_case("modules and a parameter", "kinds", zoo.Layers, (X,), (WIDE,)),
        probe_case("names and targets", "kinds", zoo.Names, (X, X)),
        probe_case("values that are no tensors", "kinds", zoo.Pieces, (X,)),
        probe_case("calls that nobody reads", "kinds", zoo.DeadEnd, (X,)),
        probe_case("a value changed later", "order", zoo.Overwritten, (X,)),
        probe_case("several readers", "readers", zoo.Readers, (X, X)),
        probe_case("a probe that answers", "readers", zoo.SinSum, (X,), probe=zoo.answering_probe),
        probe_case(
            "a probe that passes on", "readers", zoo.Readers, (X, X), probe=zoo.passing_probe
        ),
        probe_case("a method as the probe", "probes", zoo.SinSum, (X,), probe=zoo.method_probe),
        probe_case("an object as the probe", "probes", zoo.SinSum, (X,), probe=zoo.Collector),
        probe_case("a partial function", "probes", zoo.Layers, (X,), probe=zoo.partial_probe),
        probe_case("a lambda", "probes", zoo.SinSum, (X,), probe=zoo.lambda_probe),
        probe_case("an object of few words", "probes", zoo.SinSum, (X,), probe=zoo.Slots),
        probe_case(
            "parameters by position only", "probes", zoo.SinSum, (X,), probe=zoo.nameless_probe
        ),
        probe_case("names that are taken", "rest", zoo.NamesTaken, (X,)),
        probe_case("parameters with defaults", "rest", zoo.DefaultScale, (X,), (X, 3.0)),
        probe_case("a graph module", "rest", zoo.traced_layers, (X,)),
        probe_case("a model in training mode", "rest", zoo.Layers, (X,), training=True),
        probe_case("redraw: calls", "task", zoo.DeadEnd, (T(4),), hidden=True),
        probe_case("redraw: kinds", "kinds", zoo.Layers, (T(1, 3),), hidden=True),
        probe_case("redraw: order", "order", zoo.Overwritten, (T(4),), hidden=True),
        probe_case(
            "redraw: an object", "probes", zoo.Readers, (X, X), probe=zoo.Collector, hidden=True
        ),
    ),  # fmt: skip
    # The graph calls the probe, or what the learner wrote around it. So targets need not be
    # known, and the judge cannot run the graph itself.
    rubric=(
        returns_graph_module,
        not_probed_yet.because("a changed model would be spoken of, and the log is none"),
        caller_untouched,
        wellformed,
        signature_kept,
        readers_kept.because("names the reader, where others see only that a run is wrong"),
        runs,
        same_result,
        right_log,
        probes_in_the_graph,
        copies,
    ),
    hints=HINTS,
    random=RandomModels(VOCABULARY, values_seen, with_probe),
    own_code="skipped",
)
