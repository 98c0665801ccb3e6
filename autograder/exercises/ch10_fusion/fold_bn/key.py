"""The answer key of `fold_bn`: a convolution of the same kind that computes what both do."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace

import torch

from autograder.authoring.key import (
    LAYER_PATH,
    AnswerKey,
    Difference,
    Encoder,
    Evidence,
    Finding,
    ModuleRecord,
    Reference,
    Stage,
    Trial,
    caller_untouched,
    copies,
    difference,
    kind_of,
    rule,
    runs,
    runs_of,
    show,
    ways_to_run,
    wellformed,
)

TOLERANCE = {
    torch.float64: 1e-10,
    torch.float32: 1e-4,
    torch.float16: 2e-2,
    torch.bfloat16: 1.5e-1,
}
"""Absolute and relative tolerance; half types have three digits, or two."""


def in_eval_mode(trial: Trial) -> Reference:
    """Compute both layers in eval mode, in float64."""
    pair = copy.deepcopy(trial.model)
    if pair is None:
        raise TypeError("a case of fold_bn has a model")
    pair.double().eval()
    return runs_of(lambda x: pair(x.double()).to(x.dtype), trial)


@rule("returns a layer", Stage.KIND)
def returns_a_layer(evidence: Evidence) -> Iterable[Finding]:
    """The result must be a module, not its parameters."""
    value = evidence.outcome.value
    if value is None:
        yield evidence.finding(
            "returned-none",
            f"{evidence.you} returned `None`.",
            "Does every path through your function end with `return`?",
        )
    elif not evidence.has_graph:
        yield evidence.finding(
            "wrong-kind",
            f"{evidence.you} returned {kind_of(value)}, not a convolution.",
            "The weight and the bias belong into a module that can be called.",
        )


@rule("the same kind of convolution", Stage.FORM)
def same_kind(evidence: Evidence) -> Iterable[Finding]:
    """The layer must have the given convolution's class, and be in eval mode."""
    row = _layer(evidence)
    name = row["class"].rpartition(".")[2]
    wanted = type(evidence.trial.args[0])
    if row["class"] != f"{wanted.__module__}.{wanted.__qualname__}":
        yield evidence.finding(
            "wrong-kind",
            f"{evidence.you} returned a module of the class `{name}`; the convolution that it was "
            f"given is an `nn.{wanted.__name__}`.",
            "Return one convolution of the same class, with nothing around it.",
        )
    elif row["training"]:
        yield evidence.finding(
            "training-mode",
            "The convolution that you returned is in training mode.",
            "What is folded holds in eval mode only. Which call puts a module into that mode?",
        )


@rule("the settings of the convolution", Stage.RUNS)
def same_settings(evidence: Evidence) -> Iterable[Finding]:
    """Name a lost setting, if the values are wrong."""
    if not _differs(evidence):
        return
    conv, encoder = evidence.trial.args[0], Encoder()
    for name in ("stride", "padding", "dilation", "groups", "padding_mode"):
        got, want = _layer(evidence)["attrs"].get(name), encoder.encode(getattr(conv, name))
        if got != want:
            yield evidence.finding(
                "lost-setting",
                f"The `{name}` of your convolution is {show(got)}; that of the one that was given "
                f"is {show(want)}.",
                "Which settings does a convolution have besides its weight and bias?",
            )
            return


def _differs(evidence: Evidence) -> bool:
    """Whether the layer raises, or gives other values than both layers."""
    for i, want in enumerate(evidence.reference.runs):
        got, tables = evidence.outcome.runs[i]["forward"], evidence.reference.tensors
        if "error" in got or difference(
            got.get("value"), evidence.outcome.tensors, want["value"], tables
        ):
            return True
    return False


def _layer(evidence: Evidence) -> ModuleRecord:
    return next(row for row in evidence.graph["modules"] if row["path"] == LAYER_PATH)


@rule("same values", Stage.RESULT)
def same_values(evidence: Evidence) -> Iterable[Finding]:
    """The layer must compute what both layers do in eval mode, to the precision of the dtype."""
    for i, want in enumerate(evidence.reference.runs):
        record = evidence.run_record(i)
        for how in (*ways_to_run(evidence), "rebuilt"):
            tables = evidence.tensors_of(how), evidence.reference.tensors
            got, table = record[how], tables[1]
            found = difference(got.get("value"), tables[0], want["value"], table)
            if found is None or found.code == "wrong-result":
                entries = tables[0][got["value"]["tensor"]]
                gap = _too_far(entries, table[want["value"]["tensor"]])
                found = (found or Difference("wrong-result", gap)) if gap else None
            where = "the input afterwards"
            found = found or difference(got.get("args"), tables[0], want["args"], table, where)
            if not found:
                continue
            yield evidence.finding(
                found.code,
                f"On {evidence.inputs_text(i)}, {found.text}.",
                "Write both formulas down for one channel, and compare them with your code.",
            )
            return


def _too_far(got: torch.Tensor, want: torch.Tensor) -> str:
    """The error of the entries, as a clause; ``""`` if it is within the tolerance."""
    tolerance = TOLERANCE[want.dtype]
    if torch.allclose(got.double(), want.double(), rtol=tolerance, atol=tolerance):
        return ""
    gap = (got.double() - want.double()).abs().max().item()
    return (
        f"the result is off by {gap:.1e}, and more digits of its dtype "
        f"{str(want.dtype).removeprefix('torch.')} are right if nothing is rounded on the way"
    )


@rule("caller untouched", Stage.CALLER)
def layers_untouched(evidence: Evidence) -> Iterable[Finding]:
    """The answer must not change the given layers."""
    for finding in caller_untouched(evidence):
        text = finding.message.replace("the model it was given", "a layer that it was given")
        advice = (
            "Both layers belong to the caller. Which line of yours sets something on one of them, "
            "or on a part that a shallow copy shares with it?"
        )
        yield replace(finding, message=text, advice=advice)


@rule("runs", Stage.RUNS)
def layer_runs(evidence: Evidence) -> Iterable[Finding]:
    """The layer must be callable; the graph around it is the judge's."""
    for finding in runs(evidence):
        text = finding.message.partition(" It came from this line of the graph's code")[0]
        advice = "How many dimensions does its weight have, and which shape did the old one have?"
        yield replace(finding, message=text, advice=advice)


KEY = AnswerKey(
    (
        returns_a_layer.because("names the kind that came back, before its class is looked at"),
        layers_untouched,
        wellformed,
        same_kind,
        same_settings.because("names the setting, before the layer is run"),
        layer_runs,
        same_values,
        copies,
    ),
    in_eval_mode,
    oracle_only=True,
)
