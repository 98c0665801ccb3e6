"""Rules for exercises of chapter 03 that replace or delete modules and their calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from autograder.core.codec import Tagged
from autograder.core.graph_record import GraphRecord, classes_of, target_path
from autograder.core.verdict import Finding
from autograder.judge.rule import Rule, Stage, rule
from autograder.rules.additions import calls

if TYPE_CHECKING:
    from autograder.judge import Evidence

RELU_MODULE = "torch.nn.modules.activation.ReLU"
_RELU_FUNCTIONS: tuple[Tagged, ...] = (
    {"function": "torch.relu"},
    {"function": "torch.nn.functional.relu"},
)
_DROPOUTS = (
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "AlphaDropout",
    "FeatureAlphaDropout",
)
DROPOUT_MODULES = tuple(f"torch.nn.modules.dropout.{name}" for name in _DROPOUTS)
DROPOUT_FUNCTIONS: tuple[Tagged, ...] = tuple(
    {"function": f"torch.nn.functional.{name}"}
    for name in (
        "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout",
    )
)  # fmt: skip


# ------------------------------------------------------------------ unused modules


def unused_modules(data: GraphRecord) -> Iterator[tuple[str, str]]:
    """Path and class of each module that no node calls or reads, except containers."""
    called = {target_path(row) for row in data["nodes"] if row["op"] == "call_module"}
    read = {target_path(row) for row in data["nodes"] if row["op"] == "get_attr"}
    aliases: dict[str, list[str]] = {}
    for row in data["modules"]:
        aliases.setdefault(row.get("same_as", row["path"]), []).append(row["path"])
    for row in data["modules"]:
        if "same_as" in row or not row["path"] or row["class"] == "torch.nn.modules.module.Module":
            continue
        paths = aliases[row["path"]]
        if not any(_is_used(path, called, read) for path in paths):
            yield row["path"], row["class"]


def _is_used(path: str, called: set[str], read: set[str]) -> bool:
    inside = any(path == target or path.startswith(f"{target}.") for target in called)
    around = any(target.startswith(f"{path}.") for target in called | read)
    return inside or around or path in read


@rule("no unused modules", Stage.STRUCTURE)
def no_unused_modules(evidence: Evidence) -> Iterable[Finding]:
    """The result must not contain modules that no node calls."""
    for path, cls in unused_modules(evidence.graph):
        yield _unused(evidence, path, cls)
        return


def _unused(evidence: Evidence, path: str, cls: str) -> Finding:
    return evidence.finding(
        "unused-module",
        f"Your result still holds the module `{path}`, a `{cls.rpartition('.')[2]}`, "
        "which no node calls any more.",
        "Erasing the call leaves the module where it was; a `GraphModule` has methods for that.",
    )


# ------------------------------------------------------------------ relu_to_gelu, remove_dropout


def none_left(
    name: str,
    what: str,
    functions: tuple[Tagged, ...],
    methods: tuple[str, ...],
    modules: tuple[str, ...],
) -> Rule:
    """Require that no call of these functions, methods and modules is left, and no such module.

    Args:
        name: the rule's name.
        what: the noun for them, for messages.
        functions: functions as plain data.
        methods: names of methods.
        modules: full names of module classes.
    """
    article = "an" if what[0] in "aeiou" else "a"

    def calls_in(data: GraphRecord) -> Iterator[tuple[str, str]]:
        classes = classes_of(data)
        for row in data["nodes"]:
            cls = classes.get(target_path(row)) if row["op"] == "call_module" else None
            is_method = row["op"] == "call_method" and row["target"] in methods
            if cls in modules:
                yield row["name"], f"a call of an `nn.{cls.rpartition('.')[2]}`"
            elif is_method or calls(row, *functions):
                yield row["name"], f"a call of a {'method' if is_method else 'function'}"

    def find(evidence: Evidence) -> Iterable[Finding]:
        left = list(calls_in(evidence.graph))
        for name, how in left[:1]:
            all_left = [*calls_in(evidence.traced_graph)] == left
            yield evidence.finding(
                "missed-spelling",
                f"`{name}` is still {article} {what}: {how}.",
                f"Your result still has every {what} of this model. Which line of yours is meant "
                "for it, and does its condition hold here?"
                if all_left
                else f"{article.title()} {what} may be written in several ways, and a module may "
                "be called twice.",
                nodes=(name,),
            )
            return
        # A leaf may use the modules inside it; the graph does not show them.
        for path, cls in unused_modules(evidence.graph):
            if cls in modules:
                yield _unused(evidence, path, cls)
                return

    return Rule(name, Stage.STRUCTURE, find)


# ------------------------------------------------------------------ modules inside leaves


def _held_by_leaves(data: GraphRecord) -> dict[str, dict[str, str]]:
    """The class of each module inside a called module: by its path and the relative path."""
    classes = classes_of(data)
    called = {target_path(row) for row in data["nodes"] if row["op"] == "call_module"}
    return {
        leaf: {
            path.removeprefix(f"{leaf}."): cls
            for path, cls in classes.items()
            if path.startswith(f"{leaf}.")
        }
        for leaf in called
        if leaf in classes
    }


@rule("leaves as they are", Stage.STRUCTURE)
def leaves_as_they_are(evidence: Evidence) -> Iterable[Finding]:
    """A leaf module must contain the same modules in the result as in the model."""
    want = _held_by_leaves(evidence.traced_graph)
    for leaf, held in _held_by_leaves(evidence.graph).items():
        before = want.get(leaf, held)
        other = next((p for p in {**before, **held} if before.get(p) != held.get(p)), None)
        if other is not None:
            yield evidence.finding(
                "leaf-changed",
                f"Inside the leaf module `{leaf}`, `{other}` is not what it is in the model.",
                "The graph calls a leaf as a whole. What it holds inside is the leaf's business.",
            )
            return


# ------------------------------------------------------------------ names that are taken


def overwritten(evidence: Evidence, places: Collection[str] = ()) -> Iterable[Finding]:
    """Yield a finding if the result uses the name of a module of the model for another class.

    Args:
        evidence: the result.
        places: names of nodes of the model's trace whose module may change its class.
    """
    before, after = classes_of(evidence.traced_graph), classes_of(evidence.graph)
    called = {target_path(row) for row in evidence.graph["nodes"] if row["op"] == "call_module"}
    for row in evidence.traced_graph["nodes"]:
        if row["op"] != "call_module" or row["name"] in places:
            continue
        target = target_path(row)
        if target not in called:
            continue
        if before.get(target) != after.get(target, before.get(target)):
            was, now = (classes[target].rpartition(".")[2] for classes in (before, after))
            yield evidence.finding(
                "overwritten-module",
                f"`{target}` was a `{was}` of the model, and is a `{now}` now.",
                "The names of nodes and those of submodules are counted separately. Which names "
                "does the module have already?",
            )
            return


def none_overwritten(*exchanged: str) -> Rule:
    """Make the rule that the modules called by the model keep their classes.

    Args:
        exchanged: full names of classes that the task itself replaces.
    """

    def find(evidence: Evidence) -> Iterable[Finding]:
        classes = classes_of(evidence.traced_graph)
        calls = [row for row in evidence.traced_graph["nodes"] if row["op"] == "call_module"]
        places = [row["name"] for row in calls if classes.get(target_path(row)) in exchanged]
        yield from overwritten(evidence, places)

    return Rule("no module overwritten", Stage.STRUCTURE, find)


# ------------------------------------------------------------------ no replacements


def nothing_instead_of(what: str, functions: tuple[Tagged, ...], modules: tuple[str, ...]) -> Rule:
    """Make the rule that every call of the result is also in the model's trace.

    Args:
        what: the noun for a deleted call, for messages.
        functions: functions that the task deletes, as plain data.
        modules: full names of module classes that the task deletes.
    """

    def called(data: GraphRecord) -> list[tuple[str, str]]:
        classes = classes_of(data)
        rows = [row for row in data["nodes"] if row["op"].startswith("call_")]
        return [
            (row["name"], f"nn.{classes.get(target_path(row), '').rpartition('.')[2]}")
            if row["op"] == "call_module"
            else (row["name"], str(row["target"]))
            for row in rows
            if not calls(row, *functions) and classes.get(str(row["target"])) not in modules
        ]

    def find(evidence: Evidence) -> Iterable[Finding]:
        left = Counter(called_ for _, called_ in called(evidence.traced_graph))
        for name, target in called(evidence.graph):
            left[target] -= 1
            if left[target] < 0:
                yield evidence.finding(
                    "something-instead",
                    f"`{name}` in your result is a call that the model's trace does not have.",
                    f"Nothing replaces a {what}: its readers read what it has read.",
                    nodes=(name,),
                )
                return

    return Rule("nothing instead", Stage.STRUCTURE, find)


no_relu_left = none_left("no relu left", "ReLU", _RELU_FUNCTIONS, ("relu",), (RELU_MODULE,))
nothing_for_dropout = nothing_instead_of("dropout", DROPOUT_FUNCTIONS, DROPOUT_MODULES)
no_dropout_left = none_left("no dropout left", "dropout", DROPOUT_FUNCTIONS, (), DROPOUT_MODULES)
