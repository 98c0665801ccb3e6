"""Networks in which each layer matters, and comparisons that can fail."""

from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import fx, nn

from autograder.alive import (
    VacuousComparison,
    assert_same_results,
    difference,
    images,
    layer_effects,
    make_alive,
)


class Small(nn.Module):
    """Convolutions and norms in a row, a constant scale, and a head that `forward` never calls."""

    def __init__(self) -> None:
        super().__init__()
        pairs = [nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU()]
        for _ in range(6):
            pairs += [nn.Conv2d(6, 6, 1), nn.BatchNorm2d(6), nn.ReLU()]
        self.layers = nn.Sequential(*pairs, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.scale = nn.Parameter(torch.full((6,), 1e-6))
        self.fc = nn.Linear(6, 4)
        self.unused = nn.Linear(6, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.layers(x) * self.scale)


class Tokens(nn.Module):
    """An embedding, an attention and a layer norm."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        return self.norm(x + self.attention(x, x, x)[0])


TOKENS = torch.arange(12).reshape(2, 6) % 11
X = torch.linspace(-1.0, 3.0, 12).reshape(3, 4)


# ------------------------------------------------------------------ networks


@pytest.mark.parametrize(
    ("make", "given"), [(Small, images(2, 16)), (Tokens, TOKENS)], ids=["convolutions", "attention"]
)
def test_each_layer_of_a_drawn_network_matters(make: type[nn.Module], given: torch.Tensor) -> None:
    model = make_alive(make(), given)
    effects = dict(layer_effects(model, given))
    drawn = {
        "attention.in_proj_weight",
        "attention.out_proj.weight",
        "fc.weight",
        "layers.0.weight",
    }
    assert drawn & {name for name, _ in model.named_parameters()} <= effects.keys()
    matter = {path: effect for path, effect in effects.items() if path != "unused.weight"}
    assert min(matter.values()) > 0.03, matter


def test_new_weights_are_what_this_is_for() -> None:
    torch.manual_seed(0)
    with pytest.raises(VacuousComparison):
        list(layer_effects(nn.Sequential(nn.Linear(4, 2), nn.Threshold(9.0, 9.0)).eval(), X))
    with pytest.raises(VacuousComparison, match="make_alive"):
        assert_same_results(Small().eval(), Small().eval(), images(2, 16))


def test_a_seed_gives_the_same_network_and_leaves_the_random_state() -> None:
    model = Small()
    state = torch.get_rng_state()
    one, other, third = (make_alive(copy.deepcopy(model), seed=seed) for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), state)
    assert not one.training
    for (name, value), same, new in zip(
        one.state_dict().items(), other.state_dict().values(), third.state_dict().values(),
        strict=True,
    ):  # fmt: skip
        assert torch.equal(value, same), name
        assert not value.is_floating_point() or not torch.equal(value, new), name
    assert not any(module._forward_pre_hooks for module in one.modules())


def test_a_tied_weight_is_drawn_once() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh())
    model[2].weight = model[0].weight
    size = make_alive(model, X)[0](X).std().item()
    assert 0.7 < size < 1.5


def test_pictures_differ_from_each_other() -> None:
    pictures = images(3, 32, seed=1)
    assert pictures.shape == (3, 3, 32, 32)
    assert torch.equal(pictures, images(3, 32, seed=1))
    means = F.adaptive_avg_pool2d(pictures, 4).flatten(1)
    assert (means[0] - means[1]).abs().max() > 0.5


# ------------------------------------------------------------------ comparisons


def test_an_error_is_measured_in_units_of_the_signal() -> None:
    ones = torch.ones(1, 4)
    big = lambda x: x + 1000.0  # noqa: E731 - a result that is mostly a constant
    with pytest.raises(VacuousComparison):
        difference(big, big, ones)
    assert difference(lambda x: x * 1.1, torch.clone, ones, other=(0 * ones,)) == pytest.approx(0.1)
    assert assert_same_results(torch.clone, torch.clone, ones) == 0.0
    with pytest.raises(AssertionError, match=r"differ by 0\.1 of what other inputs change"):
        assert_same_results(lambda x: x * 1.1, torch.clone, ones, other=(0 * ones,))
    assert_same_results(lambda x: x * 1.1, torch.clone, ones, other=(0 * ones,), tolerance=0.11)


def test_a_fault_in_any_layer_of_a_fused_network_is_noticed() -> None:
    model = make_alive(Small(), images(2, 16))
    traced = fx.symbolic_trace(model)
    assert_same_results(traced, model, images(2, 16))
    for node in traced.graph.nodes:
        if node.op != "call_module":
            continue
        layer = traced.get_submodule(node.target)
        if isinstance(layer, (nn.ReLU, nn.Conv2d, nn.BatchNorm2d)):
            broken = copy.deepcopy(traced)
            hook = lambda module, args, result: result * 0 + 0.5  # noqa: E731
            broken.get_submodule(node.target).register_forward_hook(hook)
            with pytest.raises(AssertionError, match="differ by"):
                assert_same_results(broken, model, images(2, 16))


def test_each_floating_result_needs_a_signal_or_is_named() -> None:
    def two(x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"a": x.sin(), "b": torch.ones(2)}

    def wrong(x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"a": x.sin(), "b": torch.zeros(2)}

    with pytest.raises(VacuousComparison, match="tensor 1 of the result"):
        assert_same_results(two, two, X)
    assert_same_results(two, two, X, constant=(1,))
    with pytest.raises(AssertionError, match="not close"):
        assert_same_results(wrong, two, X, constant=(1,))
    with pytest.raises(VacuousComparison, match="the result changes"):
        assert_same_results(two, two, X, constant=(0, 1))


def test_whole_numbers_and_values_are_compared_exactly() -> None:
    with pytest.raises(VacuousComparison):
        assert_same_results(lambda x: (3, x > -9), lambda x: (3, x > -9), X)
    largest = lambda x: (x.argmax(), x.shape)  # noqa: E731
    assert_same_results(largest, largest, X)
    with pytest.raises(AssertionError, match="not equal|not close"):
        assert_same_results(lambda x: (x.argmin(), x.shape), largest, X)
    with pytest.raises(AssertionError, match="Value 1"):
        assert_same_results(lambda x: (x.argmax(), 4), lambda x: (x.argmax(), 3), X)


@pytest.mark.parametrize(
    ("actual", "says"),
    [
        (lambda x: x.double(), "float64"),
        (lambda x: x[:1], r"\(1, 4\)"),
        (lambda x: [x], "The result is"),
        (lambda x: 3, "Value 0 is a int"),
        (lambda x: x / 0 * 0, "differ by inf"),
    ],
    ids=["dtype", "shape", "structure", "kind", "NaN"],
)
def test_another_kind_of_result_is_refused(actual, says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        assert_same_results(actual, torch.clone, X)


def test_equal_infinities_and_nan_are_equal() -> None:
    def roots(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x.sqrt(), x / 0.0])

    assert assert_same_results(roots, roots, X, other=(X + 0.5,)) == 0.0


def test_each_run_has_its_own_inputs_seed_and_no_gradient() -> None:
    def writes(x: torch.Tensor) -> torch.Tensor:
        assert not torch.is_grad_enabled()
        return x.mul_(2) + torch.rand_like(x) * 0.1

    given, state = X.clone(), torch.get_rng_state()
    assert_same_results(writes, writes, given)
    assert torch.equal(given, X)
    assert torch.equal(torch.get_rng_state(), state)


def test_half_types_need_a_tolerance() -> None:
    with pytest.raises(ValueError, match="tolerance for torch.bfloat16"):
        assert_same_results(torch.relu, torch.relu, X.bfloat16())
    assert_same_results(torch.relu, torch.relu, X.bfloat16(), tolerance=0.01)
