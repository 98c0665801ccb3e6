"""Each mend, how it is taken back, and the attacks that get points then: shown for each.

``python -m tests.attacks.mends`` takes them back one after the other, each in a process of its
own, and says what came of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from torch import nn

from autograder.core import graph_program
from tests.attacks import all_attacks
from tests.attacks._judged import apart, earned
from tests.attacks.graph_fuzz import fuzz

DRAWN = "graphs that are drawn"
"""Stands among the attacks where drawn graphs show what points do not: others refuse them, too."""


@dataclass(frozen=True)
class Mend:
    """Something that keeps attacks from getting points.

    Attributes:
        name: a slug.
        says: what it is, in one sentence.
        take_back: undoes it, in this process, for good.
        attacks: the names of attacks that get points without it, and none with it.
    """

    name: str
    says: str
    take_back: Callable[[], None]
    attacks: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


class Walking(dict[str, Any]):
    """Whatever a path leads to, along the attributes of Python objects."""

    def __init__(self, root: nn.Module) -> None:
        self.root = root

    def __contains__(self, path: object) -> bool:
        return True

    def __getitem__(self, path: str) -> Any:
        return reduce(getattr, path.split("."), self.root)


def let_paths_walk() -> None:
    """Let `get_attr` and `call_module` lead along attributes."""
    real = graph_program._modules

    def walking(*args: Any) -> tuple[nn.Module, Any]:
        root, _ = real(*args)
        return root, Walking(root)

    graph_program._modules = walking
    graph_program._tensors_in = lambda modules: Walking(modules.root)


def let_functions_be_arguments() -> None:
    """Let functions stand among the arguments of a row."""
    graph_program._Reads._decode_function = graph_program._Static._decode_function


def let_any_method_be_called() -> None:
    """Let any method of any value be called."""
    graph_program._ALL_METHODS = Everything()
    graph_program._method = lambda name, owner: getattr(owner, name)


def let_any_attribute_be_asked_for() -> None:
    """Let `getattr` be asked for whatever a value has."""
    graph_program._ALL_ATTRIBUTES = Everything()
    graph_program._attribute = getattr


class Everything:
    """A list on which everything is."""

    def __contains__(self, name: object) -> bool:
        return True


MENDS = (
    Mend(
        "declared-paths",
        "Paths lead to the modules and tensors that a description declares, and nowhere else.",
        let_paths_walk,
        (DRAWN,),
    ),
    Mend(
        "no-functions-as-values",
        "Only types of numbers stand as functions among the arguments of a row.",
        let_functions_be_arguments,
        ("rebuilding-max-key", "rebuilding-min-key"),
    ),
    Mend(
        "listed-methods",
        "Methods are those of a list, for each kind of value.",
        let_any_method_be_called,
        ("rebuilding-format",),
    ),
    Mend(
        "listed-attributes",
        "`getattr` is asked for attributes of a list, for each kind of value.",
        let_any_attribute_be_asked_for,
        ("rebuilding-getattr-frame",),
    ),
)


def shown(mend: Mend) -> dict[str, tuple[bool, bool]]:
    """For each of a mend's attacks, whether it comes to something with the mend, and without."""
    attacks = {attack.name: attack for attack in all_attacks()}

    def comes_to_something(name: str, prepare: Callable[[], Any]) -> bool:
        if name == DRAWN:
            return bool(apart(lambda: fuzz(300, 5_000_000).found, prepare))
        return bool(earned(attacks[name], prepare))

    return {
        name: (comes_to_something(name, lambda: None), comes_to_something(name, mend.take_back))
        for name in mend.attacks
    }


def main() -> int:
    """Take each mend back; 1 if it makes no difference."""
    wrong = 0
    for mend in MENDS:
        for name, (before, after) in shown(mend).items():
            good = after and not before
            wrong += not good
            word = "shown" if good else f"NOT SHOWN (with it {before}, without it {after})"
            print(f"{mend.name}: {name}: {word}", flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
