"""Writes a counterexample as a Python file that tests the pass on it again."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

from autograder.hunt.behaviour import EVERYTHING
from autograder.hunt.card import sentence
from autograder.hunt.search import Counterexample
from autograder.hunt.trying import Question, Subject
from autograder.judge.repro_code import pasteable, piece_of

_FILE = '''"""A model on which {words} is wrong: {says}

Found by `fxcourse hunt`. Run it with pytest, or with Python: it fails until the pass is right.
"""

{imports}


{source}


def test_counterexample() -> None:
    model = randomize_(Model().to({dtype}), 0).train({training})
    inputs = [
{inputs}
    ]
    demand({name}, model, inputs{more})


if __name__ == "__main__":
    test_counterexample()
'''

_NEEDED = (
    "import torch",
    "from autograder.hunt.replay import demand",
    "from autograder.models.build import randomize_",
)
_FOR_PATHS = ("import sys", "from pathlib import Path")


def file_of(
    found: Counterexample,
    question: Question,
    path: Path,
    words: str,
    oracle: str = "",
    aspects: Sequence[str] = EVERYTHING,
) -> str:
    """A Python file that tests the pass on the counterexample again.

    Args:
        found: the counterexample.
        question: the pass, and how it is tested.
        path: the place of the file. It finds the pass from there, so both can move together.
        words: the name of the pass on the command line, such as ``my_passes:fold``.
        oracle: the name of the oracle, if there is one.
        aspects: the aspects in which the two must not differ.
    """
    subject = found.model.subject(question)
    imports, source = _split(pasteable([piece_of(subject.model)]))
    line, name = _imported(words, "the_pass")
    own, more = [line], [f", given={question.given!r}"] if question.given != "trace" else []
    if oracle:
        line, its = _imported(oracle, "the_oracle")
        own, more = sorted([*own, line]), [*more, f", oracle={its}"]
    if tuple(aspects) != EVERYTHING:
        more.append(f", aspects={json.dumps(list(aspects))}")
    added = _paths([words, *([oracle] if oracle else [])], path)
    blocks = [*_sorted([*imports, *_NEEDED, *(_FOR_PATHS if added else ())]), added, own]
    return _FILE.format(
        words=words,
        says=sentence(found.failure.says),
        imports="\n\n".join("\n".join(block) for block in blocks if block),
        source=source,
        dtype=_dtype(subject),
        training=subject.model.training,
        inputs="\n".join(f"        {_literal(args)}," for args in subject.inputs),
        name=name,
        more="".join(more),
    )


def _split(source: str) -> tuple[list[str], str]:
    """The imports of a text, and the text without them."""
    lines, imports = source.splitlines(), []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(ast.unparse(node))
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                lines[number - 1] = ""
    return imports, "\n".join(lines).strip()


def _sorted(imports: Iterable[str]) -> list[list[str]]:
    """Import lines in two blocks, standard library and the rest, in ruff's order."""
    lines = sorted(set(imports), key=lambda line: (not line.startswith("import "), line))
    standard = [line for line in lines if line.split()[1].split(".")[0] in sys.stdlib_module_names]
    return [standard, [line for line in lines if line not in standard]]


def _paths(every: list[str], path: Path) -> list[str]:
    """The lines that let a file import the passes, which may not be installed."""
    folders = {_seen_from(path, folder) for folder in map(_folder_of, every) if folder}
    return [f"sys.path.insert(0, str(Path(__file__).parent{below}))" for below in sorted(folders)]


def _seen_from(path: Path, folder: Path) -> str:
    """The code of the path from a file's folder to another folder; ``""`` for the same folder."""
    try:
        way = Path(os.path.relpath(folder, path.resolve().parent)).as_posix()
    except ValueError:  # another drive, on Windows: an absolute path replaces the part before it
        way = folder.as_posix()
    return "" if way == os.curdir else f" / {json.dumps(way)}"


def _folder_of(words: str) -> Path | None:
    """The folder from which a function is imported; ``None`` for an installed package."""
    place = words.rpartition(":")[0]
    if place.endswith(".py"):
        return Path(place).resolve().parent
    spec = importlib.util.find_spec(place.partition(".")[0])
    if spec is None:
        return None
    found = [
        *(spec.submodule_search_locations or ()),
        *([spec.origin] if spec.has_location else []),
    ]
    here = Path.cwd().resolve()
    return here if here in [Path(str(each)).resolve().parent for each in found] else None


def _imported(words: str, own: str) -> tuple[str, str]:
    """The import line for ``MODULE:NAME``, and the name by which the file then calls it."""
    place, _, name = words.rpartition(":")
    module = Path(place).stem if place.endswith(".py") else place
    first, *rest = name.split(".")
    return f"from {module} import {first} as {own}", ".".join([own, *rest])


def _dtype(subject: Subject) -> str:
    values = [*subject.model.parameters(), *subject.model.buffers()]
    floats = {value.dtype for value in values if value.is_floating_point()}
    given = {arg.dtype for args in subject.inputs for arg in args if isinstance(arg, torch.Tensor)}
    return str(next(iter(floats or given or {torch.float64})))


def _literal(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"torch.tensor({value.tolist()!r}, dtype={value.dtype})"
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k!r}: {_literal(v)}' for k, v in value.items())}}}"
    return repr(value)
