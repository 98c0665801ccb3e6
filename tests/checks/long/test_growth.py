"""The reference solutions' time grows about linearly with the number of nodes.

``python -m tests.checks.long.test_growth`` prints the table, up to 10,000 nodes.
"""

from __future__ import annotations

import sys
import time

import pytest
import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from autograder.core.exercise import Trial
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import Limits
from autograder.exercises import EXERCISES
from autograder.runner import run_trial
from tests.checks.long.test_real_networks import TRIED, completion, solution
from tests.exercises import exercises_with

GROWN = [name for name in TRIED if name not in exercises_with("NOT_GROWN")]

PATIENCE = Limits(cpu=900.0, wall=3600.0)
SIZES = (100, 1_000, 10_000)


class Chain(nn.Module):
    """A network of this many calls in a row: a layer, a sum, an activation, a negation, again."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.calls = calls
        self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(calls // 4 + 1)).double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply a layer, a sum, ReLU and a negation in turn."""
        for place in range(self.calls):
            kind = place % 4
            if kind == 0:
                x = self.layers[place // 4](x)
            elif kind == 1:
                x = x + 1.0
            elif kind == 2:
                x = torch.relu(x)
            else:
                x = -x
        return x


def seconds(name: str, calls: int) -> float:
    """Processor seconds of the solution and its trial on a chain."""
    exercise = EXERCISES[name]
    assert exercise.random is not None
    complete = completion(name)

    def make(seed: int) -> Trial:
        torch.manual_seed(seed)
        model = Chain(calls).eval()
        image = torch.randn(2, 2, dtype=torch.float64)
        return complete(Trial(args=(model,), model=model, inputs=((image,),)), seed)

    with preserve_global_state():
        start = time.process_time()
        outcome = run_trial(exercise.kind, solution(name), make, "chain", 0, PATIENCE)
        taken = time.process_time() - start
    assert outcome.ended == "returned", (name, calls, outcome.error)
    return taken


@pytest.mark.parametrize("name", GROWN)
def test_ten_times_the_nodes_take_about_ten_times_as_long(name: str) -> None:
    """A solution that visits all nodes for each node takes a hundred times as long."""
    seconds(name, 100)  # imports and compilations that happen once
    small, large = seconds(name, 400), seconds(name, 4_000)
    assert large < 35 * small, f"{name}: {small:.2f} s for 400 calls, {large:.2f} s for 4,000"


def main() -> None:
    """Print the table."""
    names = sys.argv[1:] or GROWN
    table = Table(title="Seconds for chains of so many calls")
    table.add_column("exercise")
    for size in SIZES:
        table.add_column(f"{size:,}", justify="right")
    console = Console(width=100)
    for name in names:
        seconds(name, 100)
        row = [f"{seconds(name, size):.2f}" for size in SIZES]
        console.print(name, *row)
        table.add_row(name, *row)
    console.print(table)


if __name__ == "__main__":
    main()
