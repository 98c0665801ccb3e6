"""Hidden cases of `OpSwap`."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from autograder.exercises.ch12_passes.OpSwap import models
from autograder.exercises.ch12_passes.OpSwap.cases import CHAIN, SIN_COS, case

REDRAWS = (
    case("one entry", "task", models.ManyWaves, (torch.cos, torch.abs)),
    case("exchanged", "at once", models.ManyWaves, *SIN_COS[::-1]),
    case("three calls", "honest", models.ManyWaves, *CHAIN, how=models.Again),
    case("the same again", "honest", models.ManyWaves, (torch.cos, torch.cos)),
    case("another relu", "task", models.Alike, (F.relu, models.relu)),
    case("names", "others", models.Alike, (torch.relu, torch.exp)),
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
