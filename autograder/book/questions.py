"""Questions that people ask about FX, read from ``tests/questions``; the tests run their code."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.builder.paths import ROOT

FOLDER = ROOT / "tests" / "questions"
_ISSUE = re.compile(r"(\w+)(?: PR)?#(\d+)$")
_REPOSITORIES = {
    "pytorch": "pytorch/pytorch",
    "vision": "pytorch/vision",
    "executorch": "pytorch/executorch",
    "transformers": "huggingface/transformers",
}
"""Repositories of the issues in which people asked, by short name."""


@dataclass(frozen=True)
class Question:
    """A question with the code that shows symptom and cure.

    Attributes:
        number: its number in the collection.
        asked: the issue or page on which people asked it.
        text: the question, in a line of markdown.
        chapter: the notebook that answers it.
        section: the heading of the answer, without number and minutes.
        code: the code that the tests run.
        errors: the exceptions that it shows, each as type and words of the message.
        until: the first version of PyTorch without the symptom; ``""`` if there is none.
    """

    number: int
    asked: str
    text: str
    chapter: str
    section: str
    code: str
    errors: tuple[tuple[str, str], ...]
    until: str = ""

    @property
    def source(self) -> str:
        """The source in markdown: the first issue of a known repository is a link."""
        found = _ISSUE.match(self.asked.partition(",")[0])
        if not found or found[1] not in _REPOSITORIES:
            return self.asked
        return f"[{self.asked}](https://github.com/{_REPOSITORIES[found[1]]}/issues/{found[2]})"


def questions(folder: Path = FOLDER) -> list[Question]:
    """All questions, by number."""
    found = [each for path in sorted(folder.glob("[a-z]*.py")) for each in _read(path)]
    return sorted(found, key=lambda each: each.number)


def _read(path: Path) -> Iterator[Question]:
    text = path.read_text(encoding="utf-8")
    body = ast.parse(text).body
    for part in body:
        mark = _mark(part)
        if mark is None:
            continue
        assert isinstance(part, ast.FunctionDef)
        number, asked, place = (ast.literal_eval(argument) for argument in mark.args)
        until = "".join(ast.literal_eval(each.value) for each in mark.keywords)
        chapter, _, section = place.partition(": ")
        asks = (ast.get_docstring(part) or "").partition("\n")[0]
        errors = tuple(_errors(part))
        code = _code(part, body, text)
        yield Question(number, asked, asks, chapter, section, code, errors, until)


def _mark(part: ast.stmt) -> ast.Call | None:
    """The call of ``question`` that marks a function."""
    for mark in getattr(part, "decorator_list", ()):
        if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "question":
            return mark
    return None


def _code(part: ast.FunctionDef, body: list[ast.stmt], text: str) -> str:
    """The lines of a question below its docstring, after the imports and helpers that they use."""
    lines = text.split("\n")
    inner = part.body[1:]
    own = textwrap.dedent("\n".join(lines[inner[0].lineno - 1 : part.end_lineno]))
    kept: list[ast.stmt] = []
    waiting: list[ast.AST] = list(inner)
    while waiting:
        used = {node.id for node in ast.walk(waiting.pop()) if isinstance(node, ast.Name)}
        for one in body:
            if one is not part and one not in kept and _mark(one) is None and _defines(one) & used:
                kept.append(one)
                waiting.append(one)
    imports = [one for one in kept if isinstance(one, ast.Import | ast.ImportFrom)]
    imports.sort(key=lambda one: one.lineno)
    helpers = [one for one in body if one in kept and one not in imports]
    head = "\n".join(ast.unparse(one) for one in imports)
    parts = [head, *(ast.get_source_segment(text, one) or "" for one in helpers), own]
    return "\n\n".join(filter(None, parts)).strip("\n")


def _defines(part: ast.stmt) -> set[str]:
    if isinstance(part, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in part.names}
    if isinstance(part, ast.FunctionDef | ast.ClassDef):
        return {part.name}
    targets = part.targets if isinstance(part, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _errors(part: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """The exceptions that the code expects, with the words of the message if it names them."""
    for call in ast.walk(part):
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != "pytest.raises":
            continue
        words = [keyword.value for keyword in call.keywords if keyword.arg == "match"]
        name = ast.unparse(call.args[0]).rpartition(".")[2]
        yield name, str(ast.literal_eval(words[0])) if words else ""
