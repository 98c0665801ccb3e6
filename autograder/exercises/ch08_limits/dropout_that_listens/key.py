"""The answer key of `dropout_that_listens`: one `nn.Dropout` per call, in the right mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from torch import fx
from torch.nn import functional as F

from autograder.authoring.key import (
    PASS,
    AnswerKey,
    Evidence,
    Finding,
    GraphRecord,
    ModuleRecord,
    NodeRecord,
    Stage,
    Tagged,
    calls,
    exchanging,
    keyword,
    none_overwritten,
    rule,
    target_path,
)

DROPOUT: Tagged = {"function": "torch.nn.functional.dropout"}
MODULE = "torch.nn.modules.dropout.Dropout"


def _modules_by_every_path(data: GraphRecord) -> dict[str, ModuleRecord]:
    """The record of each module, by each of its paths."""
    rows = {row["path"]: row for row in data["modules"]}
    return {path: rows[row.get("same_as", path)] for path, row in rows.items()}


def _called_modules(data: GraphRecord) -> list[str]:
    """The targets of all `call_module` nodes, in graph order."""
    return [target_path(row) for row in data["nodes"] if row["op"] == "call_module"]


def _new_calls(evidence: Evidence) -> list[str]:
    before = set(_called_modules(evidence.traced_graph))
    return [target for target in _called_modules(evidence.graph) if target not in before]


@rule("no F.dropout left", Stage.STRUCTURE)
def no_function_left(evidence: Evidence) -> Iterable[Finding]:
    """No call of `F.dropout` must be left."""
    for row in evidence.graph["nodes"]:
        if calls(row, DROPOUT):
            yield evidence.finding(
                "missed-spelling",
                f"`{row['name']}` still calls `F.dropout`, and its `training` is fixed.",
                "Every call of `F.dropout` is meant, whatever it has captured.",
                (row["name"],),
            )
            return


@rule("new names are free", Stage.STRUCTURE)
def new_names_are_free(evidence: Evidence) -> Iterable[Finding]:
    """A new module must not overwrite one that an earlier call of the answer made."""
    if evidence.trial.then is None:
        return
    rows = evidence.graph["nodes"]
    called = Counter(target_path(row) for row in rows if row["op"] == "call_module")
    name, count = called.most_common(1)[0] if called else ("", 0)
    if count > 1:
        yield evidence.finding(
            "overwritten-module",
            f"{evidence.you} was given a model that it had made itself, with more to do in it. Now "
            f"two nodes call `{name}`: a module of that name was there already.",
            "The names of nodes and those of submodules are counted separately. Which names does "
            "the module have already?",
        )


@rule("a module for each call", Stage.STRUCTURE)
def a_module_for_each_call(evidence: Evidence) -> Iterable[Finding]:
    """Each call must have its own `nn.Dropout` with its own `p`, in graph order."""
    sites = [row for row in evidence.traced_graph["nodes"] if calls(row, DROPOUT)]
    new, modules = _new_calls(evidence), _modules_by_every_path(evidence.graph)
    if len(new) != len(sites):
        yield evidence.finding(
            "wrong-count",
            f"Calls of `F.dropout` in the trace of the model: {len(sites)}. New modules that your "
            f"result calls: {len(new)}.",
            "Each call becomes one call of one new module, and nothing else does.",
        )
        return
    wanted = [keyword(site, "p") for site in sites]
    found = [modules[target]["attrs"].get("p") for target in new]
    if found != wanted and Counter(map(repr, found)) == Counter(map(repr, wanted)):
        yield evidence.finding(
            "wrong-p",
            f"In the order of the graph, the calls of `F.dropout` had {_as_text(wanted)}, and the "
            f"calls of the new modules have {_as_text(found)}.",
            "Which node's `p` did each module get, and is its call where the old one "
            "was? Random numbers are drawn in the order of the calls.",
        )
        return
    seen: dict[str, str] = {}
    for site, target in zip(sites, new, strict=True):
        problem = _module_problem(evidence, site, target, modules[target], seen)
        if problem:
            yield problem
            return
        seen[modules[target]["path"]] = site["name"]


def _as_text(rates: list[Any]) -> str:
    return f"`p` = {', '.join(map(repr, rates))}"


def _module_problem(
    evidence: Evidence, site: NodeRecord, target: str, module: ModuleRecord, seen: dict[str, str]
) -> Finding | None:
    where = f"`{site['name']}` of the trace became a call of `{target}`"
    if module["class"] != MODULE or module["attrs"].get("inplace") is not False:
        kind = module["class"].rpartition(".")[2]
        kind += "(inplace=True)" if module["class"] == MODULE else ""
        return evidence.finding(
            "wrong-module",
            f"{where}, which is a `{kind}`.",
            "`F.dropout` drops single entries, and here not in place; so does `nn.Dropout`.",
        )
    if module["path"] in seen:
        return evidence.finding(
            "shared-module",
            f"{where}, which `{seen[module['path']]}` became, too.",
            "Each place has a module of its own, even if the probabilities are the same.",
        )
    p = keyword(site, "p")
    if module["attrs"].get("p") != p:
        return evidence.finding(
            "wrong-p",
            f"{where} with `p={module['attrs'].get('p')}`. The call had `p={p}`.",
            "Where does the node keep its `p`, and which node's `p` did this module get?",
        )
    return None


@rule("modes", Stage.STRUCTURE)
def modes(evidence: Evidence) -> Iterable[Finding]:
    """New modules must have the mode of the model; the model's modules must keep their own."""
    model = evidence.trial.model
    assert model is not None  # noqa: S101
    before, after = (
        _modules_by_every_path(evidence.traced_graph),
        _modules_by_every_path(evidence.graph),
    )
    words = {True: "training", False: "eval"}
    for target in _new_calls(evidence):
        if after[target]["training"] != model.training:
            yield evidence.finding(
                "wrong-mode",
                f"The model is in {words[model.training]} mode, and the new module `{target}` is "
                f"in {words[not model.training]} mode.",
                "In which mode is a module that was just made? And whose mode counts, that of "
                "the model or what the call has captured?",
            )
            return
    for target in ("", *dict.fromkeys(_called_modules(evidence.traced_graph))):
        if target in after and after[target]["training"] != before[target]["training"]:
            name = f"`{target}`" if target else "The result"
            yield evidence.finding(
                "wrong-mode",
                f"{name} was in {words[before[target]['training']]} mode, and is in "
                f"{words[after[target]['training']]} mode now.",
                "`train` and `eval` set a module and all below it. Which modules should be set?",
            )
            return


class Listening(fx.Interpreter):
    """Run a graph in which `F.dropout` takes the mode of the module."""

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is F.dropout:
            kwargs = {**kwargs, "training": self.module.training}
        return super().call_function(target, args, kwargs)


KEY = AnswerKey(
    (
        *PASS,
        no_function_left.because("names the call that was missed; others see a wrong number"),
        new_names_are_free.because("names what was overwritten; others see one module too few"),
        none_overwritten().because("names what was overwritten; others see a wrong number"),
        a_module_for_each_call,
        modes,
    ),
    exchanging(Listening),
)
