"""Patterns, models and tracing that several exercises of chapter 04 share."""

# Cards show this code to learners, so descriptive names replace most docstrings.
# ruff: noqa: D101, D103

from __future__ import annotations

import torch
from torch import nn


def relu_of_relu(a):
    return torch.relu(torch.relu(a))


def one_relu(a):
    return torch.relu(a)


def sum_of_two(a, b):
    return a + b


class OneWave(nn.Module):
    def forward(self, x, y):
        return torch.sin(x) + y


class ReluChain(nn.Module):
    def __init__(self, length=3):
        super().__init__()
        self.length = length

    def forward(self, x):
        for _ in range(self.length):
            x = torch.relu(x)
        return x
