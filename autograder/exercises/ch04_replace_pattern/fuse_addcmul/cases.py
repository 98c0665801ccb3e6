"""Chapter 04: the two fusions, `fuse_addcmul` and `fuse_linear_relu`."""

from __future__ import annotations

import torch
from torch import fx

from autograder.core.exercise import Aspect, Exercise
from autograder.models import T, addcmul, model_case, no_addcmul
from autograder.models import linear_relu as linears
from autograder.rubric.rewriting import (
    layers_of_the_model,
    linears_before_relu,
    places_rewritten,
    sums_of_products,
)
from autograder.rules.passes import PASS
from autograder.syllabus import replace_pattern_hints as hints
from autograder.syllabus import replace_random as random

CHAPTER = "04_replace_pattern"

# ------------------------------------------------------------------ fuse_addcmul

XY, XYZ = (T(2, 3), T(2, 3)), (T(2, 3), T(2, 3), T(2, 3))
WIDE = (T(2, 1), T(3), T(4, 1, 1))
SQUARE = (T(3, 3), T(3, 3), T(3, 3))
FOUR = (T(3), T(2, 1), T(2, 3), T(1))

FUSE_ADDCMUL = Exercise(
    name="fuse_addcmul",
    chapter=CHAPTER,
    title="A product and a sum in one",
    stars=3,
    minutes=20,
    points=6,
    procedure="transform",
    aspects=(
        Aspect("task", 3, "`a * b + c` becomes `torch.addcmul(c, a, b)`"),
        Aspect("spellings", 3, "`operator` or `torch`, the product on either side, keywords"),
        Aspect("values", 2, "whatever the tensors are: the same twice, parameters, results"),
        Aspect("numbers", 3, "a number or a size is no tensor"),
        Aspect("readers", 2, "a product with another reader stays"),
        Aspect("chains", 2, "sums of several products, one behind the other"),
        Aspect("stays", 2, "all else stays as it is"),
    ),
    cases=(
        model_case("a product and a sum", "task", addcmul.ProductLeft, XYZ, (T(4), T(4), T(4))),
        model_case("two places", "task", addcmul.ProductLeftTwice, XYZ),
        model_case("shapes that broadcast", "task", addcmul.ProductLeft, WIDE, (T(), T(2), T(1))),
        model_case("in float32", "task", addcmul.ProductLeft, XYZ, dtype=torch.float32),
        model_case("the product on the right", "spellings", addcmul.ProductRight, XYZ, WIDE),
        model_case("torch functions", "spellings", addcmul.TorchFunctions, XYZ),
        model_case("torch functions, product on the right", "spellings",
                   addcmul.TorchFunctionsRight, XYZ),
        model_case("mixed spellings", "spellings", addcmul.MixedSpellings, XYZ),
        model_case("keywords", "spellings", addcmul.Keywords, XYZ),
        model_case("the other term comes later", "spellings", addcmul.ComputedLater, XYZ),
        model_case("a square", "values", addcmul.Square, XY),
        model_case("the same value again", "values", addcmul.SameValueAgain, XY),
        model_case("parameters and buffers", "values", addcmul.Scale, (T(2, 3),), (T(3),)),
        model_case("values of modules", "values", addcmul.ModuleValues, (T(2, 3),)),
        model_case("pieces of tensors", "values", addcmul.Pieces, (T(3, 4), T(3, 5))),
        model_case("tensors shaped by sizes", "values", addcmul.ShapedBySizes, XY),
        model_case("tensors made of sizes", "values", addcmul.MadeOfSizes, XY,
                   dtype=torch.float32),
        model_case("scale and shift", "values", addcmul.Modulate, (T(2, 4), T(2, 3))),
        model_case("a number in the product", "numbers", no_addcmul.NumberInProduct, XY),
        model_case("a number is added", "numbers", no_addcmul.NumberAdded, XY),
        model_case("numbers in other places", "numbers", no_addcmul.ManyNumbers, XY),
        model_case("a product with a number, and one without", "numbers",
                   no_addcmul.NumberBesideProduct, XY),
        model_case("sizes", "numbers", no_addcmul.Sizes, XY),
        model_case("sizes by name", "numbers", no_addcmul.UnpackedSizes, XY),
        model_case("sizes among themselves", "numbers", no_addcmul.SizesOnly, (T(2, 3),)),
        model_case("numbers made of sizes", "numbers", no_addcmul.ComputedSizes, XY),
        model_case("other numbers of a tensor", "numbers", no_addcmul.OtherNumbersOfTensors, XY),
        model_case("parameters with a number as default", "numbers", no_addcmul.DefaultNumber, XY),
        model_case("the product is returned, too", "readers", no_addcmul.ProductReturned, XYZ),
        model_case("the product is read again", "readers", no_addcmul.ProductReadAgain, XYZ),
        model_case("a product added to itself", "readers", no_addcmul.AddedToItself, XY),
        model_case("the product is read in a list", "readers", no_addcmul.ReadInList, XYZ),
        model_case("two sums of one product", "readers", no_addcmul.TwoSums, XYZ),
        model_case("one product shared, one not", "readers", no_addcmul.OneSharedOneNot, XYZ),
        model_case("two products", "chains", addcmul.TwoProducts, FOUR),
        model_case("a sum of two sums", "chains", addcmul.SumOfSums, XYZ),
        model_case("one inside the other", "chains", addcmul.Horner, FOUR),
        model_case("a long sum", "chains", addcmul.LongSum, FOUR),
        model_case("alpha", "stays", no_addcmul.Alpha, XYZ),
        model_case("out", "stays", no_addcmul.Out, XYZ),
        model_case("methods", "stays", no_addcmul.Methods, XYZ),
        model_case("other operations", "stays", no_addcmul.OtherOperations, SQUARE),
        model_case("among much else, in a submodule", "stays", addcmul.Surrounded, (T(2, 3),)),
        model_case("a graph module", "stays", lambda: fx.symbolic_trace(addcmul.Surrounded()),
                   (T(3),)),
        model_case("redraw: two shapes", "task", addcmul.ProductLeftTwice, FOUR[:3], hidden=True),
        model_case("redraw: mixed", "spellings", lambda: fx.symbolic_trace(addcmul.Keywords()),
                   WIDE, hidden=True),
        model_case("redraw: sizes in float32", "numbers", no_addcmul.ComputedSizes, XY,
                   dtype=torch.float32, hidden=True),
        model_case("redraw: a long sum", "chains", lambda: fx.symbolic_trace(addcmul.LongSum()),
                   (T(2), T(2), T(2), T(2)), hidden=True),
    ),
    rubric=(
        *PASS,
        places_rewritten(
            sums_of_products,
            "a call of `torch.addcmul`",
            "Compare this place with the conditions of the exercise: which spelling, order or "
            "kind of value does your function not expect?",
        ),
    ),
    hints=hints.FUSE_ADDCMUL,
    random=random.ADDCMUL,
)  # fmt: skip

# ------------------------------------------------------------------ fuse_linear_relu

X3 = (T(2, 3),)

FUSE_LINEAR_RELU = Exercise(
    name="fuse_linear_relu",
    chapter=CHAPTER,
    title="Fuse modules by type",
    stars=3,
    minutes=20,
    points=6,
    procedure="transform",
    aspects=(
        Aspect("task", 3, "a linear layer and the ReLU behind it become one `LinearReLU`"),
        Aspect("spellings", 2, "ReLU in each of its four spellings, and keyword calls"),
        Aspect("types", 3, "found by type, whatever its name and however deep"),
        Aspect("readers", 2, "a linear layer that something else reads stays"),
        Aspect("shared", 2, "a layer that is called in several places, each by itself"),
    ),
    cases=(
        model_case("a layer and a module", "task", linears.LinearThenModule, X3, (T(3),)),
        model_case("one of two layers", "task", linears.TwoLayers, (T(2, 1, 3),)),
        model_case("in float32", "task", linears.TwoLayers, X3, dtype=torch.float32),
        model_case("torch.relu", "spellings", linears.TorchRelu, X3),
        model_case("F.relu", "spellings", linears.FunctionalRelu, X3),
        model_case("the method", "spellings", linears.MethodRelu, X3),
        model_case("four spellings", "spellings", linears.FourSpellings, X3, (T(3),)),
        model_case("keywords", "spellings", linears.Keywords, X3),
        model_case("nested", "types", linears.Bottle, X3),
        model_case("names that mislead", "types", linears.NamesMislead, X3),
        model_case("deeply nested", "types", linears.Deep, (T(2, 4),)),
        model_case("what is not nn.Linear", "types", linears.NotLinear, X3),
        model_case("other activations", "types", linears.OtherActivations, X3),
        model_case("names that are taken", "types", linears.NamesTaken, X3),
        model_case("torchvision's MLP", "types", linears.Perceptron, (T(2, 4),)),
        model_case("a transformer layer and a head", "types", linears.Encoder, (T(2, 2, 4),)),
        model_case("fused in part", "types", linears.Fused, X3),
        model_case("the layer is read elsewhere", "readers", linears.ReadElsewhere, X3),
        model_case("the layer's value is returned, too", "readers", linears.ReturnedToo, X3),
        model_case("two ReLUs read one layer", "readers", linears.TwoRelus, X3),
        model_case("the ReLU has many readers", "readers", linears.ReluReadTwice, X3),
        model_case("one layer, called twice", "shared", linears.CalledTwice, X3),
        model_case("one layer, a ReLU behind the second call", "shared", linears.OncePlain, X3),
        model_case("one layer, a ReLU behind the first call", "shared",
                   linears.PlainAfterwards, X3),
        model_case("a graph module", "shared",
                   lambda: fx.symbolic_trace(linears.PlainAfterwards()), X3),
        model_case("redraw: in training mode", "task", linears.Bottle, X3, training=True,
                   hidden=True),
        model_case("redraw: a deep graph module", "types",
                   lambda: fx.symbolic_trace(linears.Deep()), (T(4),), hidden=True),
        model_case("redraw: twice in float32", "shared", linears.CalledTwice, X3,
                   dtype=torch.float32, hidden=True),
    ),
    rubric=(
        *PASS,
        places_rewritten(
            linears_before_relu,
            "a call of a `LinearReLU`",
            "Look at the type of the module that the node calls, and at who reads it.",
        ),
        layers_of_the_model,
    ),
    hints=hints.FUSE_LINEAR_RELU,
    random=random.LINEAR_RELU,
)  # fmt: skip
