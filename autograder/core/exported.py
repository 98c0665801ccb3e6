"""Recognizes programs of `torch.export` without importing it, which takes as long as PyTorch."""

from __future__ import annotations

import sys
from typing import Any


def is_exported(value: Any) -> bool:
    """Whether this is an `ExportedProgram`."""
    module = sys.modules.get("torch.export.exported_program")
    return module is not None and isinstance(value, module.ExportedProgram)
