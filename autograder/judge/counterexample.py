"""The example on a card: the smallest failing case."""

from __future__ import annotations

import difflib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import fx, nn

from autograder.core.codec import Encoded, Encoder, kind_of, show, show_values
from autograder.core.exercise import Case, Exercise, Trial
from autograder.core.graph_record import GraphRecord
from autograder.core.graph_view import node_boxes, target_text
from autograder.core.outcome import Outcome, ResultRecord
from autograder.core.torch_private import is_exported
from autograder.core.verdict import Example, NodeBox
from autograder.judge.answer_key import AnswerKey, key_of
from autograder.judge.compare import difference
from autograder.judge.evidence import Evidence, describe_inputs
from autograder.judge.kinds import KINDS
from autograder.judge.repro_code import graph_text, pasteable, piece_of
from autograder.runner import kinds
from autograder.runner.tensor_text import tensor_text


def example_of(
    exercise: Exercise, case: Case, outcome: Outcome, seed: int, key: AnswerKey | None = None
) -> Example:
    """The example that a card shows; for a hidden case, its name and its line of the fine print."""
    fine_print = exercise.fine_print_for(case.name)
    if case.hidden:
        return Example(case=case.name, fine_print=fine_print)
    trial = case.make(seed)
    key = key or key_of(exercise)
    evidence = Evidence(exercise, case, outcome, key, seed)
    pictured = _is_traced(trial.model) and outcome.ended != "not attempted"
    expected, obtained = _expected_and_obtained(evidence, key)
    made = construction(case, trial.model)
    returned = _boxes(lambda: evidence.graph) if evidence.has_graph else ()
    before = _boxes(lambda: evidence.traced_graph) if pictured else ()
    if KINDS[exercise.kind].is_model:
        returned, before = (), returned
    return Example(
        case=case.name,
        source=source_of(trial, case.expect.built_by) + made,
        call=call_text(exercise, trial) + (f", {made.strip()}" if made else ""),
        inputs=tuple(describe_inputs(inputs) for inputs in trial.inputs),
        expected=expected,
        obtained=obtained,
        code=_code_text(evidence.value) if evidence.has_graph else "",
        before=before,
        after=returned,
        fine_print=fine_print,
    )


def without_answer(example: Example) -> Example:
    """The example without the result of the answer."""
    return replace(example, obtained="", code="", after=())


def _is_traced(model: Any) -> bool:
    """Whether a model has nodes of its own; a layer of PyTorch is traced as one node."""
    return isinstance(model, nn.Module) and not fx.Tracer().is_leaf_module(model, "")


def _boxes(description: Callable[[], GraphRecord]) -> tuple[NodeBox, ...]:
    """The boxes of a description; none if the model cannot be traced, or the description is
    inconsistent."""
    try:
        return node_boxes(description())
    except Exception:
        return ()


def _expected_and_obtained(evidence: Evidence, key: AnswerKey) -> tuple[str, str]:
    outcome, kind = evidence.outcome, KINDS[evidence.exercise.kind]
    if outcome.ended != "returned" or evidence.case.expect.raises:
        return "", ""
    if kind.is_model:
        return "", ""  # the finding reports the problem
    if evidence.has_graph:
        return _values_of_runs(evidence)
    if evidence.reference.value is None and evidence.reference.runs:
        return "", ""  # the exercise asks for behavior, not for a value
    if isinstance(outcome.value, dict) and not outcome.value.keys().isdisjoint(_NO_VALUES):
        return "", ""  # the finding reports the problem
    want = evidence.reference.value
    if key.oracle_only and _kind(want) != _kind(outcome.value):
        return "", show(outcome.value, 600)  # the oracle's value is of another kind
    wanted, got = kind.shown(want, evidence.trial), kind.shown(outcome.value, evidence.trial)
    return show(wanted, 600), show(got, 600)


def _kind(value: Encoded) -> str:
    """The kind of a value; a value from an answer may have any form."""
    return kind_of(value) if not isinstance(value, dict) or len(value) == 1 else ""


def _values_of_runs(evidence: Evidence) -> tuple[str, str]:
    """The expected and the obtained value of the first run that differs."""
    for i, want in enumerate(evidence.reference.runs):
        got = evidence.outcome.runs[i].get("forward", {}) if i < len(evidence.outcome.runs) else {}
        if "value" not in got or "value" not in want:
            continue
        tables = evidence.outcome.tensors, evidence.reference.tensors
        if difference(got["value"], tables[0], want["value"], tables[1]):
            texts = (
                show_values(want["value"], evidence.reference.tensors),
                show_values(got["value"], evidence.outcome.tensors),
            )
            return texts if all(texts) and texts[0] != texts[1] else ("", "")
    return "", ""


_NO_VALUES = ("trace_error", "keys")
"""Keys of records that contain no value to compare."""


def _code_text(value: ResultRecord) -> str:
    """The code of the result; for a model that was split, the code of all parts."""
    code = (value["graph_module"]["code"] or "").strip()
    if "pieces" in value:
        graphs = [piece["graph_module"] for piece in value["pieces"] if "graph_module" in piece]
        inside = [(graph["code"] or "").strip() for graph in graphs]
        codes = [f"# given to compile, {i}\n{text}" for i, text in enumerate(inside, start=1)]
        return "\n\n".join([*codes, f"# the result\n{code}"])
    if "tail" not in value:
        return code
    return f"# head\n{code}\n\n# tail\n{(value['tail']['code'] or '').strip()}"


def call_text(exercise: Exercise, trial: Trial) -> str:
    """The call of an answer on a case, as a person would write it."""
    if call := kinds.KINDS[exercise.kind].call:
        return call(exercise.name, trial)

    def word(value: Any) -> str:
        if getattr(value, "in_short", ""):
            return str(value.name)
        if isinstance(value, nn.Module):
            return _name_of_module(value, trial)
        if isinstance(value, fx.Node):
            return value.name
        if isinstance(value, fx.Graph) and isinstance(trial.model, fx.GraphModule):
            return "model.graph" if value is trial.model.graph else "other.graph"
        if isinstance(value, torch.Tensor):
            return tensor_text(value)
        if is_exported(value):
            return "ep"
        if isinstance(value, dict) and any(map(callable, value)):
            return _table_text(value, trial)
        if isinstance(value, list) and value and all(isinstance(each, set) for each in value):
            return show({"list": [{"set": sorted(each)} for each in value]})
        if type(value) in (list, tuple) and not _is_plain(value):
            inner = ", ".join(map(word, value))
            comma = "," * (len(value) == 1 and isinstance(value, tuple))
            return f"[{inner}]" if isinstance(value, list) else f"({inner}{comma})"
        return getattr(value, "__name__", None) or _object_text(value)

    args = [word(value) for value in trial.args]
    args += [f"{key}={word(value)}" for key, value in trial.kwargs.items()]
    text = ", ".join(args)
    for _ in range(trial.times):
        text = f"{exercise.name}({text})"
    if trial.then is not None:
        text = f"{exercise.name}({getattr(trial.then, '__name__', 'changed')}({text}))"
    return text


def _is_plain(values: Any) -> bool:
    """Whether a list or tuple contains only items whose `repr` is readable."""
    return not any(callable(each) or isinstance(each, torch.Tensor) for each in values)


def _name_of_module(module: nn.Module, trial: Trial) -> str:
    """The name of a module argument in the call: the model, a part of it, or another module."""
    parts = trial.model.named_modules() if trial.model is not None else ()
    path = next((path for path, part in parts if part is module), "")
    first = next(arg for arg in (*trial.args, module) if isinstance(arg, nn.Module))
    if path:
        return f"model.{path}"
    return "model" if module is first or module is trial.model else "other"


def _table_text(table: dict[Any, Any], trial: Trial) -> str:
    """A dictionary of functions by their names; the `repr` of a function contains an address."""
    plain = Encoder(trial.functions).function
    rows = [f"{target_text(plain(k))}: {getattr(v, '__name__', v)}" for k, v in table.items()]
    return f"{{{', '.join(rows)}}}"


def source_of(trial: Trial, made: Iterable[str] = ()) -> str:
    """The case's model (or function) as code that a person can read and paste into a new cell.

    After it follow classes of the course that its submodules have, and functions and modules that
    the answer also receives, such as a pattern to match. Each comes with the definitions that it
    needs from its own module.

    Args:
        trial: new objects of the case.
        made: the changes to a graph module since it was traced, in words.
    """
    subject = trial.model if trial.model is not None else next(iter(trial.args), None)
    if subject is None:
        return ""
    parts = [subject]
    if isinstance(subject, nn.Module) and not isinstance(subject, fx.GraphModule):
        parts += [part for part in subject.modules() if part is not subject and _is_of_course(part)]
    given = [v for arg in trial.args for v in (arg.values() if isinstance(arg, dict) else (arg,))]
    parts += [arg for arg in given if arg is not subject and _is_given(arg)]
    shown = [part for part in parts if not in_short(part)]
    text = pasteable([piece_of(part) for part in shown]) if shown else ""
    if lines := dict.fromkeys(in_short(part) for part in parts if in_short(part)):
        text += "\n" * bool(text) + "".join(f"# {line}\n" for line in lines)
    if isinstance(subject, fx.GraphModule) and trial.model is None:
        # Without a model, the graph itself is the subject, and it may differ from its code.
        text += f"\n{graph_text(subject, tuple(made))}\n"
    if isinstance(subject, fx.GraphModule):
        # First, because a card shows only the first lines, and the case is about these.
        unlike = [f"{_unlike(subject.graph, graph)}\n\n" for graph in _edited(trial, subject)]
        text = "".join(unlike) + text
    return text


def _edited(trial: Trial, subject: fx.GraphModule) -> Iterator[fx.Graph]:
    """The other graphs that an answer receives, if their code does not show the difference.

    A graph may have been edited after its code was generated.
    """
    for arg in trial.args:
        graph = arg.graph if isinstance(arg, fx.GraphModule) else arg
        stale = not isinstance(arg, fx.GraphModule) or arg.code == subject.code
        if isinstance(graph, fx.Graph) and graph is not subject.graph and stale:
            yield graph


def _unlike(one: fx.Graph, other: fx.Graph) -> str:
    """The lines in which two printed graphs differ, as comments."""
    ours, theirs = (_USERS.sub("", str(graph)).split("\n") for graph in (one, other))
    changes = difflib.ndiff(ours, theirs)
    lines = [f"# {line[0]} {line[2:].strip()}" for line in changes if line[0] in "+-"]
    if not lines:
        return "# print(graph) shows the same for `other`"
    return "\n".join(["# `other` is the same except for these lines of print(graph):", *lines])


_USERS = re.compile(r"( :)? \[num_users=\d+\]")


LONGEST_CLASS = 14
"""Most lines of an argument's class that are shown; a longer class is described in one line."""


def in_short(value: Any) -> str:
    """One line about an object that the course calls, for example one that makes inputs.

    The code of its class would be longer than the model of the case. Such a class may describe its
    objects in ``in_short``, and name them in ``name``.

    Returns:
        ``""`` for a model, a function and a small class, whose code is shown.
    """
    own = getattr(value, "in_short", "")
    if own:
        return f"{value.name}: {own}"
    kind = type(value)
    if isinstance(value, nn.Module | type) or inspect.isfunction(value) or not _is_of_course(value):
        return ""
    own_classes = [each for each in kind.__mro__ if each.__module__.startswith("autograder.")]
    try:
        lines = sum(len(inspect.getsource(each).splitlines()) for each in own_classes)
    except (OSError, TypeError):
        return ""
    said = (inspect.getdoc(kind) or "").partition("\n")[0]
    return f"{_object_text(value)}: {said}" if lines > LONGEST_CLASS and said else ""


def _object_text(value: Any) -> str:
    """An object of the course as an argument; by its class if it has no `repr` of its own."""
    kind: Any = type(value)
    if kind.__repr__ is object.__repr__:  # it would name a module and an address
        return f"{kind.__name__}(...)"
    return textwrap.shorten(repr(value), 80)


def construction(case: Case, model: nn.Module | None) -> str:
    """The line that constructs the case's model, if its class is called with arguments.

    Without this line, a pasted class would be called with its defaults, which give another model.
    """
    calls = (value for value in builders_in(case.make) if isinstance(value, partial))
    call = next((each for each in calls if each.func is type(model)), None)
    if call is None:
        return ""
    given = [*map(repr, call.args), *(f"{name}={value!r}" for name, value in call.keywords.items())]
    return f"\nmodel = {type(model).__name__}({', '.join(given)})\n"


def builders_in(value: Any) -> Iterator[Any]:
    """Yield a builder of a case and the builders in its fields, recursively."""
    yield value
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from builders_in(getattr(value, field.name))


def _is_given(value: Any) -> bool:
    """Whether an argument belongs to the course; a driver that calls the answer is excluded."""
    return _is_of_course(value) and not hasattr(value, "says")


def _is_of_course(value: Any) -> bool:
    """Whether a function or module was made by a case, and is not part of PyTorch."""
    if isinstance(value, fx.GraphModule):
        return True
    thing = value if inspect.isfunction(value) else type(value)
    return thing.__module__.startswith("autograder.")
