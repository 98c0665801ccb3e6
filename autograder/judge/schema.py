"""The complete form of an outcome: what the schemas of all kinds of answers are made of.

What was not run did not hold. An outcome that lacks a run, or a field of a description, is not a
record of what the answer did, and no rule of a rubric reads it. A wrong kind of result is
complete all the same: the rules describe it in better words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache

from autograder.core.codec import Plain
from autograder.core.exercise import Trial
from autograder.core.graph_record import MAX_DESCRIBED
from autograder.core.outcome import Outcome
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
    plain,
    rows,
    table,
    text,
    whole,
)  # fmt: skip

Runs = list[Check]
Schema = Callable[["Parts"], tuple[Check, Runs]]
"""Makes the check of the value, and one for each run."""


def misfit(schema: Schema, evidence: Evidence) -> str | None:
    """The place of the first thing that an outcome lacks, or ``None`` if it is complete.

    Args:
        schema: that of the exercise's kind of answer.
        evidence: the outcome, and the case, which says how often something was to be run.
    """
    try:
        return _misfit(schema, evidence)
    except RecursionError:
        return "nested too deeply"


def _misfit(schema: Schema, evidence: Evidence) -> str | None:
    outcome = evidence.claimed
    if outcome.ended == "raised":
        return _RAISED(outcome.error)
    if outcome.ended == "out of time" and outcome.error is not None:
        return _STOPPED(outcome.error)
    if outcome.ended != "returned":
        return None
    if outcome.error is not None:
        return "error"
    value, runs = schema(Parts(outcome, evidence.trial))
    place = value(outcome.value)
    return _runs_misfit(runs, outcome.runs) if place is None else place


def _runs_misfit(wanted: Runs, runs: list[Plain]) -> str | None:
    if type(runs) is not list or len(runs) != len(wanted):
        return "runs"
    return first(check(run) for check, run in zip(wanted, runs, strict=True))


ERROR = {"type": text, "types": rows(text), "message": any_text}
_FRAME = fields(line=whole, text=any_text, function=any_text)
WHERE = {
    "line": whole, "text": any_text, "says": any_text,
    "frames": rows(_FRAME), "generated": any_text, "near": rows(any_text),
}  # fmt: skip
_RAISED = fields(**ERROR, **WHERE)
_STOPPED = fields(**ERROR, **WHERE, values=rows(rows(any_text, 2)))


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
        return fields(WHERE, **ERROR)

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


class Parts:
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


# ------------------------------------------------------------------ schemas of several kinds


def data(parts: Parts) -> tuple[Check, Runs]:
    """A value alone."""
    return parts.other, []


def graph_module(parts: Parts, **more: Check) -> tuple[Check, Runs]:
    """A graph module, which is run on each input; or any other value.

    Args:
        parts: of the outcome.
        more: what else is recorded next to the graph module.
    """
    if not parts.has_graph:
        return data(parts)
    runs = [fields(**parts.of_graph(i)) for i in parts.inputs]
    value = fields(graph_module=parts.description, **more)
    return with_meta(value) if parts.trial.noted else value, runs


def with_meta(value: Check) -> Check:
    """The check of a described graph module that must tell its nodes' ``meta``, too."""

    def told(described: Plain) -> str | None:
        place = value(described)
        complete = place is not None or "meta" in described["graph_module"]
        return place if complete else ".graph_module.meta"

    return told


def new_graph_module(parts: Parts, **more: Check) -> tuple[Check, Runs]:
    """As `graph_module`; the nodes' ``meta`` is told in any case."""
    value, runs = graph_module(parts, **more)
    return with_meta(value) if parts.has_graph else value, runs


def made_from_class(parts: Parts, runs: Runs) -> tuple[Check, Runs]:
    """The runs of an object of a class; or a sentence about what is not a class of that kind."""
    return (text, []) if parts.value is not None else (nothing, runs)
