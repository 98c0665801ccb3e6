"""The rules of `optimize`: four clean-ups, repeated until none finds anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from autograder.authoring.key import (
    CONV_BN_CLASSES,
    CONV_CLASSES,
    DROPOUT_FUNCTIONS,
    DROPOUT_MODULES,
    NORM_CLASSES,
    PASS,
    AnswerKey,
    Evidence,
    Finding,
    GraphRecord,
    ModuleRecord,
    NodeRecord,
    Stage,
    has_effect,
    kind_of_class,
    kinds_of_calls,
    leaves_as_they_are,
    modules_by_path,
    needed,
    no_dropout_left,
    no_unused_modules,
    none_left,
    rule,
    target_path,
    target_text,
    times,
    without_dropout,
)

IDENTITY = "torch.nn.modules.linear.Identity"

no_identity_left = none_left("no identity left", "identity", (), (), (IDENTITY,))


@dataclass
class CleanUp:
    """The model's own trace after the clean-ups: its remaining nodes, by index.

    Attributes:
        data: the description of the trace.
        passed_on: indices of nodes whose readers read their input instead, with the input's index.
        dead: indices of nodes without readers and without effects.
        fused: indices of BatchNorms fused into a convolution, with its index.
    """

    data: GraphRecord
    passed_on: dict[int, int] = field(default_factory=dict)
    dead: set[int] = field(default_factory=set)
    fused: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows: list[NodeRecord] = self.data["nodes"]
        self.modules = modules_by_path(self.data)
        for place, row in enumerate(self.rows):
            if self._is_identity(row):
                self.passed_on[place] = row["inputs"][0]["node"]
        while self._removes_dead() or self._fuses():
            pass

    def left(self) -> set[str]:
        """The names of the remaining nodes."""
        return {self.rows[place]["name"] for place in self._readers()}

    # ------------------------------------------------------------ one step

    def _removes_dead(self) -> bool:
        readers = self._readers()
        found = {
            place
            for place, by in readers.items()
            if not by and not has_effect(self.rows[place], self.modules)
        }
        self.dead |= found
        return bool(found)

    def _fuses(self) -> bool:
        readers = self._readers()
        for place in readers:
            if not self._is_norm(self.rows[place]):
                continue
            (source,) = self._reads(place)
            if self._is_a(self.rows[source], CONV_CLASSES) and readers[source] == [place]:
                self.passed_on[place] = self.fused[place] = source
                return True
        return False

    # ------------------------------------------------------------ the current graph

    def _reads(self, place: int) -> list[int]:
        found = []
        for read in self.rows[place]["inputs"]:
            source = read["node"]
            while source in self.passed_on:
                source = self.passed_on[source]
            found.append(source)
        return list(dict.fromkeys(found))

    def _readers(self) -> dict[int, list[int]]:
        """The readers of each remaining node."""
        gone = self.dead | self.passed_on.keys()
        found: dict[int, list[int]] = {i: [] for i in range(len(self.rows)) if i not in gone}
        for place in found:
            for source in self._reads(place):
                found[source].append(place)
        return found

    # ------------------------------------------------------------ kinds of nodes

    def _module(self, row: NodeRecord) -> ModuleRecord:
        return self.modules.get(target_path(row), {}) if row["op"] == "call_module" else {}

    def _is_identity(self, row: NodeRecord) -> bool:
        if row["op"] == "call_function":
            return row["target"] in DROPOUT_FUNCTIONS
        return self._module(row).get("class") in (IDENTITY, *DROPOUT_MODULES)

    def _is_a(self, row: NodeRecord, kinds: tuple[type, ...]) -> bool:
        return CONV_BN_CLASSES.get(self._module(row).get("class", "")) in kinds

    def _is_norm(self, row: NodeRecord) -> bool:
        """Whether it is a call of a BatchNorm that treats every batch alike."""
        module = self._module(row)
        statistics = module.get("buffers", {}).get("running_mean")
        return self._is_a(row, NORM_CLASSES) and not module["training"] and statistics is not None


@rule("nothing dead", Stage.STRUCTURE)
def nothing_dead(evidence: Evidence) -> Iterable[Finding]:
    """No call or `get_attr` node may be left without readers and without effects."""
    rows = evidence.graph["nodes"]
    keep = set(needed(evidence.graph))
    unread = [i for i in range(len(rows)) if i not in keep]
    if unread:
        row = rows[unread[-1]]
        yield evidence.finding(
            "dead-left",
            f"`{row['name']}` is still there, though it cannot influence the result.",
            "A `get_attr` node that nobody reads is dead, too. Which of your clean-ups looks at "
            "such nodes, and does another one run after it?"
            if row["op"] == "get_attr"
            else "Is it pure? Then it goes, and so do the nodes that only it reads. Other "
            "clean-ups can make a call dead, too.",
            nodes=(row["name"],),
        )


_OF_OTHER_RULES = frozenset(kind_of_class(cls) for cls in (IDENTITY, *DROPOUT_MODULES)) | {
    f"`{target_text(function)}`" for function in DROPOUT_FUNCTIONS
}
"""Kinds of calls that the rules about dropouts and identities check."""


@rule("pairs fused", Stage.STRUCTURE)
def pairs_fused(evidence: Evidence) -> Iterable[Finding]:
    """Each pair must be one convolution, even if it meets late; no other call may change."""
    clean = CleanUp(evidence.traced_graph)
    left = clean.left()
    living = {evidence.graph["nodes"][i]["name"] for i in needed(evidence.graph)}
    want = Counter(kind for name, kind in kinds_of_calls(evidence.traced_graph) if name in left)
    got = Counter(kind for name, kind in kinds_of_calls(evidence.graph) if name in living)
    for kind in _OF_OTHER_RULES:
        del got[kind]
    norm = "a BatchNorm"
    if got[norm] > want[norm]:
        there = {row["name"] for row in evidence.graph["nodes"]}
        yield _unfused(evidence, clean, there)
        return
    lost = [kind for kind in want if got[kind] < want[kind]]
    added = [kind for kind in got if got[kind] > want[kind]]
    for kind in lost[-1:] or added[:1]:  # the last missing call may have removed its inputs, too
        yield evidence.finding(
            "changed-too-much" if lost else "left-behind",
            f"Your graph calls {kind} {times(got[kind])}; after the four clean-ups it is "
            f"{times(want[kind])}.",
            "Go through the clean-ups one after another, for the model below: which of them "
            "takes too much, or adds something?",
        )


def _unfused(evidence: Evidence, clean: CleanUp, there: set[str]) -> Finding:
    for place, source in clean.fused.items():
        name, conv = clean.rows[place]["name"], clean.rows[source]["name"]
        if name in there:
            direct = source in [read["node"] for read in clean.rows[place]["inputs"]]
            how = (
                "no other living node reads that convolution"
                if direct
                else "without the calls between them, it is the only reader of that convolution"
            )
            return evidence.finding(
                "missed-place",
                f"The BatchNorm `{name}` is still there, after the convolution `{conv}`: {how}.",
                "One clean-up makes room for another. When has your function looked for pairs, "
                "and what has it removed since then?",
                nodes=(name,),
            )
    return evidence.finding(
        "missed-place",
        "Your graph calls more BatchNorms than are left after the four clean-ups.",
        "One clean-up makes room for another. When has your function looked for pairs?",
    )


KEY = AnswerKey(
    (
        *PASS,
        no_dropout_left,
        no_identity_left,
        leaves_as_they_are,
        nothing_dead,
        pairs_fused,
        no_unused_modules,
    ),
    without_dropout,
)
