"""The complete schema of an outcome: checks built from the types of its records.

Runs that were not recorded count as failed. An outcome that lacks a run, or a field of a
description, does not record what the answer did, and no rule of an answer key reads it. A result
of the wrong kind is complete nevertheless, because the rules describe it better.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

from autograder.core.codec import Tagged
from autograder.core.execution import CallResult, ErrorRecord
from autograder.core.exercise import Trial
from autograder.core.graph_record import (
    MAX_DESCRIBED,
    CallRecord,
    GraphRecord,
    ModuleRecord,
    NodeRecord,
    TensorRecord,
)
from autograder.core.outcome import Outcome
from autograder.judge.evidence import Evidence

Check = Callable[[Any], bool]
"""Checks the form of a value. Values come from JSON, so their types are exact."""

# ------------------------------------------------------------------ combinators


def of_type(*kinds: type) -> Check:
    """Accept a value of exactly one of these types."""
    return lambda value: type(value) in kinds


def text(value: Any) -> bool:
    """Accept a text that is not empty."""
    return type(value) is str and value != ""


nothing, any_text, flag, whole = map(of_type, (NoneType, str, bool, int))


def either(*checks: Check) -> Check:
    """Accept a value that passes at least one of the checks."""

    def check_any(value: Any) -> bool:
        for check in checks:  # `any` takes twice as long
            if check(value):
                return True
        return False

    return check_any


def both(check: Check, more: Check) -> Check:
    """Accept a value that passes both checks; the second may rely on the first."""
    return lambda value: check(value) and more(value)


def rows(check: Check, count: int | None = None, at_most: float = math.inf) -> Check:
    """Accept a list with valid items, with exactly `count` or at most `at_most` of them."""

    def check_all(value: Any) -> bool:
        if type(value) is not list or count not in (None, len(value)) or len(value) > at_most:
            return False
        return all(map(check, value))

    return check_all


def table(check: Check) -> Check:
    """Accept a dictionary from texts to valid values."""
    return lambda value: (
        type(value) is dict and all(map(any_text, value)) and all(map(check, value.values()))
    )


def fields(optional: dict[str, Check] | None = None, /, **required: Check) -> Check:
    """Accept a dictionary with exactly the required fields, and any of the optional ones."""
    known = {**(optional or {}), **required}

    def check_all(value: Any) -> bool:
        if type(value) is not dict or not required.keys() <= value.keys() <= known.keys():
            return False
        for name, item in value.items():
            if not known[name](item):
                return False
        return True

    return check_all


_SCALARS = (NoneType, bool, int, float, str)


def plain(tensors: int) -> Check:
    """Accept an encoded value that refers to a table of this many tensors."""

    def check(value: Any) -> bool:
        if type(value) in _SCALARS:
            return True
        if type(value) is not dict or len(value) != 1:
            return False
        ((kind, body),) = value.items()
        return kind in kinds and kinds[kind](body)

    kinds: dict[str, Check] = {
        "tensor": lambda body: type(body) is int and 0 <= body < tensors,
        "complex": rows(any_text, 2),
        "slice": rows(check, 3),
        "range": rows(whole, 3),
        "ellipsis": whole,
        "dict": rows(rows(check, 2)),
        "node": of_type(int, str),
        **dict.fromkeys(("list", "tuple", "set"), rows(check)),
        **dict.fromkeys(("torch", "device", "function", "unlisted", "case", "opaque"), any_text),
        **dict.fromkeys(("float", "foreign", "erased"), any_text),
    }
    return check


# ------------------------------------------------------------------ records

ERROR = ("type", "types", "message")
WHERE = ("line", "text", "says", "frames", "generated", "near")
"""The fields of an exception, and those of the line of code that raised it."""

_PERHAPS_EMPTY = frozenset(
    "message text says generated near function values asked path same_as children".split()
)
"""Fields that may contain empty texts."""

_hints = lru_cache(get_type_hints)
_ENCODED = get_args(_hints(CallResult)["value"])


class _Forms:
    """The checks of records in outcomes with a given number of tensors.

    Args:
        tensors: the number of tensors.
    """

    def __init__(self, tensors: int) -> None:
        self.plain = plain(tensors)
        self._tensor: Check = lambda value: self.plain({"tensor": value})
        link = either(fields(node=whole), fields(foreign=any_text), fields(erased=any_text))
        called = ("function", "unlisted", "case", "opaque")
        self._narrower: dict[tuple[Any, str], Check] = {
            (CallRecord, "args"): fields(tuple=rows(self.plain)),
            (NodeRecord, "users"): rows(link),
            (NodeRecord, "inputs"): rows(link),
            (TensorRecord, "tensor"): self._tensor,
            (ModuleRecord, "origin"): either(nothing, any_text),
        }
        for record in (CallRecord, NodeRecord):
            self._narrower |= {
                (record, "target"): either(text, *(fields(**{kind: text}) for kind in called)),
                (record, "kwargs"): fields(dict=rows(rows(self.plain, 2))),
            }
        node = both(fields(**self.fields_of(NodeRecord)), _has_its_args)
        alias = fields(**self.fields_of(ModuleRecord, "path", "same_as"))
        whole_module = self.fields_of(ModuleRecord)
        del whole_module["same_as"]
        self._narrower |= {
            (GraphRecord, "signature"): either(nothing, rows(self._is_parameter)),
            (GraphRecord, "nodes"): rows(node, at_most=MAX_DESCRIBED),
            (GraphRecord, "unresolved"): rows(text, at_most=MAX_DESCRIBED),
            (GraphRecord, "modules"): both(
                rows(either(alias, fields(**whole_module))), _is_a_family
            ),
        }

    def of(self, kind: Any, empty: bool = False) -> Check:
        """The check for a type.

        Args:
            kind: the type.
            empty: whether texts in it may be empty.
        """
        arguments = get_args(kind)
        if kind is Tagged or arguments == _ENCODED:
            return self.plain
        if get_origin(kind) in (Union, UnionType):
            return either(*(self.of(one, empty) for one in arguments))
        if get_origin(kind) is list:
            return rows(self.of(arguments[0], empty))
        if get_origin(kind) is dict:
            return table(self.of(arguments[1], empty))
        if is_typeddict(kind):
            return fields(**self.fields_of(kind))
        return of_type(kind) if kind is not str else any_text if empty else text

    def fields_of(self, record: Any, *names: str) -> dict[str, Check]:
        """The checks of a record's fields: of the named ones, or of all."""
        hints = _hints(record)
        return {
            name: self._narrower.get((record, name)) or self.of(hints[name], name in _PERHAPS_EMPTY)
            for name in names or hints
        }

    def _is_parameter(self, row: Any) -> bool:
        """Whether a row describes a parameter: name, kind, and its default if there is one."""
        if type(row) is not list or len(row) not in (2, 3):
            return False
        return text(row[0]) and text(row[1]) and all(map(self.plain, row[2:]))

    @cached_property
    def error(self) -> Check:
        """Accept an exception, with or without the line of code that raised it."""
        return fields(self.fields_of(ErrorRecord, *WHERE), **self.fields_of(ErrorRecord, *ERROR))

    @cached_property
    def bare_graph(self) -> Check:
        """Accept a graph module without the `meta` of its nodes."""
        checks = self.fields_of(GraphRecord)
        del checks["meta"]
        return fields(**checks)

    @cached_property
    def graph(self) -> Check:
        """Accept a graph module with or without the `meta` of its nodes."""
        checks = self.fields_of(GraphRecord)
        meta = checks.pop("meta")
        return both(
            fields({"meta": meta}, **checks),
            lambda graph: "meta" not in graph or len(graph["meta"]) == len(graph["nodes"]),
        )

    @cached_property
    def instruction(self) -> Check:
        """Accept a node of a graph, without its links."""
        return self.of(CallRecord)

    @lru_cache(maxsize=64)  # noqa: B019 - instances are cached, too
    def record(self, count: int | None) -> Check:
        """Accept one run: a value or an error, the arguments afterwards, and the log.

        Args:
            count: the number of arguments, or ``None`` if it is unknown.
        """
        return either(*self.records(count))

    def records(self, count: int | None, **more: Check) -> list[Check]:
        """The two forms that `record` accepts, a value or an error, with further fields."""
        args = fields(tuple=rows(self.plain, count))
        common = {"args": args, "log": fields(list=rows(self.plain)), **more}
        return [fields(**common, value=self.plain), fields(**common, error=self.error)]

    def tensor_after(self, row: Any) -> bool:
        """Whether a row describes a tensor, by its name, after an in-place answer."""
        if type(row) is not list or len(row) != 2 or not text(row[0]):
            return False
        facts = row[1].get("tuple") if isinstance(row[1], dict) else None
        if row[1] is None or type(facts) is not list or len(facts) != 4:
            return row[1] is None
        checks = (flag, text, flag, fields(tensor=self._tensor))
        return all(check(item) for check, item in zip(checks, facts, strict=True))


_forms_for = lru_cache(maxsize=1024)(_Forms)
"""Building the checks takes longer than checking one outcome."""


def _has_its_args(node: NodeRecord) -> bool:
    """Whether arguments described as a tuple are a tuple, or too large to be recorded."""
    args: Any = node["args"]
    sound = isinstance(args, dict) and not args.keys().isdisjoint(("tuple", "opaque"))
    return sound or node["args_type"] != "tuple"


def _is_a_family(modules: list[ModuleRecord]) -> bool:
    """Whether the modules form one tree: each occurs once, and its parent lists it."""
    if not modules or modules[0]["path"] != "" or "same_as" in modules[0]:
        return False
    if any("." in name for row in modules for name in row.get("children", ())):
        return True  # these are not paths; a rule about names with dots reports them
    told: dict[str, ModuleRecord] = {}
    for row in modules:
        own = told.get(row["same_as"]) if "same_as" in row else row
        if row["path"] in told or own is None:
            return False
        told[row["path"]] = own
    children = {f"{path}.{name}" if path else name
                for path, own in told.items() for name in own["children"]}  # fmt: skip
    return told.keys() - {""} <= children


# ------------------------------------------------------------------ outcomes


class Parts:
    """The checks that a schema is built from, for one outcome and its case."""

    def __init__(self, outcome: Outcome, trial: Trial) -> None:
        self.value: Any = outcome.value
        self.trial, self.inputs = trial, range(len(trial.inputs))
        self._forms = forms = _forms_for(len(outcome.tensors))
        self.plain, self.error, self.graph = forms.plain, forms.error, forms.graph
        self.instruction, self.tensor_after = forms.instruction, forms.tensor_after
        self.bare_graph, self.fields_of = forms.bare_graph, forms.fields_of

    def record(self, inputs: int | None, **more: Check) -> Check:
        """Accept one run.

        Args:
            inputs: the index of the case's input; ``None`` for the answer's own inputs.
            more: further recorded fields.
        """
        count = None if inputs is None else len(self.trial.inputs[inputs])
        return either(*self._forms.records(count, **more)) if more else self._forms.record(count)

    def of_graph(self, i: int, **more: Check) -> dict[str, Check]:
        """The checks of each way in which a graph module is run on input `i`."""
        copied = i == 0 and self.trial.copied
        ways = ("forward", "interpreter", *(["copy"] if copied else []))
        return {way: self.record(i, **more) for way in ways}

    @property
    def has_graph(self) -> bool:
        """Whether the outcome claims that the answer returned a graph module."""
        return isinstance(self.value, dict) and "graph_module" in self.value

    @property
    def other(self) -> Check:
        """Accept a result that is not a graph module, or a tuple that may contain some."""
        item = either(fields(graph_module=self.graph), self.plain)
        return either(fields(tuple=rows(item)), item)


Runs = list[Check]
Schema = Callable[[Parts], tuple[Check, Runs]]
"""Builds the check of the value, and one check for each run."""


def is_complete(schema: Schema, evidence: Evidence) -> bool:
    """Whether an outcome contains everything that its answer kind must record.

    Args:
        schema: the schema of the exercise's answer kind.
        evidence: the outcome and the case, which determines the number of runs.
    """
    try:
        return _is_complete(schema, evidence)
    except RecursionError:
        return False


def _is_complete(schema: Schema, evidence: Evidence) -> bool:
    outcome = evidence.claimed
    stopped = outcome.ended == "out of time" and outcome.error is not None
    if outcome.ended == "raised" or stopped:
        checks = _forms_for(0).fields_of(ErrorRecord, *ERROR, *WHERE)
        values = {"values": rows(rows(any_text, 2))} if stopped else {}
        return fields(**checks, **values)(outcome.error)
    if outcome.ended != "returned":
        return True
    if outcome.error is not None:
        return False
    value, runs = schema(Parts(outcome, evidence.trial))
    if not value(outcome.value) or type(outcome.runs) is not list:
        return False
    pairs = zip(runs, outcome.runs, strict=False)
    return len(runs) == len(outcome.runs) and all(check(run) for check, run in pairs)


# ------------------------------------------------------------------ schemas that kinds share


def data(parts: Parts) -> tuple[Check, Runs]:
    """Accept a value without runs."""
    return parts.other, []


def graph_module(parts: Parts, **more: Check) -> tuple[Check, Runs]:
    """Accept a graph module, which is run on each input; or any other value.

    Args:
        parts: the checks for the outcome.
        more: further fields recorded next to the graph module.
    """
    if not parts.has_graph:
        return data(parts)
    runs = [fields(**parts.of_graph(i)) for i in parts.inputs]
    value = fields(graph_module=parts.graph, **more)
    return with_meta(value) if parts.trial.noted else value, runs


def with_meta(value: Check) -> Check:
    """Require that a described graph module records its nodes' ``meta``."""
    return both(value, lambda described: "meta" in described["graph_module"])


def new_graph_module(parts: Parts, **more: Check) -> tuple[Check, Runs]:
    """Do the same as `graph_module`, but always require the nodes' ``meta``."""
    value, runs = graph_module(parts, **more)
    return with_meta(value) if parts.has_graph else value, runs


def made_from_class(parts: Parts, runs: Runs) -> tuple[Check, Runs]:
    """Accept the runs of an object; or a text about a class that is not of the expected kind."""
    return (text, []) if parts.value is not None else (nothing, runs)
