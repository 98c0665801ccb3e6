"""Published networks with random weights, on which the solutions are also tested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from autograder.alive import images, make_alive
from autograder.core.exercise import Trial


@dataclass(frozen=True)
class Network:
    """A network of torchvision or timm.

    Attributes:
        package: ``"torchvision"`` or ``"timm"``.
        name: the package's name for it.
        size: the height and width of its input, in pixels.
    """

    package: str
    name: str
    size: int = 32

    def __str__(self) -> str:
        return f"{self.package}-{self.name}"

    def build(self) -> nn.Module:
        """Build it in float64 and eval mode, with weights for which each layer matters."""
        torch.manual_seed(0)
        return make_alive(self._made().double(), images(2, self.size).double())

    def _made(self) -> nn.Module:
        if self.package == "timm":
            import timm

            return timm.create_model(self.name)
        import torchvision

        more: dict[str, object] = {}
        if self.name in ("googlenet", "inception_v3"):
            more = {"init_weights": False, "aux_logits": False}
        if self.name.startswith("vit_"):
            more = {"image_size": self.size}
        return getattr(torchvision.models, self.name)(**more)


@dataclass(frozen=True, eq=False)
class Real:
    """Builds a trial with a network, as `fuzz.model_builder` does with a random model.

    Attributes:
        network: the network.
        complete: adds to the trial the objects that the exercise needs besides a model.
    """

    network: Network
    complete: Callable[[Trial, int], Trial]

    def __call__(self, seed: int) -> Trial:
        """A fresh trial."""
        model = self.network.build()
        generator = torch.Generator().manual_seed(seed + 1)
        size = self.network.size
        image = torch.randn(2, 3, size, size, generator=generator, dtype=torch.float64)
        return self.complete(Trial(args=(model,), model=model, inputs=((image,),)), seed)


NETWORKS = (
    *(
        Network("torchvision", name)
        for name in (
            "densenet121", "efficientnet_b0", "efficientnet_b1", "efficientnet_v2_s", "googlenet",
            "mnasnet0_5", "mnasnet1_0", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small",
            "regnet_x_400mf", "regnet_y_400mf", "regnet_y_800mf", "resnet18", "resnet34",
            "resnet50", "resnext50_32x4d", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0",
            "squeezenet1_0", "squeezenet1_1", "convnext_tiny", "swin_t", "swin_v2_t", "vit_b_16",
        )
    ),
    Network("torchvision", "alexnet", 64),
    Network("torchvision", "inception_v3", 96),
    *(
        Network("timm", name)
        for name in (
            "convnext_atto", "convnextv2_atto", "dla46_c", "edgenext_xx_small",
            "ese_vovnet19b_dw", "fastvit_t8", "ghostnet_100", "hardcorenas_a",
            "hrnet_w18_small", "inception_next_atto", "lcnet_050", "legacy_seresnet18",
            "mambaout_femto", "mobilenetv3_small_050", "mobilenetv4_conv_small",
            "poolformer_s12", "pvt_v2_b0", "regnetx_002", "repghostnet_050", "repvit_m0_9",
            "resnet10t", "resnet14t", "resnet18d", "selecsls42", "starnet_s1", "test_byobnet",
            "test_convnext", "test_convnext2", "test_convnext3", "test_efficientnet",
            "test_efficientnet_evos", "test_efficientnet_gn", "test_efficientnet_ln",
            "test_mambaout", "test_nfnet", "test_resnet", "tinynet_e",
        )
    ),
    Network("timm", "test_vit3", 160),
    Network("timm", "mixer_s32_224", 224),
)  # fmt: skip
"""The networks that `fx.symbolic_trace` can trace, and whose trace it can trace again."""
