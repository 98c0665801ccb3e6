"""The answer key of `sound_dce`: no dead code is left, and every call with an effect is kept."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.authoring.key import (
    PASS,
    AnswerKey,
    Evidence,
    Finding,
    ModuleRecord,
    NodeRecord,
    Stage,
    Table,
    expressions,
    has_effect,
    missing_and_extra,
    model_itself,
    modules_by_path,
    needed,
    no_unused_modules,
    rule,
    target_path,
)


@rule("only what is needed", Stage.STRUCTURE)
def only_what_is_needed(evidence: Evidence) -> Iterable[Finding]:
    """The graph has the nodes that can influence the result, and no others."""
    table: Table = {}
    before, after = evidence.traced_graph, evidence.graph
    all_numbers = expressions(before["nodes"], table)
    keep = needed(before)
    want, got = [all_numbers[i] for i in keep], expressions(after["nodes"], table)
    missing, extra = missing_and_extra(want, got)
    if missing:
        modules = modules_by_path(before)
        rows = [before["nodes"][keep[i]] for i in missing]
        row = next((row for row in rows if has_effect(row, modules)), rows[0])
        yield evidence.finding(
            "removed-too-much",
            f"The model's node `{row['name']}`{_mode(row, modules)} can influence {_reach(row)}; "
            "it is gone from yours, or reads something else.",
            "A call may change a value that somebody reads, print something, or stop the program.",
            nodes=(row["name"],),
        )
    elif extra:
        unread = (i for i in extra if not evidence.derived.users[i])
        row = after["nodes"][next(unread, extra[0])]
        yield evidence.finding(
            "dead-left",
            f"`{row['name']}`{_mode(row, modules_by_path(after))} is still there, though it cannot "
            "influence the result.",
            "Is it pure? Then it goes, and so do the nodes that only it reads.",
            nodes=(row["name"],),
        )


def _reach(row: NodeRecord) -> str:
    """The values that an effect can influence; a norm's statistics also change later calls."""
    return "the result, or what a later call gives" if row["op"] == "call_module" else "the result"


def _mode(row: NodeRecord, modules: dict[str, ModuleRecord]) -> str:
    """The mode of a called module, which a card does not show."""
    module = modules.get(target_path(row), {}) if row["op"] == "call_module" else {}
    if "training" not in module:
        return ""
    cls = module["class"].rpartition(".")[2]
    return f", a `{cls}` in {'training' if module['training'] else 'eval'} mode,"


KEY = AnswerKey((*PASS, only_what_is_needed, no_unused_modules), model_itself)
