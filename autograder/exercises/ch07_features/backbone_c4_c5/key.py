"""The answer key of `backbone_c4_c5`: a module that torchvision's extractor makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from autograder.authoring.key import (
    AnswerKey,
    CallResult,
    Encoder,
    Evidence,
    Finding,
    InsideRecord,
    Reference,
    Rule,
    RunRecord,
    Stage,
    Trial,
    Way,
    caller_untouched,
    classes_of,
    difference,
    kind_of,
    leaves,
    rule,
    runs,
    runs_of,
    same_result_by,
    signature_of,
    target_path,
    wellformed,
)
from autograder.exercises.ch07_features.backbone_c4_c5.models import MADE_BY


@rule("returns a module", Stage.KIND)
def returns_module(evidence: Evidence) -> Iterable[Finding]:
    """The result is an `nn.Module`: a `GraphModule`, or a module that contains one."""
    value = evidence.outcome.value
    if evidence.has_graph or (isinstance(value, dict) and "module" in value):
        return
    yield evidence.finding(
        "returned-none" if value is None else "wrong-kind",
        f"{evidence.you} returned {kind_of(value)}, not a module.",
        "Does every path through your function end with `return`?"
        if value is None
        else "Return the module that gives the features when it is called, not what it gives.",
    )


@rule("made by torchvision", Stage.STRUCTURE)
def made_by_torchvision(evidence: Evidence) -> Iterable[Finding]:
    """The answer calls `create_feature_extractor`; other rules judge the result."""
    if MADE_BY not in evidence.outcome.used:
        yield evidence.finding(
            "not-torchvision",
            f"{evidence.you} does not use `create_feature_extractor`, which this exercise is "
            "about.",
            _CUTS_AWAY,
        )


_CUTS_AWAY = (
    "It cuts away what comes after the last feature; a module around the whole model computes it "
    "all."
)


@rule("of the model's layers", Stage.STRUCTURE)
def of_the_models_layers(evidence: Evidence) -> Iterable[Finding]:
    """The graph calls only operations and layers of PyTorch and torchvision."""
    if not evidence.has_graph:
        return
    classes = classes_of(evidence.graph)
    for row in evidence.graph["nodes"]:
        target = row["target"]
        of_torchvision = classes.get(target, "") if isinstance(target, str) else ""
        if of_torchvision.startswith("torchvision.models."):
            continue
        called = next((c for name, c in evidence.own_code if name == row["name"]), None)
        if called:
            yield evidence.finding(
                "unknown-target",
                f"`{row['name']}` calls `{called}`, which only your notebook knows.",
                "The graph that `create_feature_extractor` makes calls the layers of the model.",
                (row["name"],),
            )
            return


@rule("the extractor gives them", Stage.COPY)
def the_extractor_gives_them(evidence: Evidence) -> Iterable[Finding]:
    """C4 and C5 come from a graph: the result's own, or that of an extractor inside a module.

    If the graph returns other values, so does the module. This rule is last, because a message
    about wrong features is better.
    """
    for got, want in zip(evidence.outcome.runs, evidence.reference.runs, strict=True):
        if evidence.has_graph:
            own = evidence.value["generated"] and _follows(evidence, got, got["altered"])
            if not own:
                yield evidence.finding(
                    "not-torchvision",
                    f"The module that {evidence.you} returned does not run its own graph when it "
                    "is called: its features come from elsewhere.",
                    f"Return what `create_feature_extractor` gives as it is. {_CUTS_AWAY}",
                )
                return
        elif not any(_gives(evidence, got, part, want) for part in got["inside"]):
            yield evidence.finding(
                "not-torchvision",
                f"The module that {evidence.you} returned does not take C4 and C5 from what "
                "`create_feature_extractor` has made: that is not in it, is not used, or does not "
                "give both.",
                f"A module around an extractor chooses and renames. {_CUTS_AWAY}",
            )
            return


def _gives(evidence: Evidence, run: RunRecord, part: InsideRecord, want: CallResult) -> bool:
    """Whether a part of a module returns all features, and the module uses these."""
    tables = evidence.outcome.tensors, evidence.reference.tensors
    values = [*leaves(part["given"].get("value"))]
    features = [feature for _, feature in want["value"]["dict"]]
    return _follows(evidence, run, part["altered"]) and all(
        any(not difference(value, tables[0], feature, tables[1]) for value in values)
        for feature in features
    )


def _follows(evidence: Evidence, run: RunRecord, other: CallResult) -> bool:
    """Whether all features increase by one if the graph adds one to its results.

    The rest of the run must be the same.
    """
    tensors, forward = evidence.outcome.tensors, run["forward"]
    if "value" not in other or difference(other["args"], tensors, forward["args"], tensors):
        return False
    greater = [tensor + 1 for tensor in tensors]
    return not difference(other["value"], tensors, forward["value"], greater)


@rule("signature as given", Stage.STRUCTURE)
def signature_as_given(evidence: Evidence) -> Iterable[Finding]:
    """The graph's `forward` has the model's parameters, which are known without a trace."""
    if not evidence.has_graph:
        return
    model = evidence.trial.given_model
    want = signature_of(model, Encoder())
    got = next((each for each in evidence.derived.signatures if each != want), want)
    if got != want:
        names = ", ".join(row[0] for row in got or [])
        yield evidence.finding(
            "lost-signature",
            f"The result's `forward({names})` does not take the same parameters as the model's.",
            "Placeholders are the signature: their names, order and defaults must stay.",
        )


def _of_graphs(shared: Rule) -> Rule:
    """A rule for graph modules, which is skipped for other modules."""
    return replace(shared, find=lambda e: shared.find(e) if e.has_graph else ())


def _calls_blocks(evidence: Evidence) -> bool:
    """Whether the graph calls a block of torchvision, or a layer that contains one."""
    calls = [target_path(row) for row in evidence.graph["nodes"] if row["op"] == "call_module"]
    blocks = [
        path
        for path, name in classes_of(evidence.graph).items()
        if path and name.startswith("torchvision.")
    ]
    return any(path == call or path.startswith(f"{call}.") for path in blocks for call in calls)


def _features(evidence: Evidence) -> Iterable[Finding]:
    """The features equal those of the reference; `same_result` with advice for this exercise.

    The judge runs the result itself if no whole block of torchvision is a leaf in it.
    """
    ways: tuple[Way, ...] = ("forward", "interpreter")
    if evidence.has_graph and not _calls_blocks(evidence):
        ways = (*ways, "rebuilt")
    for finding in same_result_by(*ways).find(evidence):
        yield replace(finding, advice=_LOOK.get(finding.code, _LOOK["wrong-result"]))


_LOOK = {
    "wrong-structure": "The module must give a dictionary with the keys C4 and C5, and no others.",
    "wrong-result": "Which value is the last one inside of layer3, or layer4, of this network? And "
    "in which mode does your module run it?",
}


def c4_and_c5(trial: Trial) -> Reference:
    """The results of the model's `layer3` and `layer4` in a run, from hooks."""
    model = trial.given_model

    def features(*inputs: Any) -> dict[str, Any]:
        seen: dict[str, Any] = {}

        def note(name: str) -> Callable[..., None]:
            return lambda module, args, output: seen.update({name: output})

        layers = {"C4": model.get_submodule("layer3"), "C5": model.get_submodule("layer4")}
        handles = [layer.register_forward_hook(note(name)) for name, layer in layers.items()]
        model(*inputs)
        for handle in handles:
            handle.remove()
        return seen

    return runs_of(features, trial)


# A copy of torchvision's own module is always in training mode, so there is no rule about copies
# here.
KEY = AnswerKey(
    (
        returns_module.because("names the kind that came back, before it is run"),
        caller_untouched,
        _of_graphs(wellformed),
        signature_as_given,
        made_by_torchvision.because("says what to use, before what came back is looked at"),
        of_the_models_layers,
        runs,
        Rule("same result", Stage.RESULT, _features),
        the_extractor_gives_them,
    ),
    c4_and_c5,
)
