"""Hidden cases of `sign_flip`."""

from __future__ import annotations

import torch

from autograder.exercises.ch01_tracing.sign_flip.cases import F64, tensors_case

REDRAWS = (
    tensors_case("both signs", "task", ([[[5.0, -9.0]]], F64), ([[[-5.0, 9.0]]], F64)),
    tensors_case("no dimension", "shapes", (7, torch.int16), (-7, torch.int8)),
)
