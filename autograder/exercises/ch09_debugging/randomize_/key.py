"""The answer key of `randomize_`: the same tensors, with values that hide no mistake."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from autograder.authoring.key import (
    CALLS,
    GIVEN,
    AnswerKey,
    BatchNorm,
    Evidence,
    Finding,
    Part,
    Reference,
    Stage,
    Trial,
    kind_of,
    own_buffers,
    own_modules,
    own_parameters,
    rule,
)
from autograder.exercises.ch09_debugging.randomize_.cases import Shallow


@dataclass(frozen=True)
class After:
    """The record of one tensor after a call."""

    kept: bool
    first: str
    requires_grad: bool
    values: torch.Tensor


@dataclass(frozen=True)
class Before:
    """A tensor before the calls, and whether it is a variance."""

    tensor: torch.Tensor
    first: str
    word: str
    variance: bool
    requires_grad: bool

    @property
    def floats(self) -> bool:
        return self.tensor.is_floating_point()


def given_tensors(model: nn.Module) -> dict[str, Before]:
    """The tensors of a model by path, under each of their names."""
    found: dict[str, Before] = {}
    first: dict[int, str] = {}
    for path, module in model.named_modules(remove_duplicate=False):
        norm = isinstance(module, BatchNorm)
        for word, store in (("parameter", own_parameters(module)), ("buffer", own_buffers(module))):
            for name, tensor in store.items():
                if tensor is None:
                    continue
                where = f"{path}.{name}" if path else name
                first.setdefault(id(tensor), where)
                variance = norm and name == "running_var"
                found[where] = Before(
                    tensor.detach(), first[id(tensor)], word, variance, tensor.requires_grad
                )
    return found


def names_of_nothing(model: nn.Module) -> set[str]:
    """The paths where a model has `None` instead of a tensor, as in a norm without statistics."""
    return {
        f"{path}.{name}" if path else name
        for path, module in model.named_modules(remove_duplicate=False)
        for store in (own_parameters(module), own_buffers(module))
        for name, tensor in store.items()
        if tensor is None
    }


def states(evidence: Evidence) -> list[dict[str, After]]:
    """The state of each tensor, one dictionary for each call."""
    tensors = evidence.outcome.tensors
    found = []
    for run in evidence.outcome.runs:
        rows: dict[str, After] = {}
        for name, row in run["state"]["dict"]:
            if row is not None:
                facts: list[Any] = row["tuple"]
                kept, first, grad, value = facts
                rows[str(name)] = After(kept, first, grad, tensors[value["tensor"]])
        found.append(rows)
    return found


@rule("returns the model", Stage.KIND)
def returns_the_model(evidence: Evidence) -> Iterable[Finding]:
    """The answer must return the given model."""
    for run in evidence.outcome.runs:
        value = run["forward"]["value"]
        if value == GIVEN:
            continue
        if value is None:
            yield evidence.finding(
                "returned-none",
                f"{evidence.you} returned `None`.",
                "Return the model, so that the call can be written in the middle of a line.",
            )
        else:
            what = "another `GraphModule`" if "graph_module" in str(value)[:20] else kind_of(value)
            yield evidence.finding(
                "not-the-model",
                f"{evidence.you} returned {what}, and not the model that it was given.",
                "Change the model itself, and return that.",
            )
        return


@rule("random state kept", Stage.CALLER)
def random_state_kept(evidence: Evidence) -> Iterable[Finding]:
    """The global random state must not change."""
    changed = [c for c in evidence.outcome.changed if c.part is Part.RANDOM_STATE]
    if any("`" not in change for change in changed):
        yield evidence.finding(
            "random-state",
            f"After {evidence.you}, the global random state is another one.",
            "`torch.manual_seed` sets it, and `torch.rand` moves it on. A model with Dropout "
            "that runs afterwards gets other numbers. A `torch.Generator` is a random state of its "
            "own.",
        )
    elif changed:
        yield evidence.finding(
            "random-state",
            f"After {evidence.you}, a global random state is another one: {changed[0]}.",
            "Code that draws numbers there afterwards gets others. Is there an object that is a "
            "random state of its own?",
        )


@rule("modes kept", Stage.CALLER)
def modes_kept(evidence: Evidence) -> Iterable[Finding]:
    """Every module must keep its mode."""
    changed = [c for c in evidence.outcome.changed if c.part is Part.TRAINING_FLAG]
    if changed:
        yield evidence.finding(
            "other-mode",
            f"{evidence.you} puts the model into another mode: {changed[0]}.",
            "Only values of tensors change.",
        )


@rule("same tensors", Stage.FORM)
def same_tensors(evidence: Evidence) -> Iterable[Finding]:
    """Every tensor must be the same object, with its dtype, shape and `requires_grad`."""
    given, nothing = (
        given_tensors(evidence.trial.given_model),
        names_of_nothing(evidence.trial.given_model),
    )
    for run, now in zip(evidence.outcome.runs, states(evidence), strict=True):
        gone = nothing - {name for name, _ in run["state"]["dict"]}
        if gone:
            yield evidence.finding(
                "other-tensors",
                f"Afterwards the model has no `{min(gone)}` any more. It was `None`.",
                "Only values change.",
            )
            return
        found = next(_not_as_given(evidence, given, now), None)
        if found:
            yield found
            return


def _not_as_given(
    evidence: Evidence, given: dict[str, Before], now: dict[str, After]
) -> Iterator[Finding]:
    for name in given.keys() ^ now.keys():
        what = "is not there any more" if name in given else "was not there before"
        yield evidence.finding(
            "other-tensors",
            f"Afterwards the model has other tensors: `{name}` {what}.",
            "Only values change.",
        )
    for name, before in given.items():
        if now[name].first != before.first:
            yield evidence.finding(
                "untied",
                f"`{name}` and `{before.first}` were one tensor, and now they are two.",
                "A weight with two names is tied. It stays so if you write into the tensor that "
                "is there.",
            )
    for name, before in given.items():
        after = now[name]
        if after.values.dtype != before.tensor.dtype or after.values.shape != before.tensor.shape:
            was, has = (f"{t.dtype} and {tuple(t.shape)}" for t in (before.tensor, after.values))
            yield evidence.finding(
                "wrong-dtype",
                f"The {before.word} `{name}` has another dtype or shape: {has}, not {was}.",
                "`tensor.copy_(new)` writes values, and keeps dtype and shape.",
            )
        elif not after.kept:
            yield evidence.finding(
                "replaced",
                f"The {before.word} `{name}` is another object than before.",
                "An optimizer, or a second name, still has the old one. Write into the tensor "
                "that is there.",
            )
        elif after.requires_grad != before.requires_grad:
            yield evidence.finding(
                "wrong-flag",
                f"`requires_grad` of the {before.word} `{name}` has changed.",
                "A frozen parameter stays frozen, and one that is trained stays so.",
            )


@rule("random values", Stage.STRUCTURE)
def random_values(evidence: Evidence) -> Iterable[Finding]:
    """Floating tensors must be random, integer tensors unchanged."""
    given = given_tensors(evidence.trial.given_model)
    now = states(evidence)[0]
    for name, before in given.items():
        words = _wrong_values(before, now[name].values)
        if words:
            code, text, advice = words
            yield evidence.finding(code, f"The {before.word} `{name}` {text}.", advice)
            return


def _wrong_values(before: Before, values: torch.Tensor) -> tuple[str, str, str] | None:
    if not before.floats:
        if torch.equal(values, before.tensor):
            return None
        advice = "Such a buffer counts or is an index: random numbers make no sense there."
        return "integers-changed", "holds whole numbers, and they have changed", advice
    wide = values.double()
    if not wide.numel():
        return None
    if not wide.isfinite().all():
        advice = "What does your formula give for a tensor with a single entry, or in float16?"
        return "not-finite", f"has the values {_shown(values)}", advice
    if torch.equal(values, before.tensor):
        advice = (
            "Which tensors does your loop visit? A frozen parameter counts, and so does a buffer "
            "that is not saved."
        )
        if not before.tensor.is_contiguous():
            advice = (
                "It does not lie in memory row by row, so `reshape` and `flatten` give a copy of "
                "it. Which tensor does your line write into?"
            )
        return "not-random", f"has still the values that it had: {_shown(values)}", advice
    if before.variance and not (wide > 0).all():
        advice = "No variance is negative or zero: BatchNorm takes the square root of it."
        return "negative-variance", f"has the values {_shown(values)}", advice
    if any(
        size > 1 and (wide == wide.select(dim, 0).unsqueeze(dim)).all()
        for dim, size in enumerate(wide.shape)
    ):
        advice = (
            "If all entries or all rows are equal, a pass that mixes up channels goes unnoticed."
        )
        return "degenerate", f"has the values {_shown(values)}, and repeats them", advice
    special = wide.numel() == 1 and wide.item() in (0.0, 1.0)
    if special:
        advice = "With such a number, a pass that leaves the tensor out goes unnoticed."
        return "degenerate", f"has the values {_shown(values)}", advice
    return None


def _shown(values: torch.Tensor) -> str:
    flat = [f"{value:.3g}" for value in values.double().flatten()[:4].tolist()]
    more = ", …" if values.numel() > 4 else ""
    return f"({', '.join(flat)}{more})"


@rule("different tensors differ", Stage.RUNS)
def different_tensors_differ(evidence: Evidence) -> Iterable[Finding]:
    """No two tensors may begin with the same numbers."""
    given, now = given_tensors(evidence.trial.given_model), states(evidence)[0]
    names = [name for name, before in given.items() if before.floats and before.first == name]
    for i, name in enumerate(names):
        for other in names[:i]:
            a, b = (now[each].values.double().flatten() for each in (name, other))
            count = min(len(a), len(b))
            if count >= 2 and torch.allclose(a[:count], b[:count], rtol=1e-6, atol=1e-9):
                yield evidence.finding(
                    "same-values",
                    f"`{name}` begins with the same numbers as `{other}`: {_shown(a[:count])}.",
                    "When do you make or seed your generator: once for each call, or once for "
                    "each tensor?",
                )
                return


@rule("reproducible", Stage.RESULT)
def reproducible(evidence: Evidence) -> Iterable[Finding]:
    """The same seed must give the same values, and another seed different ones."""
    first, again, other = states(evidence)
    for name, before in given_tensors(evidence.trial.given_model).items():
        if not before.floats or not before.tensor.numel():
            continue
        if not torch.equal(first[name].values, again[name].values):
            yield evidence.finding(
                "not-reproducible",
                f"A second call with the same seed, on a copy of the model, gives `{name}` other "
                "values.",
                "The values must come from `seed` alone: not from the global random state, not "
                "from `id` or the `hash` of a text, which are others in each process, and not from "
                "the values that are there.",
            )
            return
        if torch.equal(first[name].values, other[name].values):
            yield evidence.finding(
                "seed-ignored",
                f"With another seed, `{name}` gets the same values.",
                "Where does your function use `seed`?",
            )
            return


VISIBLE = 0.01
"""Least visible change of an output, as a share of its largest entry."""


@rule("a missing norm is seen", Stage.COPY)
def a_missing_norm_is_seen(evidence: Evidence) -> Iterable[Finding]:
    """Deleting any BatchNorm must change the output visibly."""
    if not evidence.expects(Shallow).shallow:
        return
    model = copy.deepcopy(
        evidence.trial.given_model
    ).eval()  # other rules compare with the given model
    now = states(evidence)[0]
    with torch.no_grad():
        for name, before in given_tensors(model).items():
            before.tensor.copy_(now[name].values)
        (inputs,) = evidence.trial.inputs
        whole = model(*inputs)
        for path, module in list(model.named_modules()):
            if not isinstance(module, BatchNorm):
                continue
            owner, _, last = path.rpartition(".")
            children = own_modules(model.get_submodule(owner))
            children[last] = nn.Identity()
            moved = (model(*inputs) - whole).abs().max() / whole.abs().max()
            children[last] = module
            if not moved > VISIBLE:
                yield evidence.finding(
                    "norm-unseen",
                    f"Without the BatchNorm `{path}`, the output changes by {moved:.1e} of its "
                    "largest entry: nobody would see that.",
                    "How far are its mean, variance, weight and bias from 0, 1, 1 and 0?",
                )
                return


def as_given(trial: Trial) -> Reference:
    """Each call returns the model; the rules judge its new state."""
    return Reference(None, [{"value": GIVEN} for _ in CALLS])


KEY = AnswerKey(
    (
        returns_the_model,
        random_state_kept,
        modes_kept,
        same_tensors,
        random_values,
        different_tensors_differ,
        reproducible,
        a_missing_norm_is_seen,
    ),
    as_given,
)
