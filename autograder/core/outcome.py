"""The record of an answer's run on a case: plain data and tensors.

An `Outcome` is everything that the process that runs a learner's code sends about a case. On disk,
it is a JSON header followed by the raw bytes of its tensors. A `Reference` is the expected result.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypedDict, get_args

import torch

from autograder.core.codec import Encoded, Tagged
from autograder.core.execution import CallResult, ErrorRecord
from autograder.core.graph_record import CallRecord, GraphRecord
from autograder.core.input_codec import InputsRecord

Ended = Literal["returned", "raised", "out of time", "not attempted"]


class Part(StrEnum):
    """A part of the caller's objects. Programs compare these; `Change` has words for people."""

    GRAPH = "graph"
    """A graph module's graph, its code, or the module that the graph belongs to."""
    TRAINING_FLAG = "training flag"
    MODULE = "module"
    """Any other part of a module: submodules, parameters, buffers, attributes, hooks."""
    META = "meta"
    """The `meta` of a node."""
    ARGUMENT = "argument"
    TENSOR = "tensor"
    """An input tensor, or one inside an argument."""
    RANDOM_STATE = "random state"


class Change(str):
    """A change that a call made to the caller's objects, in words.

    Attributes:
        part: the part that was changed. Programs compare this, not the words.
    """

    part: Part

    def __new__(cls, part: Part, words: str) -> Change:
        """Make a change from words such as ``the model's code was changed``."""
        self = super().__new__(cls, words)
        self.part = part
        return self

    def __getnewargs__(self) -> tuple[Part, str]:  # type: ignore[override]
        """The arguments with which a copy is made."""
        return self.part, str(self)


GIVEN: Encoded = {"given": 0}
"""Marks a result that is the same object as the answer's argument."""

CALLS = (0, 0, 1)
"""The offsets of the case's seed, one for each call of an answer that works in place."""

MAX_HEADER = 32 * 1024 * 1024
MAX_CONTAINERS, MAX_COMMAS = 600_000, 2_000_000
"""Limits of a header. Containers need much more memory than their text, and the judge reads
dozens of outcomes. The runner stays below: it encodes at most `codec.MAX_ITEMS` values.
"""
MAX_TENSORS = 1024 * 1024 * 1024


class InsideRecord(TypedDict):
    """Calls of a part of a module: as it was given, and with other numbers in it."""

    given: CallResult
    altered: CallResult


class TimerRecord(TypedDict):
    """The measurements of a timer. `wall` is the time of the whole run, in seconds."""

    wall: float
    seconds: Tagged
    calls: Tagged
    slowest: list[list[Any]]


class RunRecord(TypedDict, total=False):
    """The calls of a result on one input, by the way it was called; see the answer kinds.

    Attributes:
        rebuilt: the judge's own run of the described graph.
        afterwards: whether gradients were on afterwards.
        state: the final state of each parameter and buffer, by name.
    """

    forward: CallResult
    interpreter: CallResult
    copy: CallResult
    eager: CallResult
    altered: CallResult
    rebuilt: CallResult
    inside: list[InsideRecord]
    timer: TimerRecord
    afterwards: bool
    state: Tagged


Way = Literal["forward", "interpreter", "copy", "eager", "altered", "rebuilt"]
"""A way to call a result: a key of `RunRecord`."""


class PieceRecord(TypedDict, total=False):
    """The argument of a compiler: a graph module, or an object of another `kind`."""

    graph_module: GraphRecord
    kind: str
    examples: Encoded


class ResultRecord(Tagged, total=False):
    """A result: an encoded value, or those of these keys that its answer kind fills.

    Attributes:
        graph_module: the graph module that was returned, or edited.
        tail: the second one.
        pieces: the arguments of a compiler, in order.
        compiled: for the path of each compiled part, its index in `pieces`.
        new: whether the graph module has another graph than the argument.
        count: the number that was returned with it.
        returned: the return value of an answer that edits in place.
        trees: the places of placeholders in nested arguments, and of outputs in the result.
        cuts: for nodes whose own code stops a gradient, ``raises`` or ``loses``, by name.
        generated: whether a module's code was generated from a graph.
        module: the class of a module that is not a graph module.
        keys: functions that have a rule.
        rules: the nodes that each rule recorded, once for each call that it was applied to.
        given: the inputs of a witness.
        ran: the calls of a witness and of its trace.
        failed: the step at which a witness failed.
    """

    graph_module: GraphRecord
    tail: GraphRecord
    pieces: list[PieceRecord]
    compiled: dict[str, int]
    new: bool
    count: Encoded
    returned: Encoded
    trees: Tagged
    cuts: dict[str, str]
    generated: bool
    module: str
    keys: Tagged
    rules: list[list[CallRecord]]
    rule_error: ErrorRecord
    trace_error: ErrorRecord
    given: InputsRecord
    ran: dict[str, CallResult]
    failed: str
    error: ErrorRecord


@dataclass
class Outcome:
    """The record of one answer on one case.

    Attributes:
        case: the case's name.
        ended: the end of the call.
        error: for a call that raised: ``type``, ``message``, ``line`` (number within the
            learner's code), ``text`` (that line).
        value: the plain form of the result; for a graph module, its description under the key
            ``graph_module``.
        runs: one record for each input: ``forward``, ``interpreter``, ``copy``, each with
            ``value`` or ``error``, the ``args`` afterwards, and the ``log`` of the case.
        changed: changes that the call made to the caller's objects.
        used: forbidden attributes that the answer used.
        printed: the output of the learner's code, cut to size.
        tensors: the table that ``{"tensor": i}`` refers to.
    """

    case: str
    ended: Ended = "returned"
    error: ErrorRecord | None = None
    value: ResultRecord | Any = None
    runs: list[RunRecord] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    printed: str = ""
    tensors: list[torch.Tensor] = field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write the outcome to a file."""
        with path.open("wb") as file:
            self.write(file)

    def write(self, file: BinaryIO) -> None:
        """Write the outcome to a binary stream."""
        blobs = [tensor_bytes(tensor) for tensor in self.tensors]
        header = vars(self) | {
            "changed": [[change.part, change] for change in self.changed],
            "tensors": [
                {
                    "dtype": str(t.dtype).removeprefix("torch."),
                    "shape": list(t.shape),
                    "bytes": len(blob),
                }
                for t, blob in zip(self.tensors, blobs, strict=True)
            ],
        }
        head = json.dumps(header).encode()
        file.write(len(head).to_bytes(8, "little") + head)
        for blob in blobs:
            file.write(blob)

    @classmethod
    def load(cls, path: Path) -> Outcome:
        """Read an outcome from a file. Raises `ValueError` if it is invalid."""
        with path.open("rb") as file:
            return cls.read(file)

    @classmethod
    def read(cls, file: BinaryIO) -> Outcome:
        """Read an outcome from a binary stream.

        Raises:
            ValueError: the data is cut off, too large, or of the wrong form.
        """
        size = int.from_bytes(file.read(8), "little")
        if size > MAX_HEADER:
            raise ValueError("the outcome's header is too large")
        head = file.read(size)
        containers = head.count(b"[") + head.count(b"{")
        if containers > MAX_CONTAINERS or head.count(b",") > MAX_COMMAS:
            raise ValueError("the outcome's header has too many parts")
        try:
            header = json.loads(head)
        except RecursionError:
            raise ValueError("the outcome's header is nested too deeply") from None
        if not isinstance(header, dict) or set(header) != set(cls.__dataclass_fields__):
            raise ValueError("the outcome's header has the wrong fields")
        if not all(is_sound(header[name]) for name, is_sound in _VALIDATORS.items()):
            raise ValueError("the outcome's header has fields of the wrong types")
        header["changed"] = [Change(Part(part), words) for part, words in header["changed"]]
        header["tensors"] = _read_tensors(file, header["tensors"])
        return cls(**header)


def _are_texts(value: object) -> bool:
    return type(value) is list and all(type(item) is str for item in value)


def _are_changes(value: object) -> bool:
    return type(value) is list and all(_are_texts(row) and _is_change(row) for row in value)


def _is_change(row: list[str]) -> bool:
    return len(row) == 2 and row[0] in list(Part)


_VALIDATORS: dict[str, Callable[[Any], bool]] = {
    "case": lambda value: type(value) is str,
    "ended": lambda value: value in get_args(Ended) and type(value) is str,
    "error": lambda value: value is None or type(value) is dict,
    "runs": lambda value: type(value) is list and all(type(run) is dict for run in value),
    "changed": _are_changes,
    "used": _are_texts,
    "printed": lambda value: type(value) is str,
    "tensors": lambda value: type(value) is list and all(type(row) is dict for row in value),
}


_DTYPES = frozenset(
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 "
    "complex32 complex64 complex128 float8_e4m3fn float8_e5m2".split()
)
"""Dtypes that are read. Making other tensors, such as quantized ones, from bytes crashes Python."""


def tensor_bytes(tensor: torch.Tensor) -> bytes:
    """The tensor's elements as raw bytes, in row-major order."""
    flat = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes()


def tensor_from_bytes(blob: bytes, dtype: str, shape: list[int]) -> torch.Tensor:
    """The inverse of `tensor_bytes`.

    Raises:
        ValueError: dtype, shape and number of bytes do not fit together.
    """
    kind = getattr(torch, dtype, None) if dtype in _DTYPES else None
    sound = type(shape) is list and all(type(n) is int and n >= 0 for n in shape)
    if not isinstance(kind, torch.dtype) or not sound:
        raise ValueError("a tensor of an unknown dtype or shape")
    count = 1
    for n in shape:
        count *= n
    if count * kind.itemsize != len(blob):
        raise ValueError("a tensor's bytes do not fit its shape")
    if not blob:
        return torch.empty(shape, dtype=kind)
    return torch.frombuffer(bytearray(blob), dtype=kind).reshape(shape)


def _read_tensors(file: BinaryIO, rows: list[dict[str, Any]]) -> list[torch.Tensor]:
    sizes = [row.get("bytes") for row in rows]
    sound = [size for size in sizes if type(size) is int and size >= 0]
    if len(sound) < len(sizes) or sum(sound) > MAX_TENSORS:
        raise ValueError("the outcome's tensors are too large")
    return [
        tensor_from_bytes(file.read(row["bytes"]), str(row["dtype"]), row["shape"]) for row in rows
    ]


_RUN_KEYS: tuple[Literal["value", "error", "args", "log"], ...] = ("value", "error", "args", "log")
"""The keys of a run's record that a reference keeps; the rules inspect the others."""


@dataclass
class Reference:
    """The result of the reference solution on one case.

    Attributes:
        value: the plain form of its result; ``None`` if that is a graph module.
        runs: for each input of the case, ``value``, ``args`` and ``log`` of running the result.
        tensors: the table that the data refers to.
    """

    value: Encoded = None
    runs: list[CallResult] = field(default_factory=list)
    tensors: list[torch.Tensor] = field(default_factory=list)

    @classmethod
    def of_outcome(cls, outcome: Outcome) -> Reference:
        """The part of a solution's outcome that a reference keeps."""
        value = outcome.value
        if isinstance(value, dict) and "graph_module" in value:
            value = None
        records = [record.get("forward", record.get("eager")) for record in outcome.runs]
        runs = [{key: row[key] for key in _RUN_KEYS if key in row} for row in records if row]
        used: list[torch.Tensor] = []
        plain = _renumber([value, runs], outcome.tensors, used)
        return cls(plain[0], plain[1], used)

    def to_json(self) -> dict[str, Any]:
        """The reference as JSON, tensors in base64."""
        return {
            "value": self.value,
            "runs": self.runs,
            "tensors": [
                [
                    str(t.dtype).removeprefix("torch."),
                    list(t.shape),
                    base64.b64encode(tensor_bytes(t)).decode(),
                ]
                for t in self.tensors
            ],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Reference:
        """The inverse of `to_json`."""
        tensors = [
            tensor_from_bytes(base64.b64decode(blob), dtype, shape)
            for dtype, shape, blob in data["tensors"]
        ]
        return cls(data["value"], data["runs"], tensors)


def _renumber(data: Any, tensors: list[torch.Tensor], used: list[torch.Tensor]) -> Any:
    """The data, with its tensors moved to the table `used`."""
    if isinstance(data, list):
        return [_renumber(item, tensors, used) for item in data]
    if not isinstance(data, dict):
        return data
    if set(data) == {"tensor"}:
        used.append(tensors[data["tensor"]])
        return {"tensor": len(used) - 1}
    return {key: _renumber(value, tensors, used) for key, value in data.items()}
