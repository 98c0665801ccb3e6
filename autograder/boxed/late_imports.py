"""Modules that PyTorch imports only when something is called for the first time.

Every forked process would import them again, or could not, since a box has no files of theirs.
"""

from __future__ import annotations

import contextlib
import importlib

import torch

LATE = (
    "functorch.dim._getsetitem", "torch._dynamo", "torch._refs",
    "torch._subclasses.schema_check_mode", "torch.distributed.tensor",
    "torch.fx.experimental.symbolic_shapes", "torch.masked",
)  # fmt: skip
"""`torch._dynamo` comes with the message about an error in generated code,
`torch.distributed.tensor` with the first `torch.testing.assert_close`, the others with operations.
"""


def import_late() -> None:
    """Import them now, as far as this build of PyTorch has them."""
    for name in LATE:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    torch.overrides.is_tensor_method_or_property(torch.Tensor.add)  # makes its table of names
