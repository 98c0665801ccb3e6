"""Exercise 7.1: torchvision's extractor on any ResNet."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torchvision.models.feature_extraction import DualGraphModule

from autograder.core.exercise import Aspect, Case, Exercise, Trial
from autograder.models import T, resnets
from autograder.models import networks as networks
from autograder.models.build import arguments
from autograder.rubric.backbone import BACKBONE, MADE_BY, returns_module
from autograder.rules.passes import caller_untouched

IMAGE, PAIR, WIDE = T(1, 3, 32, 32), T(2, 3, 40, 40), T(1, 3, 32, 64)

HINTS = (
    """**Where to look.** Section 7.2 makes an extractor for one network,
and names three places in it. What is different here: the network may have any number of
blocks in a stage, of either kind.
Which names do all these networks share?""",
    """**What to use.** `create_feature_extractor(model, {node: key})`.
A name need not be that of a node: the name of a module stands for the last node inside.
Mind that the module you get shares its layers with the model: switch no mode.""",
    """**A skeleton.**

```python
wanted = {...: "C4", ...: "C5"}
return create_feature_extractor(...)
```""",
)


def resnet_case(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *inputs: T,
    training: bool = False,
    hidden: bool = False,
) -> Case:
    """A case with a ResNet, all in one mode, that keeps its own weights."""

    def trial(seed: int) -> Trial:
        model = networks.real(make, seed, torch.float64).train(training)
        generator = torch.Generator().manual_seed(seed + 1)
        given = tuple(arguments((spec,), generator, torch.float64) for spec in inputs)
        use = ((DualGraphModule, MADE_BY, "anywhere"),)
        return Trial(args=(model,), model=model, inputs=given, forbidden=use)

    return Case(name, aspect, trial, hidden)


BACKBONE_C4_C5 = Exercise(
    name="backbone_c4_c5",
    chapter="07_features",
    title="C4 and C5 of any ResNet",
    stars=1,
    minutes=5,
    points=2,
    procedure="any module",
    aspects=(
        Aspect("task", 2, "the outputs of layer3 and layer4, under the keys C4 and C5"),
        Aspect("depth", 2, "whatever the number of blocks, and their kind"),
        Aspect("mode", 1, "in the mode of the model, which stays as it was"),
        Aspect("kinds", 1, "ResNets of every make"),
    ),
    cases=(
        resnet_case("one block in each stage", "task", resnets.OneBlockEach, IMAGE),
        resnet_case("many blocks", "depth", resnets.ManyBlocks, IMAGE),
        resnet_case("bottlenecks", "depth", resnets.Bottlenecks, IMAGE),
        resnet_case("in training mode", "mode", resnets.OneBlockEach, PAIR, training=True),
        resnet_case("groups and dilation", "kinds", resnets.Grouped, IMAGE),
        resnet_case("another normalization", "kinds", resnets.Headless, IMAGE),
        resnet_case("redraw: one block", "task", resnets.OneBlockEach, WIDE, hidden=True),
        resnet_case("redraw: blocks", "depth", resnets.ManyBlocks, WIDE, hidden=True),
        resnet_case("redraw: training mode", "mode", resnets.Bottlenecks, PAIR, training=True,
                    hidden=True),
        resnet_case("redraw: kinds", "kinds", resnets.Grouped, WIDE, hidden=True),
    ),
    rubric=(
        returns_module.because("names the kind that came back, before it is run"),
        caller_untouched,
        *BACKBONE[1:],
    ),
    hints=HINTS,
    not_random="it is about torchvision's ResNets, whose stages have fixed names",
)  # fmt: skip
