"""Writes a counterexample as a Python file that tests the pass on it again.

The file needs PyTorch, the pass and its oracle: nothing of the course, and no network.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

from autograder.hunt import standalone
from autograder.hunt.behaviour import (
    ARGUMENT_GRADIENTS,
    ARGUMENTS,
    MODES,
    PARAMETER_GRADIENTS,
    STATE,
    STEP_GRADIENTS,
)
from autograder.hunt.card import sentence
from autograder.hunt.search import Counterexample
from autograder.hunt.trying import ENDLESS, Given, Question, Subject
from autograder.judge.repro_code import pasteable, piece_of

PREFIX = "test_hunted_"
"""The first part of the name of each file; the second is the fingerprint."""

_FILE = '''"""A counterexample: a model on which the pass below is wrong. `fxcourse hunt` found it.

Run it with pytest, or with Python. It fails until the pass is right. It needs PyTorch and the pass.
"""

{comment}

{imports}

PASS = {words}


{model}


def make_model() -> nn.Module:
    return randomized(Model().to({dtype})).train({training})


INPUTS: list[tuple[Any, ...]] = [
{inputs}
]


def test_counterexample() -> None:
{body}


# The rest is the same for every model.


{helpers}


if __name__ == "__main__":
    test_counterexample()
'''

_ALWAYS = ("import torch", "from torch import nn", "from typing import Any")
_USED = {
    "copy.": "import copy",
    "fx.": "from torch import fx",
    "make_fx(": "from torch.fx.experimental.proxy_tensor import make_fx",
}
"""Imports that a test needs if its body contains these words."""

_FOR_PATHS = ("import sys", "from pathlib import Path")

_CAPTURES: dict[Given, str] = {
    "model": "make_model()",
    "trace": "fx.symbolic_trace(make_model())",
    "program": "torch.export.export(make_model(), copy.deepcopy(INPUTS[0])).module()",
    "aten": "make_fx(make_model())(*copy.deepcopy(INPUTS[0]))",
    "exported": "torch.export.export(make_model(), copy.deepcopy(INPUTS[0]))",
    "step": "step_graph(make_model(), INPUTS[0])",
}
"""The code that makes the input of the pass."""

_Check = Callable[..., None]

_CHECKS: dict[str, _Check] = {
    ARGUMENTS: standalone.check_arguments,
    STATE: standalone.check_state,
    ARGUMENT_GRADIENTS: standalone.check_gradients,
    PARAMETER_GRADIENTS: standalone.check_gradients,
    MODES: standalone.check_modes,
}
"""The check of an aspect; that of all others is `check_results`."""

_STEP_CHECKS: dict[str, _Check] = {
    ARGUMENTS: standalone.check_step_arguments,
    STATE: standalone.check_step_state,
    STEP_GRADIENTS: standalone.check_step_gradients,
    MODES: standalone.check_modes,
}
"""The check of an aspect of a training step; that of all others is `check_loss`."""


def file_of(
    found: Counterexample, question: Question, path: Path, words: str, oracle: str = ""
) -> str:
    """A Python file that tests the pass on the counterexample again.

    Args:
        found: the counterexample.
        question: the pass, and how it is tested.
        path: the place of the file. It finds the pass from there, so both can move together.
        words: the name of the pass on the command line, such as ``my_passes:fold``.
        oracle: the name of the oracle, if there is one.
    """
    subject = found.model.subject(question)
    own, body, helpers = _test_of(found, subject, question, words, oracle)
    imports, model = _split(pasteable([piece_of(subject.model)]))
    more, functions = _split(pasteable([*map(piece_of, (standalone.randomized, *helpers))]))
    added = _paths([words, *([oracle] if oracle else [])], path)
    used = [line for word, line in _USED.items() if re.search(rf"\b{re.escape(word)}", body)]
    every = [*imports, *more, *_ALWAYS, *used, *(_FOR_PATHS if added else ())]
    blocks = [*_sorted(every), added, own]
    notes = [sentence(found.failure.says), f"Found with PyTorch {torch.__version__}."]
    comment = [line for note in notes for line in textwrap.wrap(note, 97)]
    return _FILE.format(
        comment="\n".join(f"# {line}" for line in comment),
        imports="\n\n".join("\n".join(block) for block in blocks if block),
        words=json.dumps(words),
        model=model,
        helpers=functions,
        dtype=_dtype(subject),
        training=subject.model.training,
        inputs="\n".join(f"    {_literal(args)}," for args in subject.inputs),
        body=textwrap.indent(body, "    "),
    )


def _test_of(
    found: Counterexample, subject: Subject, question: Question, words: str, oracle: str
) -> tuple[list[str], str, list[Callable[..., Any]]]:
    """The imports of pass and oracle, the body of the test, and the functions that it calls."""
    given, aspect = question.given, found.failure.aspect
    line, name = _imported(words, "the_pass")
    own, expected = [line], "make_model()"
    if oracle:
        line, its = _imported(oracle, "the_oracle")
        own, expected = sorted([*own, line]), f"{its}(make_model())"
    is_step, is_program = given == "step", given == "exported"
    check = (_STEP_CHECKS if is_step else _CHECKS).get(
        aspect, standalone.check_loss if is_step else standalone.check_results
    )
    finish = standalone.returned_program if is_program else standalone.returned
    helpers: list[Callable[..., Any]] = [check, finish]
    if is_step:
        helpers += [standalone.step_graph, standalone.step_arguments, standalone.training_step]
        expected = f"training_step({expected})"
    change = [
        f"given = {_CAPTURES[given]}",
        f"changed = {finish.__name__}({name}(given), given){'.module()' * is_program}",
    ]
    if check is standalone.check_modes:
        like = given in ("model", "trace") and oracle
        last = expected if like else _CAPTURES[given] + ".module()" * is_program
        check_line = f"check_modes(changed, {last})"
    else:
        calls = (
            "[(step_arguments(make_model(), INPUTS[0]), {})] * 2" if is_step else _calls(subject)
        )
        change.append(f"calls: Any = {calls}")
        check_line = f"{check.__name__}(changed, {expected}, calls)"
    body = "\n".join([*change, check_line])
    if aspect == ENDLESS:
        helpers.append(standalone.limited)
        body = f"with limited({question.seconds}):\n" + textwrap.indent(body, "    ")
    return own, body, helpers


def _calls(subject: Subject) -> str:
    """The calls, as code: their arguments are those in ``INPUTS``."""
    texts = []
    for call in subject.calls:
        place = next(i for i, args in enumerate(subject.inputs) if args[0] is call.args[0])
        args, kwargs = f"INPUTS[{place}]", ""
        if call.kwargs:
            kwargs = ", ".join(
                f"{json.dumps(name)}: {args}[{i}]" for i, name in enumerate(call.kwargs, 1)
            )
            args = f"{args}[:1]"
        texts.append(f"({args}, {{{kwargs}}})")
    return f"[{', '.join(texts)}]"


def _split(source: str) -> tuple[list[str], str]:
    """The imports of a text, and its other statements with two empty lines between them."""
    lines, imports, others = source.splitlines(), [], []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(ast.unparse(node))
            continue
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        others.append("\n".join(lines[first - 1 : node.end_lineno]))
    return imports, "\n\n\n".join(others)


def _sorted(imports: Iterable[str]) -> list[list[str]]:
    """Import lines in two blocks, standard library and the rest, in ruff's order."""
    names: dict[str, set[str]] = {}
    for line in imports:
        module, _, more = line.partition(" import ")
        names.setdefault(module, set()).update(more.split(", ") if more else ())
    merged = [
        f"{module} import {', '.join(sorted(own))}" if own else module
        for module, own in names.items()
    ]
    lines = sorted(merged, key=lambda line: (not line.startswith("import "), line))
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
