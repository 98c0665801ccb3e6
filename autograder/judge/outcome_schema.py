"""What an outcome looks like that tells all there is to tell: one schema for each procedure.

What was not run did not hold. An outcome that lacks a run, or a field of a description, is no
record of what the answer did, and no rule of a rubric is asked about it. Another kind of result
than the exercise asks for is not meant by that: the rules say so in better words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import cast

from torch import fx, nn

from autograder.core.codec import Encoder, Plain
from autograder.core.exercise import Trial
from autograder.core.graph_record import MAX_DESCRIBED, describe_nodes
from autograder.core.outcome import CALLS, Outcome
from autograder.judge.evidence import Evidence
from autograder.judge.field_checks import (
    Check,
    any_text,
    both,
    either,
    fields,
    first,
    flag,
    nothing,
    of_type,
    plain,
    rows,
    table,
    text,
    whole,
)  # fmt: skip
from autograder.judge.splice import ruled_calls

SLOWEST_LISTS = 5
"""How many numbers a timer's `slowest` is asked with."""

INSTRUCTION = 4
"""How much is told of a node of a tracer's graph: opcode, target, `args` and `kwargs`."""

Runs = list[Check]


def misfit(procedure: str, evidence: Evidence) -> str | None:
    """The place of the first thing that an outcome lacks, or ``None`` if it is complete.

    Args:
        procedure: a key of `run.PROCEDURES`, by which the answer was exercised.
        evidence: the outcome, and the case, which says how often something was to be run.
    """
    try:
        return _misfit(procedure, evidence)
    except RecursionError:
        return "nested too deeply"


def _misfit(procedure: str, evidence: Evidence) -> str | None:
    outcome = evidence.claimed
    if outcome.ended == "raised":
        return _RAISED(outcome.error)
    if outcome.ended == "out of time" and outcome.error is not None:
        return _STOPPED(outcome.error)
    if outcome.ended != "returned":
        return None
    if outcome.error is not None:
        return "error"
    value, runs = SCHEMAS[procedure](_Parts(outcome, evidence.trial))
    place = value(outcome.value)
    return _runs_misfit(runs, outcome.runs) if place is None else place


def _runs_misfit(wanted: Runs, runs: list[Plain]) -> str | None:
    if type(runs) is not list or len(runs) != len(wanted):
        return "runs"
    return first(check(run) for check, run in zip(wanted, runs, strict=True))


_ERROR = {"type": text, "types": rows(text), "message": any_text}
_FRAME = fields(line=whole, text=any_text, function=any_text)
_WHERE = {
    "line": whole, "text": any_text, "says": any_text,
    "frames": rows(_FRAME), "generated": any_text, "near": rows(any_text),
}  # fmt: skip
_RAISED = fields(**_ERROR, **_WHERE)
_STOPPED = fields(**_ERROR, **_WHERE, values=rows(rows(any_text, 2)))


class _Forms:
    """What parts of outcomes look like that have so many tensors.

    Args:
        tensors: how many.
    """

    def __init__(self, tensors: int) -> None:
        self.plain = plain(tensors)
        self._records: dict[int | None, Check] = {}

    @cached_property
    def error(self) -> Check:
        """An exception, with or without the line of code that it came from."""
        return fields(_WHERE, **_ERROR)

    def record(self, count: int | None, **more: Check) -> Check:
        """What came of one run: a value or an error, the arguments afterwards, and the log.

        Args:
            count: how many arguments it was given, where one knows.
            more: what else is recorded.
        """
        if not more and count in self._records:
            return self._records[count]
        made = self._record(count, more)
        if not more:
            self._records[count] = made
        return made

    def _record(self, count: int | None, more: dict[str, Check]) -> Check:
        args = fields(tuple=rows(self.plain, count))
        common = {"args": args, "log": fields(list=rows(self.plain)), **more}
        return either(fields(**common, error=self.error), fields(**common, value=self.plain))

    @cached_property
    def described(self) -> dict[str, Check]:
        """The fields of a graph module, but for what its nodes carry."""
        return dict(
            type=text,
            owner=flag,
            codegen=text,
            code=either(nothing, text),
            fresh_code=either(nothing, text),
            lint=either(nothing, text),
            signature=either(nothing, rows(self.parameter)),
            training=flag,
            nodes=rows(self.node, at_most=MAX_DESCRIBED),
            modules=self.modules,
            unresolved=rows(text, at_most=MAX_DESCRIBED),
        )

    def parameter(self, row: Plain) -> str | None:
        """A parameter of a signature: name, kind, and its default if it has one."""
        if type(row) is not list or len(row) not in (2, 3):
            return ""
        checks = (text, text, self.plain)
        return first(check(item) for check, item in zip(checks, row, strict=False))

    @cached_property
    def node(self) -> Check:
        """A node of a graph."""
        link = either(fields(node=whole), fields(foreign=any_text), fields(erased=any_text))
        row = fields(
            **self._instruction, args=self.plain, args_type=text, users=rows(link),
            inputs=rows(link),
        )  # fmt: skip
        return both(row, _args_misfit)

    @cached_property
    def instruction(self) -> Check:
        """A node of a graph, without its links."""
        return fields(**self._instruction, args=fields(tuple=rows(self.plain)))

    @cached_property
    def _instruction(self) -> dict[str, Check]:
        kinds = ("function", "unlisted", "case", "opaque")
        called = either(*(fields(**{kind: text}) for kind in kinds))
        keywords = fields(dict=rows(rows(self.plain, 2)))
        return {"op": text, "name": text, "target": either(text, called), "kwargs": keywords}

    def tensor_after(self, row: Plain) -> str | None:
        """What an answer that works in place has left of a tensor, under its name."""
        if type(row) is not list or len(row) != 2 or text(row[0]) is not None:
            return ""
        if row[1] is None:
            return None
        facts = row[1].get("tuple") if isinstance(row[1], dict) else None
        if type(facts) is not list or len(facts) != 4:
            return "[1]"
        tensor = fields(tensor=lambda value: self.plain({"tensor": value}))
        return first(
            check(item) for check, item in zip((flag, text, flag, tensor), facts, strict=True)
        )

    @cached_property
    def modules(self) -> Check:
        """The modules of a description, the root first, each told by its parent."""
        name = either(nothing, any_text)
        entry = fields(
            tensor=lambda value: self.plain({"tensor": value}),
            requires_grad=flag,
            origin=either(nothing, text),
        )
        tensors = table(either(nothing, entry))
        own = {"class": text, "training": flag, "origin": name, "children": rows(any_text),
               "attrs": table(self.plain), "params": tensors, "buffers": tensors,
               "tensors": tensors}  # fmt: skip
        alias = fields(path=any_text, same_as=any_text)
        each = rows(either(alias, fields(path=any_text, **own)))
        return both(each, _family_misfit)


_forms_for = lru_cache(maxsize=1024)(_Forms)
"""They are made once for each number of tensors: that takes longer than to hold one outcome against
them."""


class _Parts:
    """What schemas are made of, for one outcome and the case that it is about."""

    def __init__(self, outcome: Outcome, trial: Trial) -> None:
        self.value, self.trial = outcome.value, trial
        self.inputs = range(len(trial.inputs))
        self._forms = _forms_for(len(outcome.tensors))
        self.plain, self.error = self._forms.plain, self._forms.error
        self.instruction, self.tensor_after = self._forms.instruction, self._forms.tensor_after

    # ------------------------------------------------------------ runs

    def record(self, inputs: int | None, **more: Check) -> Check:
        """What came of one run.

        Args:
            inputs: which of the case's inputs it was run on; ``None`` for the answer's own.
            more: what else is recorded.
        """
        count = None if inputs is None else len(self.trial.inputs[inputs])
        return self._forms.record(count, **more)

    def of_graph(self, i: int, **more: Check) -> dict[str, Check]:
        """The ways in which a graph module is run on input `i`."""
        copied = i == 0 and self.trial.copied
        ways = ("forward", "interpreter", *(["copy"] if copied else []))
        return {way: self.record(i, **more) for way in ways}

    # ------------------------------------------------------------ values

    @property
    def has_graph(self) -> bool:
        """Whether a graph module came back, by what is claimed."""
        return isinstance(self.value, dict) and "graph_module" in self.value

    @property
    def other(self) -> Check:
        """A result that is no graph module, or holds some where none is asked for."""
        described = fields(graph_module=self.description)
        item = either(described, self.plain)
        return either(fields(tuple=rows(item)), item)

    @property
    def description(self) -> Check:
        """A graph module, as `describe` writes it."""
        count = len(self.value["graph_module"].get("nodes", ())) if self._is_described else 0
        return fields({"meta": rows(table(self.plain), count)}, **self._forms.described)

    @property
    def bare_description(self) -> Check:
        """A graph module, without what its nodes carry."""
        return fields(**self._forms.described)

    @property
    def _is_described(self) -> bool:
        described = self.has_graph and self.value["graph_module"]
        return isinstance(described, dict) and isinstance(described.get("nodes"), list)


def _args_misfit(row: Plain) -> str | None:
    """What is said to be a tuple is one, or too large to be written down."""
    args = row["args"]
    sound = isinstance(args, dict) and not args.keys().isdisjoint(("tuple", "opaque"))
    return None if sound or row["args_type"] != "tuple" else ".args"


def _family_misfit(modules: list[Plain]) -> str | None:
    """Whether the modules are one tree: each stands there once, and its parent names it."""
    if not modules or modules[0]["path"] != "" or "same_as" in modules[0]:
        return ""
    if any("." in name for row in modules for name in row.get("children", ())):
        return None  # no paths, these; a rule about names with dots speaks of them
    told: dict[str, Plain] = {}
    for row in modules:
        own = told.get(row["same_as"]) if "same_as" in row else row
        if row["path"] in told or own is None:
            return ""
        told[row["path"]] = own
    children = {f"{path}.{name}" if path else name
                for path, own in told.items() for name in own["children"]}  # fmt: skip
    return None if told.keys() - {""} <= children else ".children"


# ------------------------------------------------------------------ one for each procedure

Schema = Callable[[_Parts], tuple[Check, Runs]]


def _data(parts: _Parts) -> tuple[Check, Runs]:
    return parts.other, []


def _graph_module(parts: _Parts, **more: Check) -> tuple[Check, Runs]:
    if not parts.has_graph:
        return _data(parts)
    runs = [fields(**parts.of_graph(i)) for i in parts.inputs]
    value = fields(graph_module=parts.description, **more)
    return _with_meta(value) if parts.trial.noted else value, runs


def _extraction(parts: _Parts) -> tuple[Check, Runs]:
    return _graph_module(parts, cuts=table(text))


def _with_meta(value: Check) -> Check:
    """The check of a described graph module that must tell its nodes' ``meta``, too."""

    def told(described: Plain) -> str | None:
        place = value(described)
        complete = place is not None or "meta" in described["graph_module"]
        return place if complete else ".graph_module.meta"

    return told


def _traced_function(parts: _Parts) -> tuple[Check, Runs]:
    ways = [{"eager": parts.record(i)} for i in parts.inputs]
    if not parts.has_graph:
        return fields(trace_error=parts.error), [fields(**way) for way in ways]
    runs = [fields(**ways[i], **parts.of_graph(i)) for i in parts.inputs]
    return fields(graph_module=parts.description), runs


def _drawn_twice(parts: _Parts) -> tuple[Check, Runs]:
    eager = [{"eager": parts.record(i)} for i in parts.inputs]
    if not parts.has_graph:
        return fields(trace_error=parts.error), [fields(**way) for way in eager]
    ways = ("forward", "interpreter")
    runs = [way | {name: parts.record(i) for name in ways} for i, way in enumerate(eager)]
    return fields(graph_module=parts.description), [fields(**run) for run in runs]


def _each_node(parts: _Parts) -> tuple[Check, Runs]:
    (gm,) = parts.trial.args
    return fields(list=rows(parts.plain, len(gm.graph.nodes))), []


def _counted(parts: _Parts) -> tuple[Check, Runs]:
    if parts.has_graph and "count" in parts.value:
        return _graph_module(parts, count=parts.plain)
    return _data(parts)


def _interpreter(parts: _Parts) -> tuple[Check, Runs]:
    if parts.value is not None:
        return text, []  # a sentence about what is no class of the right kind
    return nothing, [fields(forward=parts.record(i)) for i in parts.inputs]


def _timer(parts: _Parts) -> tuple[Check, Runs]:
    if parts.value is not None:
        return text, []
    asked = rows(rows(parts.plain, 2), SLOWEST_LISTS)
    note = fields(
        wall=of_type(float, int), seconds=parts.plain,
        calls=parts.plain, slowest=asked,
    )  # fmt: skip
    return nothing, [fields(forward=parts.record(i), timer=note) for i in (*parts.inputs, 0)]


def _edit(parts: _Parts) -> tuple[Check, Runs]:
    if not parts.has_graph:
        return fields(graph_module=parts.description, returned=parts.other), []
    value, runs = _graph_module(parts, returned=parts.other)
    return _with_meta(value), runs


def _rewrite(parts: _Parts) -> tuple[Check, Runs]:
    return _transformer(parts, new=flag)


def _transformer(parts: _Parts, **more: Check) -> tuple[Check, Runs]:
    value, runs = _graph_module(parts, **more)
    return _with_meta(value) if parts.has_graph else value, runs


def _tracer(parts: _Parts) -> tuple[Check, Runs]:
    if parts.value is not None:
        return text, []
    _, turns = parts.trial.args
    graph = fields(list=rows(fields(list=rows(parts.plain, INSTRUCTION))))
    return nothing, [fields(forward=fields(value=graph)) for _ in turns]


def _asked_tracer(parts: _Parts) -> tuple[Check, Runs]:
    if parts.value is not None:
        return text, []
    _, turns = parts.trial.args
    error = fields({**_WHERE, "asked": any_text}, **_ERROR)
    found = fields(graph=rows(parts.instruction), assumed=parts.plain, empty=rows(text))
    turn = either(fields(error=error), fields(value=found))
    return nothing, [fields(forward=turn) for _ in turns]


def _rules(parts: _Parts) -> tuple[Check, Runs]:
    if not (isinstance(parts.value, dict) and "keys" in parts.value):
        return _data(parts)
    keys = fields(list=rows(parts.plain))
    if "rule_error" in parts.value:
        return fields(rule_error=parts.error, keys=keys), []

    def once_a_call(value: Plain) -> str | None:
        graph = fx.symbolic_trace(cast(nn.Module, parts.trial.model)).graph
        trace = describe_nodes(graph, Encoder())
        calls = ruled_calls(trace, value["keys"])
        return None if len(value["rules"]) == len(calls) else ".rules"

    return both(fields(rules=rows(rows(parts.instruction)), keys=keys), once_a_call), []


def _any_module(parts: _Parts) -> tuple[Check, Runs]:
    if parts.has_graph:
        ways = ("forward", "interpreter", "altered")
        runs = [{way: parts.record(i) for way in ways} for i in parts.inputs]
        value = fields(graph_module=parts.description, generated=flag)
        return value, [fields(**run) for run in runs]
    if isinstance(parts.value, dict) and "module" in parts.value:
        records = [parts.record(i) for i in parts.inputs]
        inside = [rows(fields(given=record, altered=record)) for record in records]
        runs = [{"forward": r, "inside": each} for r, each in zip(records, inside, strict=True)]
        return fields(module=text), [fields(**run) for run in runs]
    return _data(parts)


def _split(parts: _Parts) -> tuple[Check, Runs]:
    if not (parts.has_graph and "tail" in parts.value):
        return _data(parts)
    runs = [fields(**parts.of_graph(i, crossing=parts.plain)) for i in parts.inputs]
    return fields(graph_module=parts.description, tail=parts.description), runs


def _lowering(parts: _Parts) -> tuple[Check, Runs]:
    if not parts.has_graph:
        return _data(parts)
    given = {"examples": parts.plain}
    piece = either(fields(kind=text, **given), fields(graph_module=parts.bare_description, **given))
    return _graph_module(parts, new=flag, pieces=rows(piece), compiled=table(whole))


def _after_others(parts: _Parts) -> tuple[Check, Runs]:
    earlier = either(fields(error=parts.error), fields(value=parts.plain, then=parts.plain))
    return parts.other, [fields(forward=earlier) for _ in parts.trial.watch]


def _driven(parts: _Parts) -> tuple[Check, Runs]:
    return nothing, [fields(forward=parts.record(i)) for i in parts.inputs]


def _latency(parts: _Parts) -> tuple[Check, Runs]:
    return nothing, [fields(forward=parts.record(i), afterwards=flag) for i in parts.inputs]


def _witness(parts: _Parts) -> tuple[Check, Runs]:
    if not parts.has_graph:
        return either(text, fields(failed=text, error=parts.error)), []
    given = parts.value.get("given")
    views = given.get("views") if isinstance(given, dict) else ()
    count = len(views) if isinstance(views, list) else 0
    view = rows(either(whole, rows(whole)), 4)
    record = parts.record(None)
    return fields(
        graph_module=parts.description,
        given=fields(values=fields(tuple=rows(plain(count))), views=rows(view)),
        ran=fields(before=record, after=record, trace=record),
    ), []


def _in_place(parts: _Parts) -> tuple[Check, Runs]:
    back = either(fields(given=whole), parts.other)
    run = fields(forward=fields(value=back), state=fields(dict=rows(parts.tensor_after)))
    return nothing, [run] * len(CALLS)


SCHEMAS: dict[str, Schema] = {
    "analysis": _data,
    "transform": _graph_module,
    "extraction": _extraction,
    "traced function": _traced_function,
    "drawn twice": _drawn_twice,
    "each node": _each_node,
    "counted transform": _counted,
    "interpreter": _interpreter,
    "timer": _timer,
    "transformer": _transformer,
    "tracer": _tracer,
    "asked tracer": _asked_tracer,
    "rules": _rules,
    "repeated transform": _graph_module,
    "any module": _any_module,
    "split": _split,
    "after others": _after_others,
    "driven": _driven,
    "layer": _graph_module,
    "latency": _latency,
    "witness": _witness,
    "in place": _in_place,
    "rewrite": _rewrite,
    "lowering": _lowering,
    "edit": _edit,
}
