"""Counterexamples that are known: saved as tests, or listed in a baseline."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.hunt.loading import CannotLoad
from autograder.hunt.saved_test import PREFIX
from autograder.hunt.search import FINGERPRINT_DIGITS
from autograder.hunt.standalone import limited
from autograder.hunt.trying import LONGEST, first_line, quiet

_FINGERPRINT = re.compile(rf"[0-9a-f]{{{FINGERPRINT_DIGITS}}}")


@dataclass(frozen=True)
class SavedTest:
    """A file that `saved_test` wrote.

    Attributes:
        path: the file.
        failure: the message with which it fails; ``""`` if it passes.
    """

    path: Path
    failure: str

    @property
    def fingerprint(self) -> str:
        """The fingerprint of its counterexample."""
        return self.path.stem.removeprefix(PREFIX)


def write(path: Path, text: str) -> None:
    """Write a file, and its folder if it is missing. A stopped command leaves no half of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    building = path.with_name(f".{path.name}.new")
    building.write_text(text, encoding="utf-8")
    os.replace(building, path)


def run_saved(folder: Path, words: str) -> Iterator[SavedTest]:
    """Run the saved counterexamples of a pass, in the order of their names.

    Args:
        folder: the folder with the files.
        words: the name of the pass.

    Raises:
        CannotLoad: a file cannot be read.
    """
    for path in sorted(folder.glob(f"{PREFIX}*.py")):
        if _pass_of(path) == words:
            yield SavedTest(path, _failure_of(path))


def _pass_of(path: Path) -> str | None:
    """The name of the pass that a saved file tests; the file is not run."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError) as error:
        raise CannotLoad(
            f"The saved counterexample '{path}' cannot be read: {first_line(error)}. Delete it, "
            "or restore it."
        ) from None
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PASS":
            return str(ast.literal_eval(node.value))
    return None


def _failure_of(path: Path) -> str:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        with quiet(), limited(5 * LONGEST):
            spec.loader.exec_module(module)
            module.test_counterexample()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a pass may end the process, or take too long
        says = first_line(error)
        return f"{type(error).__name__}: {says}" if says else type(error).__name__
    return ""


def read_baseline(path: Path) -> frozenset[str]:
    """The fingerprints in a file: one a line; ``#`` begins a comment.

    Raises:
        CannotLoad: the file cannot be read, or a line is not a fingerprint.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise CannotLoad(f"The baseline '{path}' cannot be read: {why}.") from None
    found = set()
    for number, line in enumerate(lines, 1):
        word = line.partition("#")[0].strip()
        if word and not _FINGERPRINT.fullmatch(word):
            raise CannotLoad(
                f"'{path}', line {number}: {word!r} is not a fingerprint. Write those that "
                "fxcourse hunt prints, one a line."
            )
        found |= {word} - {""}
    return frozenset(found)
