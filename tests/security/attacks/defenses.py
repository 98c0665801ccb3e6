"""The defenses, a way to remove each, and the attacks that succeed without it.

``python -m tests.security.attacks.defenses`` removes them one after the other and prints the
results; names after the command select some. Defenses that decide about graphs are removed in a
separate process, which takes a second. Defenses of the sandbox, the judge's report or the class
are removed by an edit in a copy of the project, where the attacks are graded; that takes a minute
or two for each.

The list omits things that have two bounds, because no attack shows the first one alone: the parts
of an outcome, and a folder that is a link.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from torch import nn

from autograder.builder.paths import ROOT
from autograder.core import graph_program
from tests.security.attacks import all_attacks
from tests.security.attacks._class import Column
from tests.security.attacks._judged import apart, earned
from tests.security.attacks.graph_fuzz import fuzz

PARTS = ("autograder", "course", "solutions", "tests")
_NOT_COPIED = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")

DRAWN = "graphs that are drawn"
"""Instead of attack names, if only drawn graphs fail: another defense protects the points."""


@dataclass(frozen=True)
class Defense:
    """A defense that keeps attacks from getting points.

    Attributes:
        name: a slug.
        says: a description in one sentence.
        take_back: removes it in this process, permanently.
        attacks: the names of attacks that get points without it, and none with it.
    """

    name: str
    says: str
    take_back: Callable[[], None]
    attacks: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


class Walking(dict[str, Any]):
    """Maps each path to the object that it reaches along Python attributes."""

    def __init__(self, root: nn.Module) -> None:
        self.root = root

    def __contains__(self, path: object) -> bool:
        return True

    def __getitem__(self, path: str) -> Any:
        return reduce(getattr, path.split("."), self.root)


def let_paths_walk() -> None:
    """Let `get_attr` and `call_module` follow attributes."""
    real = graph_program._modules

    def walking(*args: Any) -> tuple[nn.Module, Any]:
        root, _ = real(*args)
        return root, Walking(root)

    graph_program._modules = walking
    graph_program._tensors_in = lambda modules: Walking(modules.root)


def let_functions_be_arguments() -> None:
    """Let a row have functions as arguments."""
    graph_program._Reads._decode_function = graph_program._Static._decode_function


def let_any_method_be_called() -> None:
    """Let a graph call any method of any value."""
    graph_program._ALL_METHODS = Everything()
    graph_program._method = lambda name, owner: getattr(owner, name)


def let_any_attribute_be_asked_for() -> None:
    """Let `getattr` read any attribute of a value."""
    graph_program._ALL_ATTRIBUTES = Everything()
    graph_program._attribute = getattr


class Everything:
    """A list that contains everything."""

    def __contains__(self, name: object) -> bool:
        return True


DEFENSES = (
    Defense(
        "declared-paths",
        "Paths lead to the modules and tensors that a description declares, and nowhere else.",
        let_paths_walk,
        (DRAWN,),
    ),
    Defense(
        "no-functions-as-values",
        "Only types of numbers stand as functions among the arguments of a row.",
        let_functions_be_arguments,
        ("rebuilding-max-key", "rebuilding-min-key"),
    ),
    Defense(
        "listed-methods",
        "Methods are those of a list, for each kind of value.",
        let_any_method_be_called,
        ("rebuilding-format",),
    ),
    Defense(
        "listed-attributes",
        "`getattr` is asked for attributes of a list, for each kind of value.",
        let_any_attribute_be_asked_for,
        ("rebuilding-getattr-frame",),
    ),
)


@dataclass(frozen=True)
class SourceDefense:
    """A defense whose removal only a class shows.

    Attributes:
        name: a slug.
        says: a description in one sentence.
        file: its file, from the project's root.
        old: the text that implements it; it occurs once.
        new: the text without it.
        attacks: the names of attacks that succeed without it.
        column: the column that counts them then.
    """

    name: str
    says: str
    file: str
    old: str
    new: str
    attacks: tuple[str, ...]
    column: Column

    def __str__(self) -> str:
        return self.name


SOURCE_DEFENSES = (
    SourceDefense(
        "complete-outcomes",
        "An outcome that lacks a run or a field holds nothing.",
        "autograder/judge/schema.py",
        "        return _is_complete(schema, evidence)\n",
        "        return True\n",
        ("claiming-runs-less-log",),
        "gained",
    ),
    SourceDefense(
        "text-of-answers",
        "Where a tool is forbidden, the text of the answer is looked at.",
        "autograder/judge/source_rules.py",
        "    if not exercise.forbidden_words:\n",
        "    if exercise:\n",
        ("claiming-inputs-descriptor", "claiming-inputs-garbage"),
        "gained",
    ),
    SourceDefense(
        "order-of-cases",
        "Each submission meets the cases in an order of its own.",
        "autograder/boxed/notebook_run.py",
        '        random.Random(f"{self.seed} {exercise.name} {len(cases)}").shuffle(mixed)\n',
        "",
        ("claiming-order-count-ops", "claiming-order-wellformed"),
        "gained",
    ),
    SourceDefense(
        "answers-set-aside",
        "Answers are tried in forked children, so that no cell sees what was seen in a trial.",
        "autograder/boxed/judge_service.py",
        "    can_fork = True\n",
        "    can_fork = False\n",
        ("leaking-carried", "leaking-carried-name"),
        "read",
    ),
    SourceDefense(
        "nothing-printed-on-hidden-cases",
        "What an answer prints on a hidden case is not shown.",
        "autograder/judge/__init__.py",
        'printed="" if worst.name in silent else shown.printed,',
        "printed=shown.printed,",
        ("leaking-printed",),
        "read",
    ),
    SourceDefense(
        "stubs-replaced-before-hidden-cases",
        "An answer that comes late is tried on visible cases before any hidden case is given.",
        "autograder/boxed/notebook_run.py",
        "            for index in waiting:\n                self._replace_stub(index)\n"
        "            for index in waiting:  # hidden cases\n"
        "                self.verdicts[index] = self._try(index)\n",
        "            stubs = [index for index in waiting if self._is_stub(index)]\n"
        "            for index in [index for index in waiting if index not in stubs]:\n"
        "                self.verdicts[index] = self._try(index)\n"
        "            self.notebook.seals = False\n"
        "            for index in stubs:\n"
        "                self._replace_stub(index)\n"
        "                self.verdicts[index] = self._try(index)\n",
        ("leaking-late",),
        "read",
    ),
    SourceDefense(
        "sealed-cases",
        "After the first hidden case, nothing is shown in an answer's own words.",
        "autograder/boxed/notebook_run.py",
        "        self.notebook.seals |= self.supply.can_fork and any(c.hidden for c in cases)\n",
        "",
        ("leaking-random",),
        "read",
    ),
    SourceDefense(
        "redaction",
        "What only a student's code can have said about a hidden case is left out.",
        "autograder/judge/redaction.py",
        "        told = [character.isascii() for character in text]\n",
        "        return text\n",
        ("leaking-raised", "leaking-node-names"),
        "read",
    ),
    SourceDefense(
        "own-network",
        "A box has a network of its own, with nobody else in it.",
        "autograder/sandbox/namespaces.py",
        "    own |= syscalls.NEW_PROCESSES | syscalls.NEW_NETWORK\n",
        "    own |= syscalls.NEW_PROCESSES\n",
        ("escaping-loopback",),
        "ran",
    ),
    SourceDefense(
        "clean-environment",
        "A box knows a few variables of the environment, and no others.",
        "autograder/sandbox/client.py",
        "found = {name: os.environ[name] for name in _KEPT if name in os.environ}",
        "found = dict(os.environ)",
        ("prying-environment",),
        "read",
    ),
    SourceDefense(
        "memory-of-all",
        "What all processes of a box have in memory is added up.",
        "autograder/sandbox/init_process.py",
        "        if memory.exceeds(found, bounds.memory) or ",
        "        if ",
        ("draining-memory-of-children",),
        "read",
    ),
    SourceDefense(
        "clean-outputs",
        "What cells displayed is cleaned before a page shows it.",
        "autograder/submission/sanitize/outputs.py",
        "    return [cleaned for output in outputs for cleaned in _clean_output(output, shown)]\n",
        "    return outputs\n",
        ("pages-html", "pages-svg"),
        "ran",
    ),
    SourceDefense(
        "clean-raw-cells",
        "HTML of raw cells is shown as text; nbconvert leaves some of it, with its names.",
        "autograder/submission/sanitize/cells.py",
        'plain, tags = _TAG_BEGINS.subn("&lt;", cell.source)',
        "plain, tags = cell.source, 0",
        ("pages-raw-fields",),
        "ran",
    ),
    SourceDefense(
        "lines-without-control",
        "What is told on a terminal has no characters that steer it.",
        "autograder/environment/visible.py",
        '    return _UNSEEN.sub("\\N{REPLACEMENT CHARACTER}", text)\n',
        "    return text\n",
        ("pages-terminal-id",),
        "ran",
    ),
    SourceDefense(
        "harmless-names",
        "Beside a graded notebook lies nothing that a browser runs.",
        "autograder/classroom/records/gradebook_writer.py",
        "        kept = as_shown(files)",
        "        kept = dict(files)",
        ("files-pages",),
        "ran",
    ),
    SourceDefense(
        "ids-are-text",
        "No submission of an id that is a piece of a page is graded.",
        "autograder/classroom/grading/plan.py",
        "        if why_not := why_unsafe_id(student):\n",
        '        if why_not := "":\n',
        ("pages-id",),
        "ran",
    ),
    SourceDefense(
        "names-are-text",
        "Names in the gradebook are no pieces of a page.",
        "autograder/classroom/records/roster.py",
        "        if write and any(",
        "        if False and any(",
        ("files-name-page",),
        "ran",
    ),
    SourceDefense(
        "no-formulas",
        "No value of an exported table is a formula.",
        "autograder/classroom/records/tables.py",
        '    return f"\'{text}" if is_formula else text\n',
        "    return text\n",
        ("pages-formula",),
        "ran",
    ),
    SourceDefense(
        "forged-points",
        "Points that were raised are tampering, and restored.",
        "autograder/submission/repair_steps.py",
        'Repair(RepairKind.FORGED, f"{whose} had been raised; they are restored.")',
        'Repair(RepairKind.HARMLESS, f"{whose} had been raised; they are restored.")',
        ("notebooks-points",),
        "gained",
    ),
)


def taken_back(defense: SourceDefense, text: str) -> str:
    """A file's text without a defense.

    Raises:
        ValueError: the text that implements it does not occur exactly once.
    """
    if text.count(defense.old) != 1:
        raise ValueError(
            f"{defense.name}: {defense.file} has its text {text.count(defense.old)} times"
        )
    return text.replace(defense.old, defense.new)


def counted_without(defense: SourceDefense) -> dict[str, int]:
    """The successes of the defense's attacks in a copy of the project without it, by column."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for part in PARTS:
            shutil.copytree(ROOT / part, Path(folder, part), ignore=_NOT_COPIED)
        for name in ("pyproject.toml", "environment.yml"):
            shutil.copy(ROOT / name, folder)
        path = Path(folder, defense.file)
        path.write_text(taken_back(defense, path.read_text(encoding="utf-8")), encoding="utf-8")
        names = ",".join(defense.attacks)
        words = [sys.executable, "-m", "tests.security.attacks", "--only", names]
        run = subprocess.run(
            words, cwd=folder, env=os.environ | {"PYTHONPATH": folder},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    line = run.stdout.strip().rpartition("\n")[2]
    return {column: int(number) for column, number in re.findall(r"(\w+) (\d+)(?:,|$)", line)}


def shown(defense: Defense) -> dict[str, tuple[bool, bool]]:
    """For each attack of a defense, whether it succeeds with the defense and without it."""
    attacks = {attack.name: attack for attack in all_attacks()}

    def comes_to_something(name: str, prepare: Callable[[], Any]) -> bool:
        if name == DRAWN:
            return bool(apart(lambda: fuzz(300, 5_000_000).found, prepare))
        return bool(earned(attacks[name], prepare))

    return {
        name: (comes_to_something(name, lambda: None), comes_to_something(name, defense.take_back))
        for name in defense.attacks
    }


def main(names: list[str]) -> int:
    """Remove each defense, or the named ones; return 1 if removing one makes no difference."""
    wrong = 0
    for defense in [defense for defense in DEFENSES if not names or defense.name in names]:
        for name, (before, after) in shown(defense).items():
            good = after and not before
            wrong += not good
            word = "shown" if good else f"NOT SHOWN (with it {before}, without it {after})"
            print(f"{defense.name}: {name}: {word}", flush=True)
    for edit in [edit for edit in SOURCE_DEFENSES if not names or edit.name in names]:
        counts = counted_without(edit)
        good = counts.get(edit.column, 0) > 0
        wrong += not good
        said = ", ".join(f"{column} {number}" for column, number in counts.items())
        print(f"{edit.name}: {'shown' if good else 'NOT SHOWN'} ({said})", flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
