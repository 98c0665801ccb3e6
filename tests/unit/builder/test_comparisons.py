"""The lint of comparisons: how a chapter compares results of a torchvision network."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.builder.comparisons import findings
from autograder.builder.source import read
from tests.support import build_fixture

MAKES = "from torchvision.models import resnet18\nnet = resnet18()\n"


def lines_with(folder: Path, *cells: str) -> list[str]:
    """Return the lines of code that the lint finds in a chapter with these cells."""
    text = "# %% [markdown]\n# # Numbers\n\n" + "".join(f"# %%\n{cell}\n" for cell in cells)
    path = build_fixture.write(folder, text)
    source = path.read_text("utf-8").splitlines()
    return [source[problem.line - 1] for problem in findings(read(path)[0])]


@pytest.mark.parametrize(
    "cell",
    [
        "assert_close(net(x), y)",
        "torch.testing.assert_close(y, net(x))",
        "assert not torch.allclose(net(x), y)",
        "gm = fx.symbolic_trace(net)\nassert_close(gm(x), y)",
        "def run(x):\n    return net(x)\n\nassert_close(run(x), y)",
        "class Service(nn.Module):\n    def __init__(self):\n        self.net = resnet18()\n\n"
        "assert_close(Service()(x), y)",
        "for one in (net, other):\n    assert_close(one(x), y)",
        "import torchvision\nnew = torchvision.models.vgg11()\nassert_close(new(x), y)",
        "def compare(x, y):\n    assert_close(net(x), y)",
    ],
)
def test_a_comparison_of_a_network_is_found(cell: str, tmp_path: Path) -> None:
    (line,) = lines_with(tmp_path, MAKES, "x = 1", cell)
    assert "assert_close" in line or "allclose" in line


@pytest.mark.parametrize(
    "cell",
    [
        "assert_same_results(net, other, x)",
        "assert torch.equal(net(x), before)",
        "net = nn.Linear(2, 2)\nassert_close(net(x), y)",
        "def run(net):\n    return net(x)\n\nassert_close(run(other), y)",
        "by_name = sorted(names, key=lambda net: net.name)\nassert_close(by_name, y)",
        "from torchvision.models.feature_extraction import create_feature_extractor\n"
        "assert_close(create_feature_extractor(small, ['fc'])(x), y)",
        "%timeit assert_close(net(x), y)",
    ],
)
def test_other_comparisons_are_fine(cell: str, tmp_path: Path) -> None:
    assert lines_with(tmp_path, MAKES, "x = 1", cell) == []
