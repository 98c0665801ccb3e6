"""What random models of several exercises of chapter 04 are made of."""

from __future__ import annotations

import torch

from autograder.fuzz.grammar import COMMON

# Without steps from one value to another: rounding may differ.
SMOOTH = tuple(op for op in COMMON if "torch.where" not in op.text)
ONE_DTYPE = (torch.float64,)
