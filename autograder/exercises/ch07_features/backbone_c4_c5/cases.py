"""Exercise 7.1: torchvision's extractor on any ResNet."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from autograder.authoring.question import Aspect, Case, Exercise, T
from autograder.exercises.ch07_features.backbone_c4_c5 import models
from autograder.models import resnets

IMAGE, PAIR, WIDE = T(1, 3, 32, 32), T(2, 3, 40, 40), T(1, 3, 32, 64)

HINTS = (
    """**Where to look.** Section 7.2 makes an extractor for one network,
and names three places in it. What is different here: the network may have any number of
blocks in a stage, of either kind.
Which names do all these networks share?""",
    """**What to use.** `create_feature_extractor(model, {node: key})`.
A name may also be that of a module, and then it means the last node inside.
The module you get shares its layers with the model, so do not switch its mode.""",
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
) -> Case:
    """A case with a ResNet with its own weights, in one mode."""
    return Case(name, aspect, models.ResNetTrial(make, inputs, training))


EXERCISE = Exercise(
    number=1,
    title="C4 and C5 of any ResNet",
    stars=1,
    minutes=5,
    points=2,
    kind="module_factory",
    aspects=(
        Aspect("task", 2, "the outputs of layer3 and layer4, under the keys C4 and C5"),
        Aspect("depth", 2, "whatever the number of blocks, and their kind"),
        Aspect("mode", 1, "in the mode of the model, which stays as it was"),
        Aspect("kinds", 1, "ResNets of every make"),
    ),
    cases=(
        resnet_case("one block in each stage", "task", resnets.one_block_each, IMAGE),
        resnet_case("many blocks", "depth", resnets.many_blocks, IMAGE),
        resnet_case("in training mode", "mode", resnets.one_block_each, PAIR, training=True),
        resnet_case("groups and dilation", "kinds", resnets.grouped, IMAGE),
    ),
    hints=HINTS,
    not_random="it is about torchvision's ResNets, whose stages have fixed names",
)
