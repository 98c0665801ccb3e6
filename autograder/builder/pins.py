"""The pins of ``pyproject.toml``, and ``environment.yml``, which is generated from them."""

from __future__ import annotations

import tomllib
from pathlib import Path

from autograder.builder.paths import ROOT

PYPROJECT = ROOT / "pyproject.toml"

_ENVIRONMENT = """\
# For conda, mamba and Binder. Generated from pyproject.toml by `fxcourse build`.
name: fxcourse
channels:
  - conda-forge
dependencies:
  - python{python}
  - pip
  - pip:
{pins}
      - -e .
"""


def environment_yml(pyproject: Path = PYPROJECT) -> str:
    """The text of ``environment.yml`` for this ``pyproject.toml``."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    pins = "\n".join(f"      - {pin}" for pin in project["dependencies"])
    return _ENVIRONMENT.format(python=project["requires-python"], pins=pins)
