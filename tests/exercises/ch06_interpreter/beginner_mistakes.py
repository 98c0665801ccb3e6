"""Beginners' mistakes in chapter 06."""

from __future__ import annotations

import torch
from torch import fx
from torch.fx.passes.shape_prop import ShapeProp

from tests.exercises.mistakes import SHOWS_PLACE, UNSTICKS, mistake


@mistake("NegSigmSwap", "no return", UNSTICKS)
class NoReturn(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        swapped = {torch.neg: torch.sigmoid, torch.sigmoid: torch.neg}
        super().call_function(swapped.get(target, target), args, kwargs)


@mistake("NegSigmSwap", "calls itself", UNSTICKS)
class CallsItself(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        swapped = {torch.neg: torch.sigmoid, torch.sigmoid: torch.neg}
        return self.call_function(swapped.get(target, target), args, kwargs)


@mistake(
    "NegSigmSwap",
    "a table without the others",
    SHOWS_PLACE,
    but="a wrong value comes first; the missing entries of the table are below",
)
class OnlyTheTwo(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        swapped = {torch.neg: torch.sigmoid, torch.sigmoid: torch.neg}
        return super().call_function(swapped[target], args, kwargs)


@mistake("NegSigmSwap", "a function, not a class", UNSTICKS)
def swap(gm):
    return gm


@mistake("record_shapes", "shape of whatever comes", UNSTICKS)
def any_shape(model, *inputs):
    shapes = {}

    class Recorder(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            shapes[n.name] = value.shape
            return value

    Recorder(fx.symbolic_trace(model)).run(*inputs)
    return shapes


@mistake(
    "record_shapes",
    "the nodes as keys",
    SHOWS_PLACE,
    but="says that names are missing; that the keys are nodes is below",
)
def node_keys(model, *inputs):
    shapes = {}

    class Recorder(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            shapes[n] = tuple(value.shape) if isinstance(value, torch.Tensor) else None
            return value

    Recorder(fx.symbolic_trace(model)).run(*inputs)
    return shapes


@mistake("record_shapes", "the traced module is not run", UNSTICKS)
def not_run(model, *inputs):
    gm = fx.symbolic_trace(model)
    return {n.name: tuple(n.meta["tensor_meta"].shape) for n in gm.graph.nodes}


@mistake("record_shapes", "ShapeProp of the model", UNSTICKS)
def prop_of_model(model, *inputs):
    ShapeProp(model).propagate(*inputs)
    return {n.name: n.meta["tensor_meta"].shape for n in model.graph.nodes}


@mistake(
    "first_nonfinite",
    "any of the tensor's entries by ==",
    SHOWS_PLACE,
    but="nothing says that a NaN is not equal to itself",
)
def equals_nan(model, *inputs):
    class Finder(fx.Interpreter):
        found = None

        def run_node(self, n):
            value = super().run_node(n)
            if isinstance(value, torch.Tensor) and (value == float("nan")).any():
                self.found = self.found or n.name
            return value

    finder = Finder(fx.symbolic_trace(model))
    finder.run(*inputs)
    return finder.found


@mistake("first_nonfinite", "the last one is kept", UNSTICKS)
def last_one(model, *inputs):
    class Finder(fx.Interpreter):
        found = None

        def run_node(self, n):
            value = super().run_node(n)
            if isinstance(value, torch.Tensor) and not torch.isfinite(value).all():
                self.found = n.name
            return value

    finder = Finder(fx.symbolic_trace(model))
    finder.run(*inputs)
    return finder.found


@mistake("AddToMul", "run in place of transform", UNSTICKS)
class Runs(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        return super().call_function(torch.mul if target is torch.add else target, args, kwargs)
