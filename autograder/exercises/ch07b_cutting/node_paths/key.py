"""The answer key of `node_paths`: for each node, the path of the module whose forward made it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from torch import fx, nn

from autograder.authoring.key import (
    AnswerKey,
    CallResult,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    Reference,
    Rule,
    Stage,
    Trial,
    caller_untouched,
    kind_of,
    returns,
    show,
)

Words = tuple[str, str, str, tuple[str, ...]]
"""Code, message, advice and nodes of a finding."""


def _path_for_each_node(evidence: Evidence) -> Iterable[Finding]:
    """The keys are all nodes except the output, and each has the right path."""
    trial = evidence.trial
    found = _problem(evidence.outcome.value, evidence.reference.value, trial.model)
    if found:
        code, text, advice, nodes = found
        if trial.watch:
            text, advice = f"After a call on {_earlier(evidence)}, {_later(text)}", _AFTER
        yield evidence.finding(code, text, advice, nodes)
        return
    same = trial.meanwhile is not None
    which = "this model, before it was changed," if same else "another model"
    wanted = zip(trial.watch, evidence.outcome.runs, evidence.reference.runs, strict=True)
    for model, run, want in wanted:
        if "error" in want:
            continue  # any result is fine for a model that cannot be traced
        at_once = _problem(run["forward"].get("then"), want["value"], model)
        found = _problem(run["forward"].get("value"), want["value"], model)
        if at_once:
            code, text, advice, _ = at_once
            text = f"What a call on {which} gives is wrong: {_later(text)}"
            yield evidence.finding(code, text, advice)
            return
        if found:
            text = f"What an earlier call on {which} gave is wrong now: {_later(found[1])}"
            yield evidence.finding("stale-state", text, _AFTER)
            return


def _earlier(evidence: Evidence) -> str:
    """The model of the earlier call, in words."""
    if evidence.trial.meanwhile is not None:
        return "the same model, which has been changed since"
    raised = any("error" in run for run in evidence.reference.runs)
    return "a model whose trace raises" if raised else "another model"


path_for_each_node = Rule("a path for each node", Stage.RESULT, _path_for_each_node)

_AFTER = (
    "Where does your function keep what it knows, and when is that made? One call must not see "
    "anything of another one, even if that raised."
)


def _later(text: str) -> str:
    return text[:1].lower() + text[1:]


def _problem(value: Encoded, reference: Encoded, model: nn.Module | None) -> Words | None:
    """The finding about one dictionary, if it is wrong."""
    if not (isinstance(value, dict) and "dict" in value):
        return "wrong-kind", f"The result is {kind_of(value)}, not a `dict`.", _KIND, ()
    odd = next((key for key, _ in value["dict"] if not isinstance(key, str)), None)
    if odd is not None:
        return "wrong-kind", f"Your dictionary has {kind_of(odd)} as a key.", _NAMES, ()
    got: dict[str, Any] = {str(key): path for key, path in value["dict"]}
    want: dict[str, Any] = {str(key): path for key, path in reference["dict"]}
    missing = [name for name in want if name not in got]
    if missing:
        text = f"Your dictionary has no key {', '.join(map(repr, missing[:3]))}."
        return "missing-node", text, _MISSING, tuple(missing)
    extra = next((name for name in got if name not in want), None)
    if extra is not None and re.fullmatch(r"output(_\d+)?", extra):
        return "lists-output", f"Your dictionary has a key {extra!r}.", _OUTPUT, ()
    if extra is not None:
        text = f"Your dictionary has a key {extra!r}, which is not a node's name."
        return "extra-key", text, _NAMES, ()
    for name, path in want.items():
        if not _is_path_of(got[name], path, model):
            text = f"For {name!r} you give {show(got[name])}; it was made in the forward of "
            text += f"{path!r}." if path else "the root, whose path is ''."
            return "wrong-path", text, _PATH, (name,)
    return None


def _is_path_of(got: Encoded, path: str, model: nn.Module | None) -> bool:
    """Whether this is the path; a module with two names has two paths."""
    if got == path:
        return True
    if not (isinstance(got, str) and got and path and model is not None):
        return False
    modules = dict(model.named_modules(remove_duplicate=False))
    return got in modules and modules[got] is modules[path]


_KIND = "Compare with the return type in the exercise."
_NAMES = "The keys are the names of the nodes in a fresh trace, as strings."
_MISSING = (
    "Every node of the graph is a key, the output excepted. Which method of a Tracer makes "
    "*all* nodes?"
)
_OUTPUT = "The output is the one node that is left out."
_PATH = (
    "Read the model's code: which `forward` is running at that moment? A leaf's own forward never "
    "runs while you trace."
)


def paths_of(model: nn.Module) -> dict[str, str]:
    """The path of each node, from hooks at the beginning and end of each module's forward."""
    tracer, running = fx.Tracer(), [""]
    paths: dict[str, str] = {}

    def note() -> None:
        """Give the path of the running module to all new nodes."""
        for node in tracer.graph.nodes:
            if node.op != "output":
                paths.setdefault(node.name, running[-1])

    def enter(path: str, *_: Any) -> None:
        note()
        running.append(path)

    def leave(*_: Any) -> None:
        note()
        running.pop()

    for path, module in model.named_modules():
        module.register_forward_pre_hook(partial(enter, path))
        module.register_forward_hook(leave)
    tracer.trace(model)
    note()
    return paths


def by_hooks(trial: Trial) -> Reference:
    """The paths in the case's model, and in the models of earlier calls."""
    encoder = Encoder()
    runs: list[CallResult] = []
    for model in trial.watch:
        try:
            runs.append({"value": encoder.encode(paths_of(model))})
        except Exception as error:  # no tracer can trace it
            runs.append({"error": {"type": type(error).__name__}})
    if trial.meanwhile is not None:
        trial.meanwhile(paths_of)
    return Reference(encoder.encode(paths_of(trial.given_model)), runs, encoder.tensors)


KEY = AnswerKey(
    (
        returns("dict").because("names the kind that came back, before any path is compared"),
        caller_untouched,
        path_for_each_node,
    ),
    by_hooks,
)
