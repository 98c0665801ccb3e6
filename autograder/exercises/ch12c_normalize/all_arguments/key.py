"""The answer key of `all_arguments`: a dictionary for each call, or a `ValueError`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any, cast

from torch import fx, nn

from autograder.authoring.key import (
    AnswerKey,
    CallResult,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    OpOverload,
    Reference,
    Stage,
    Trial,
    caller_untouched,
    came_from,
    difference,
    error_text,
    function_label,
    kind_of,
    rule,
    schema_of,
    show,
    unrecorded,
)


class Wanted(CallResult, total=False):
    """The expected result of a call: a value, or the reason why there is none."""

    why: str


Calls = Iterator[tuple[fx.Node, CallResult, Wanted]]


def _calls(evidence: Evidence) -> Calls:
    """Each call, with the answer's record and the expected result."""
    runs = (run["forward"] for run in evidence.outcome.runs)
    calls = evidence.trial.args[0].calls
    yield from zip(calls, runs, cast(list[Wanted], evidence.reference.runs), strict=True)


def call_text(node: fx.Node) -> str:
    """A call as text: the callee and its arguments."""
    if node.op == "call_method":
        what = f"the method `{node.target}`"
    elif node.op == "call_module":
        what = f"the module `{node.target}`"
    elif isinstance(node.target, OpOverload):
        what = f"`torch.ops.{node.target}`"
    else:
        what = f"`{function_label(node.target)}`"
    keywords = f" and kwargs = {dict(node.kwargs)}" if node.kwargs else ""
    return f"`{node.name}` calls {what} with args = {node.args}{keywords}"


@rule("a dictionary or a ValueError", Stage.KIND)
def dictionary_or_error(evidence: Evidence) -> Iterable[Finding]:
    """Each call must give a `dict`, or a `ValueError` if its parameters are unknown."""
    for node, got, want in _calls(evidence):
        if got["args"] != {"tuple": [node.name]}:
            yield unrecorded(evidence)
            return
        error = got.get("error")
        if error is None and isinstance(got["value"], dict) and "dict" in got["value"]:
            if "value" not in want:
                yield evidence.finding(
                    "no-error",
                    f"{call_text(node)}. {evidence.you} returned {show(got['value'])} here; there "
                    f"should be a `ValueError`: {want['why']}.",
                    _WHY.get(want["why"], _DOES_NOT_FIT),
                    (node.name,),
                )
                return
            continue
        if error is None:
            yield evidence.finding(
                "returned-none" if got["value"] is None else "wrong-kind",
                f"{call_text(node)}. {evidence.you} returned {kind_of(got['value'])} here, not a "
                "`dict`.",
                "Does every path through your function end with a dictionary, or raise?",
                (node.name,),
            )
            return
        refused = "ValueError" in error["types"]
        if refused and "value" not in want:
            if not error["message"]:
                yield evidence.finding(
                    "silent-error",
                    f"{call_text(node)}. {evidence.you} raised a `ValueError` without a message "
                    f"here. It should say which: {want['why']}.",
                    "What does a reader of your `ValueError` need to know?",
                    (node.name,),
                )
                return
            continue
        yield evidence.finding(
            "refused" if refused else "raised",
            f"{call_text(node)}. {evidence.you} raised {error_text(error)} here.{came_from(error)}",
            _look_at(want, refused),
            (node.name,),
            error=error,
        )
        return


def _look_at(want: Wanted, refused: bool) -> str:
    if "value" not in want:
        return f"A `ValueError` must be raised here: {want['why']}. Which line raises this one?"
    if refused:
        return "This call is sound, and its parameters are known. Which of your steps gives up?"
    return "Do what your function does by hand, for this call."


_UNKNOWN = "nothing is known of it"
_WHY = {_UNKNOWN: "What does your function take for the signature of this target?"}
_DOES_NOT_FIT = "Which parameters are there, which of them have no default, and is one given twice?"


@rule("parameters", Stage.STRUCTURE)
def parameters(evidence: Evidence) -> Iterable[Finding]:
    """The keys must be the names of all parameters."""
    for node, got, want in _calls(evidence):
        if "value" not in want:
            continue
        ours, theirs = ([show(key) for key, _ in each["value"]["dict"]] for each in (got, want))
        missing = [name for name in theirs if name not in ours]
        extra = [name for name in ours if name not in theirs]
        if missing or extra:
            what = f"has no key {missing[0]}" if missing else f"has a key {extra[0]} too many"
            if missing and extra:
                what += f", but {extra[0]}"
            yield evidence.finding(
                "wrong-parameters",
                f"{call_text(node)}. Your dictionary {what}; the keys must be {', '.join(theirs)}.",
                _look_at_names(node),
                (node.name,),
            )
            return


def _look_at_names(node: fx.Node) -> str:
    if node.op == "call_module":
        return "A module is called by way of its `forward`. Whose module is it?"
    if isinstance(node.target, OpOverload):
        return "An overload has one schema of its own, and its names are taken as they are."
    return "A function of Python has a signature of its own."


@rule("arguments", Stage.RESULT)
def arguments(evidence: Evidence) -> Iterable[Finding]:
    """Each parameter must have its unchanged argument, or its default."""
    for node, got, want in _calls(evidence):
        if "value" not in want:
            continue
        theirs = {show(key): value for key, value in want["value"]["dict"]}
        for key, value in got["value"]["dict"]:
            name = show(key)
            tables = evidence.outcome.tensors, evidence.reference.tensors
            if difference(value, tables[0], theirs[name], tables[1]) is None:
                continue
            yield evidence.finding(
                "wrong-argument",
                f"{call_text(node)}. Your dictionary has {_text(value)} for {name}, and not "
                f"{_text(theirs[name])}.",
                _look_at_value(theirs[name], node),
                (node.name,),
            )
            return


def _text(value: Encoded) -> str:
    return f"`{show(value)}`"


def _look_at_value(want: Encoded, node: fx.Node) -> str:
    values = [Encoder().encode(v) for v in (*node.args, *node.kwargs.values())]
    if want in values:
        return "An argument is given back as it is in `args` or `kwargs`."
    return "This parameter was not given. What is its default, and who knows it?"


def of_each_call(trial: Trial) -> Reference:
    """The expected result of each call: a dictionary, or the reason why there is none."""
    (asked,) = trial.args
    encoder = Encoder(trial.functions)
    runs: list[Any] = []
    for node in asked.calls:
        try:
            runs.append({"value": encoder.encode(_by_name(node, asked.root))})
        except _NoDictionary as error:
            runs.append({"why": str(error)})
    return Reference(None, runs, encoder.tensors)


class _NoDictionary(Exception):
    """Raised if the expected result is a `ValueError`; the message says why."""


def _by_name(node: fx.Node, root: nn.Module) -> dict[str, Any]:
    if isinstance(node.target, OpOverload):
        return _by_schema(node)
    function: Any = node.target
    if node.op == "call_module":
        function = root.get_submodule(str(node.target)).forward
    try:
        signature = None if node.op == "call_method" else inspect.signature(function)
    except ValueError:
        signature = None
    if signature is None:
        raise _NoDictionary(_UNKNOWN)
    try:
        bound = signature.bind(*node.args, **node.kwargs)
    except TypeError as error:
        raise _NoDictionary(f"its arguments do not fit: {error}") from None
    bound.apply_defaults()
    return dict(bound.arguments)


def _by_schema(node: fx.Node) -> dict[str, Any]:
    arguments = schema_of(node.target).arguments
    places = [argument.name for argument in arguments if not argument.kwarg_only]
    given = dict(zip(places, node.args, strict=False))
    defaults = {a.name: a.default_value for a in arguments if a.has_default_value()}
    found = {**defaults, **given, **node.kwargs}
    doubled = given.keys() & node.kwargs.keys()
    if len(node.args) > len(places) or doubled or found.keys() != {a.name for a in arguments}:
        raise _NoDictionary("its arguments do not fit")
    return found


KEY = AnswerKey(
    (
        dictionary_or_error,
        caller_untouched,
        parameters.because("names what is missing, before arguments are compared"),
        arguments,
    ),
    of_each_call,
    oracle_only=True,
)
