"""The exercises of the course, one module a chapter.

A chapter is imported when one of its exercises is first asked for. Each trace of `torch.fx`
takes time for every class of modules there is, and the models of the cases are hundreds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from autograder.core.exercise import Exercise

CHAPTERS = {
    "start": "node_names",
    "tracing": "node_table is_faithful sign_flip specialize",
    "nodes": "count_ops inputs_of build_by_hand dead_nodes wellformed",
    "manipulation": "retarget add_to_mul relu_after_add relu_to_gelu remove_dropout probe_values "
    "sound_dce",
    "replace_pattern": "count_matches to_hardswish replace_until_done fuse_addcmul "
    "fuse_linear_relu",
    "proxy": "build_with_proxies decompose decomposition_rules inline derivative",
    "interpreter": "NegSigmSwap record_shapes OpTimer count_flops first_nonfinite AddToMul",
    "features": "backbone_c4_c5 node_paths extract split_at",
}
"""The module of each chapter, and the names of its exercises, in the order of the course."""


class _Exercises(Mapping[str, Exercise]):
    """The exercises by name, in the order of the course."""

    def __init__(self) -> None:
        self._homes = {name: home for home, names in CHAPTERS.items() for name in names.split()}

    def __getitem__(self, name: str) -> Exercise:
        return next(e for e in exercises_in(self._homes[name]) if e.name == name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __contains__(self, name: object) -> bool:
        return name in self._homes  # without importing the chapter

    def __len__(self) -> int:
        return len(self._homes)


EXERCISES: Mapping[str, Exercise] = _Exercises()


def exercises_in(home: str) -> tuple[Exercise, ...]:
    """The exercises of one of this package's modules, in order."""
    return import_module(f"{__name__}.{home}").EXERCISES


def of_chapter(chapter: str) -> tuple[Exercise, ...]:
    """The exercises of the chapter with that stem, such as ``03_manipulation``, in order."""
    home = chapter.partition("_")[2]
    return exercises_in(home) if home in CHAPTERS else ()
