"""Hidden cases of `OpSwap`."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from autograder.exercises.ch12_passes.OpSwap import models
from autograder.exercises.ch12_passes.OpSwap.cases import CHAIN, case

REDRAWS = (
    case("three calls", "honest", models.ManyWaves, *CHAIN, how=models.Again),
    case("another relu", "task", models.Alike, (F.relu, models.relu)),
    case(
        "ATen operators",
        "task",
        models.AtenWaves,
        ("aten_sin", "aten_cos"),
        ("aten_cos", "aten_exp"),
    ),
    case(
        "a packet of overloads",
        "others",
        models.AtenWaves,
        ("aten_sin_packet", "aten_exp"),
        ("aten_cos_packet", "aten_exp"),
    ),
    case("one around another", "others", models.Guarded, ("squared", torch.exp)),
)
