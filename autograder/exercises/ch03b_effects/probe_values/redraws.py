"""Hidden cases of `probe_values`."""

from __future__ import annotations

from autograder.authoring.question import T
from autograder.exercises.ch03b_effects.probe_values import models
from autograder.exercises.ch03b_effects.probe_values.cases import Stops, X, probe_case

REDRAWS = (
    probe_case("calls", "task", models.SinTwice, (T(4),)),
    probe_case(
        "a method that is built in", "probes", models.SinSum, (X,), probe=models.built_in_probe
    ),
    probe_case(
        "a probe that raises",
        "probes",
        models.Pieces,
        (X,),
        probe=models.refusing_probe,
        expect=Stops(probe_raises="Refusal"),
    ),
    probe_case("the name of a node", "rest", models.Names, (X, X), probe=models.namesake_probe),
    probe_case("without a hash", "probes", models.SinSum, (X,), probe=models.Notes),
)
