"""The answer key of `refresh_meta`: for each node, the fake value of its result in a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch import fx, nn

from autograder.authoring.key import (
    AnswerKey,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    Stage,
    caller_untouched,
    difference,
    fake_tensor_mode,
    ordinal,
    own_buffers,
    own_parameters,
    rule,
    show,
    unrecorded,
)
from autograder.exercises.ch12_passes.keys import driving, said_in
from autograder.exercises.ch12b_metadata.keys import modes_are_left
from autograder.exercises.ch12b_metadata.models import Teller, vals_of

Vals = dict[str, Encoded]


def _vals(data: Encoded) -> Vals:
    """The report about the `val` of each node, by name."""
    return {str(row["tuple"][0]): row["tuple"][1] for row in data["list"]}


@rule("returns nothing", Stage.KIND)
def returns_nothing(evidence: Evidence) -> Iterable[Finding]:
    """The answer must return nothing and keep the nodes; the report must be complete."""
    got, want = said_in(evidence)
    ours = evidence.outcome.runs[0]["forward"]["args"]
    theirs = evidence.reference.runs[0]["args"]
    tables = evidence.outcome.tensors, evidence.reference.tensors
    if got.keys() != want.keys() or difference(ours, tables[0], theirs, tables[1]):
        yield unrecorded(evidence)
    elif [*_vals(got["vals"])] != [*_vals(want["vals"])]:
        yield evidence.finding(
            "graph-changed",
            f"{evidence.you} changed which nodes there are.",
            "Only the `meta` of the nodes is written. Which line adds a node, or erases one?",
        )
    elif got["nothing"] is not True:
        yield evidence.finding(
            "returns-something",
            f"{evidence.you} returned something; it should return `None`.",
            "The graph module that is given has the new values. There is nothing to return.",
        )


@rule("random state", Stage.CALLER)
def random_state(evidence: Evidence) -> Iterable[Finding]:
    """The answer must not draw random numbers."""
    got, want = said_in(evidence)
    if got["random"] != want["random"]:
        yield evidence.finding(
            "random-changed",
            f"{evidence.you} changed the global random state.",
            "Which call draws random numbers here, or sets a seed? Nothing has to be drawn: only "
            "shape, dtype, strides and device are noted.",
        )


@rule("other entries of meta", Stage.CALLER)
def other_entries(evidence: Evidence) -> Iterable[Finding]:
    """The other entries in the `meta` of a node must stay."""
    got, want = said_in(evidence)
    names = [node.name for node in evidence.trial.args[0].gm.graph.nodes]
    for name, ours, theirs in zip(names, got["notes"]["list"], want["notes"]["list"], strict=True):
        now = {show(key): value for key, value in ours["dict"]}
        for key, value in theirs["dict"]:
            if now.get(show(key), {}) != value:
                yield evidence.finding(
                    "meta-lost",
                    f"`{name}` had {show(key)} in its `meta`, and has "
                    f"{'something else under it' if show(key) in now else 'it no more'}.",
                    "Other tools keep their notes there. How is one entry of a dictionary set?",
                    (name,),
                )
                return


@rule("every node has a val", Stage.STRUCTURE)
def every_node(evidence: Evidence) -> Iterable[Finding]:
    """Every node except the output must have a `val`."""
    got, want = (_vals(each["vals"]) for each in said_in(evidence))
    missing = [name for name in want if got[name] is None]
    if missing:
        name = missing[0]
        yield evidence.finding(
            "missing-val",
            f"`{name}` has no `val`; its value is {words(want[name])}.",
            "Inputs and attributes are nodes, too, and a value may be a number, a text, `None`, or "
            "several of these. Which nodes does your function leave out, and why?",
            missing,
        )


@rule("old values are replaced", Stage.STRUCTURE)
def old_values_are_replaced(evidence: Evidence) -> Iterable[Finding]:
    """Values from another graph or another example must not be left."""
    got, want = (_vals(each["vals"]) for each in said_in(evidence))
    for name, old in _stale(evidence).items():
        if name not in want or _differ(got[name], old):
            continue
        words = differs(got[name], want[name], name) if _differ(want[name], old) else None
        if words is None:
            continue
        yield evidence.finding(
            "stale-val",
            f"The `val` of `{name}` is the one that it had before your call. {words[1]}",
            "What was noted for another graph is of no use. Which nodes does it survive on?",
            (name,),
        )
        return


@rule("fake tensors of one mode", Stage.RUNS)
def fakes_of_one_mode(evidence: Evidence) -> Iterable[Finding]:
    """All tensors must be fake and have the same mode."""
    got, want = (_vals(each["vals"]) for each in said_in(evidence))
    modes: dict[int, str] = {}
    for name in want:
        for tensor in _tensors(got[name]):
            if tensor.kind != "fake":
                yield evidence.finding(
                    "not-fake",
                    f"In the `val` of `{name}` is {tensor.words}, which is not a `FakeTensor`.",
                    "Which values come to your function as real tensors: inputs, attributes "
                    "of the module, or results? At which of these places are they converted?",
                    (name,),
                )
                return
            modes.setdefault(tensor.mode, name)
    if len(modes) > 1:
        first, second, *_ = modes.values()
        yield evidence.finding(
            "two-modes",
            f"The fake tensors of `{first}` and `{second}` belong to two modes.",
            "Tensors of two modes cannot be used together. Where are modes made? A deep copy of a "
            "fake tensor has a copy of its mode.",
            (first, second),
        )


@rule("right values", Stage.RESULT)
def right_values(evidence: Evidence) -> Iterable[Finding]:
    """Each `val` must describe the value at the time it was computed."""
    got, want = (_vals(each["vals"]) for each in said_in(evidence))
    for name in want:
        found = differs(got[name], want[name], name)
        if found is None:
            continue
        code, text, advice = found
        if not _differ(got[name], _in_the_end(evidence)[name]):
            code = "shows-later-change"
            text += " That is what has become of the value in the end."
            advice = (
                "A later node changes this value. What is noted must be another object, with the "
                "same strides, or it changes, too."
            )
        yield evidence.finding(code, text, advice, (name,))
        return


# ------------------------------------------------------------------ comparing reports


class Tensor(NamedTuple):
    """The report about a tensor."""

    kind: str
    dtype: str
    sizes: list[Encoded]
    strides: list[Encoded]
    device: str
    mode: int

    @property
    def words(self) -> str:
        """The report as text."""
        real = {"fake": "a fake", "tensor": "a real"}[self.kind]
        place = "" if self.device == "cpu" else f" on {self.device}"
        return f"{real} {self.dtype} tensor of shape {_shape(self.sizes)}{place}"

    def stride_of(self) -> list[Encoded]:
        """The relevant strides; for a size of one, only the type of its stride."""
        empty = 0 in self.sizes
        pairs = zip(self.sizes, self.strides, strict=True)
        return [type(stride) if empty or size == 1 else stride for size, stride in pairs]


def _shape(sizes: list[Encoded]) -> str:
    return f"({', '.join(map(str, sizes))}{',' * (len(sizes) == 1)})"


def _parts(told: Encoded) -> tuple[str, list[Any]]:
    """The word for a value's kind, and its details."""
    word, *more = told["tuple"]
    return str(word), more


def _tensor(told: Encoded) -> Tensor:
    """The report about a tensor.

    Raises:
        ValueError: it does not have the form of a `Teller` report.
    """
    kind, (dtype, sizes, strides, device, mode) = _parts(told)
    found = Tensor(kind, dtype, sizes["list"], strides["list"], device, mode)
    if type(mode) is not int or len(found.sizes) != len(found.strides):
        raise ValueError(told)
    return found


_SEVERAL = ("list", "tuple", "sizes")


def _tensors(told: Encoded) -> list[Tensor]:
    word, more = _parts(told)
    if word in ("fake", "tensor"):
        return [_tensor(told)]
    if word in _SEVERAL:
        return [tensor for item in more[0]["list"] for tensor in _tensors(item)]
    if word == "dict":
        return [t for pair in more[0]["list"] for t in _tensors(pair["tuple"][1])]
    return []


def words(told: Encoded) -> str:
    """A value as a short text."""
    word, more = _parts(told)
    if word in ("fake", "tensor"):
        return _tensor(told).words
    if word in _SEVERAL:
        count = len(more[0]["list"])
        name = "Size" if word == "sizes" else word
        return f"a `{name}` of {count} item{'s' * (count != 1)}"
    if word == "dict":
        return f"a `dict` with the keys {', '.join(show(p['tuple'][0]) for p in more[0]['list'])}"
    return f"the symbol {show(more[0])}" if word == "symbol" else show(more[0], 60)


_LOOKS = {
    "wrong-kind": "Which kinds of values are there: tensors, numbers, several values in a tuple, "
    "list or dictionary, and `None`? What does your function make of each?",
    "wrong-value": "A value that is not a tensor is noted as it is.",
    "wrong-dtype": "Run this node by hand on fake tensors of the right kinds. What gives it here?",
    "wrong-shape": "Run this node by hand on fake tensors of the right shapes. What gives it here? "
    "A shape is made of numbers, even if the inputs could be larger.",
    "wrong-strides": "Which call makes a tensor of the same shape, and which keeps the strides? A "
    "view or an expanded tensor is not contiguous.",
    "wrong-device": "Fake tensors know the device of the real ones. Who changed it here?",
}


def differs(got: Encoded, want: Encoded, name: str) -> tuple[str, str, str] | None:
    """The first difference of two reports about values, except in their modes.

    Returns:
        Its code, a sentence about it, and advice.
    """
    found = _difference(got, want, f"the `val` of `{name}`")
    if found is None:
        return None
    code, text = found
    return code, f"{text[:1].upper()}{text[1:]}.", _LOOKS[code]


def _differ(got: Encoded, want: Encoded) -> bool:
    return want is None or _difference(got, want, "") is not None


def _difference(got: Encoded, want: Encoded, place: str) -> tuple[str, str] | None:
    (ours, mine), (theirs, other) = _parts(got), _parts(want)
    kind = f"{place} is {words(got)}, and should be {words(want)}"
    if ours != theirs and not {ours, theirs} <= {"fake", "tensor"}:
        if theirs != "sizes" or ours not in ("list", "tuple"):
            return "wrong-kind", kind
    if theirs in ("fake", "tensor"):
        return _of_tensors(_tensor(got), _tensor(want), place)
    if theirs in _SEVERAL:
        pairs = [each[0]["list"] for each in (mine, other)]
        if len(pairs[0]) != len(pairs[1]):
            return "wrong-kind", kind
        items = enumerate(zip(*pairs, strict=True), start=1)
        return _first(_difference(a, b, f"the {ordinal(i)} item of {place}") for i, (a, b) in items)
    if theirs == "dict":
        tables = [dict(map(_entry, each[0]["list"])) for each in (mine, other)]
        if tables[0].keys() != tables[1].keys():
            return "wrong-kind", kind
        return _first(
            _difference(tables[0][key], value, f"the entry {key} of {place}")
            for key, value in tables[1].items()
        )
    return ("wrong-value", kind) if difference(mine[0], [], other[0], []) else None


def _entry(pair: Encoded) -> tuple[str, Encoded]:
    key, value = pair["tuple"]
    return show(key), value


def _first(found: Iterable[tuple[str, str] | None]) -> tuple[str, str] | None:
    return next((each for each in found if each is not None), None)


def _of_tensors(got: Tensor, want: Tensor, place: str) -> tuple[str, str] | None:
    if got.dtype != want.dtype:
        return "wrong-dtype", f"{place} is {got.words}; the value is of {want.dtype}"
    if got.sizes != want.sizes:
        shape = _shape(want.sizes)
        return "wrong-shape", f"{place} is {got.words}; the value is of shape {shape}"
    if got.device != want.device:
        return "wrong-device", f"{place} is {got.words}; the value is on {want.device}"
    if got.stride_of() != want.stride_of():
        strides = f"has the strides {_shape(got.strides)}; the value has {_shape(want.strides)}"
        return "wrong-strides", f"{place}, of shape {_shape(got.sizes)}, {strides}"
    return None


# ------------------------------------------------------------------ the key's own run


class _OnFakes(fx.Interpreter):
    """Runs a graph module on fake tensors, and records each value when it is computed.

    It first replaces the module's tensors by fake ones, so the graph module cannot be used for
    anything else.
    """

    def __init__(self, gm: fx.GraphModule) -> None:
        super().__init__(gm, garbage_collect_values=False)
        self.mode = fake_tensor_mode()()
        self.kept: dict[fx.Node, Any] = {}
        for module in gm.modules():
            self._exchange(module)

    def _exchange(self, module: nn.Module) -> None:
        for store in (own_parameters(module), own_buffers(module)):
            for name, tensor in [*store.items()]:
                if tensor is not None:
                    setattr(module, name, self.mode.from_tensor(tensor))

    def on(self, *inputs: Any) -> None:
        """Run the module on fake versions of these inputs."""
        given = _each_tensor(inputs, self.mode.from_tensor)
        with self.mode, torch.no_grad():
            self.run(*given)

    def run_node(self, n: fx.Node) -> Any:
        """Run a node, keep its value, and record a tensor like it."""
        value = super().run_node(n)
        self.kept[n] = value
        if n.op != "output":
            n.meta["val"] = _each_tensor(value, _like)
        return value


def _like(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(
        tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device
    )


def _each_tensor(value: Any, change: Any) -> Any:
    """A value with each of its tensors converted; a `Size` stays a `Size`."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        items = [_each_tensor(item, change) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: _each_tensor(item, change) for key, item in value.items()}
    return value


def ours(gm: fx.GraphModule, *inputs: Any) -> None:
    """Record each value in a graph module, which is not usable afterwards."""
    _OnFakes(gm).on(*inputs)


def _stale(evidence: Evidence) -> Vals:
    """The `meta` before the answer ran."""
    return _vals(Encoder().encode(vals_of(evidence.trial.args[0].gm)))


def _in_the_end(evidence: Evidence) -> Vals:
    """The reports about the values at the end of the key's own run."""
    asked = evidence.case.make(0).args[0]
    run = _OnFakes(asked.gm)
    run.on(*asked.inputs)
    teller = Teller()
    told = [(node.name, teller.tell(value)) for node, value in run.kept.items()]
    return _vals(Encoder().encode(told))


KEY = AnswerKey(
    (
        returns_nothing,
        caller_untouched,
        modes_are_left,
        random_state,
        other_entries,
        every_node.because("a value that is missing differs, too: this says so first"),
        old_values_are_replaced.because("an old value differs, too: this says whose it is"),
        fakes_of_one_mode,
        right_values,
    ),
    driving(ours),
    oracle_only=True,
)
