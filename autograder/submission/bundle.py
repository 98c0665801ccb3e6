"""A bundle: one file with all that is needed to grade a chapter without its classroom.

It is JSON. It contains a key that was derived from the class's secret for this chapter alone.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from autograder.core.exercise_folder import REDRAWS
from autograder.sandbox.resource_limits import Bounds
from autograder.submission.contract import GradingConfig, PreloadSpec, Submission, Timeouts
from autograder.submission.seeds import pool_of, seed_key
from autograder.submission.source_cells import ReleasedCell, SourceCell, without_hidden

VERSION = 1
"""The version of the format."""

_KIND = "fxcourse-bundle"
_CONFIG = ("chapter", "proof", "max_lines", "max_traceback")
_PRELOAD = ("syllabus", "imports", "released_text")


class InvalidBundle(ValueError):
    """A file is not a bundle that this version can read; the message says why."""


@dataclass(frozen=True)
class Bundle:
    """The data for grading a chapter without its classroom.

    Attributes:
        config: the configuration of grading.
        key: the secret of this bundle; see `seeds.bundle_key`.
        files: the course's files next to the notebook, by path.
        versions: the versions with which the class grades, by name.
    """

    config: GradingConfig
    key: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def chapter(self) -> str:
        """The chapter."""
        return self.config.chapter

    def submission(self, student: str, text: bytes | None, **more: Any) -> Submission:
        """A student's submission, with the random models of this bundle."""
        key, pool = seed_key(self.key, student), pool_of(self.key, self.chapter)
        return Submission(student, text, key=key, pool=pool, **more)

    def for_students(self) -> Bundle:
        """The same without hidden tests, and without hidden cases of the instructor's exercises."""
        config = self.config
        cells = {
            name: replace(cell, source=without_hidden(cell.source))
            for name, cell in config.source_cells.items()
        }
        own = tuple(row for row in config.preload.own if row[0].rpartition("/")[2] != REDRAWS)
        preload = replace(config.preload, own=own)
        return replace(self, config=replace(config, source_cells=cells, preload=preload))

    def to_json(self) -> str:
        """The text of the bundle's file."""
        config = self.config
        preload = asdict(config.preload)
        data = {"kind": _KIND, "version": VERSION}
        data |= {name: getattr(config, name) for name in _CONFIG}
        data |= {name: preload[name] for name in (*_PRELOAD, "own", "bounds")}
        data |= {
            "key": self.key,
            "versions": dict(self.versions),
            "timeouts": asdict(config.timeouts),
            "cells": [asdict(cell) for cell in config.source_cells.values()],
            "files": {name: base64.b64encode(data).decode() for name, data in self.files.items()},
        }
        return json.dumps(data, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Bundle:
        """Parse the result of `to_json`.

        Raises:
            InvalidBundle: the text is something else, or of another version.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            raise InvalidBundle(f"It is not JSON, or its end is missing: {error}.") from None
        if not isinstance(data, dict) or data.get("kind") != _KIND:
            raise InvalidBundle("It was not made by fxcourse classroom bundle.")
        if data.get("version") != VERSION:
            raise InvalidBundle(
                f"It has version {data.get('version')} of the format, and only {VERSION} can be "
                "read here. Install the version of the course that made it, or make it again."
            )
        try:
            return cls(
                _config_of(data),
                str(data["key"]),
                {n: base64.b64decode(text, validate=True) for n, text in data["files"].items()},
                {str(name): str(number) for name, number in data["versions"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidBundle(f"A part of it is missing or wrong: {error}.") from None


def _config_of(data: Mapping[str, Any]) -> GradingConfig:
    cells = [_cell_of(row) for row in data["cells"]]
    preload = PreloadSpec(
        data["chapter"], data["syllabus"], tuple(data["imports"]), bounds=Bounds(**data["bounds"]),
        own=tuple((path, text) for path, text in data["own"]), released_text=data["released_text"],
    )  # fmt: skip
    return GradingConfig(
        data["chapter"], {cell.name: cell for cell in cells}, preload,
        Timeouts(**data["timeouts"]), proof=data["proof"], max_lines=data["max_lines"],
        max_traceback=data["max_traceback"],
    )  # fmt: skip


def _cell_of(row: Mapping[str, Any]) -> SourceCell:
    given = tuple(ReleasedCell(**one) for one in row["given"])
    return SourceCell(**{**row, "given": given})
