"""The table of private names has all that `core.torch_private` uses."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from autograder.core import torch_private
from autograder.version_watch import private_names
from autograder.version_watch.private_names import NAMES, problem_with


def test_the_table_has_every_private_name() -> None:
    tree = ast.parse(Path(str(torch_private.__file__)).read_text(encoding="utf-8"))
    used = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            used |= {*(node.module or "").split("."), *(alias.name for alias in node.names)}
    private = {name for name in used if re.match("_[^_]", name)}
    assert private - set(re.findall(r"\b_\w+", " ".join(NAMES))) == set()


def test_each_is_there_today() -> None:
    assert {name: problem_with(name) for name in NAMES if problem_with(name)} == {}


def test_a_name_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "_went" in problem_with("torch.fx.node._went")
    monkeypatch.setattr(private_names, "MODULES", ("torch", "torch._went"))
    assert "_went" in problem_with("torch._went.Mode")
