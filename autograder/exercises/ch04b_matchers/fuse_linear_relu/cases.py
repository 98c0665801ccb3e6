"""Exercise 4b.2: fuse a linear layer and the ReLU after it into one module."""

from __future__ import annotations

from autograder.authoring.question import (
    ONE_DTYPE,
    SMOOTH,
    Aspect,
    Exercise,
    RandomModels,
    T,
    TracedInPart,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch04b_matchers.fuse_linear_relu import models

X3 = (T(2, 3),)


HINTS = (
    "The worked example of section 4b.2 has the same steps: a module found by its type, its only "
    "reader, a new module under a name of its own, two nodes erased.",
    "`len(node.users) == 1` and then `(reader,) = node.users`. "
    "A ReLU can be a `call_module`, a `call_function` or a `call_method` node.",
    "Never overwrite the old module: another call may need the old one. "
    "Look for a name that the module does not have yet; some names are taken.",
    "```python\n"
    "for node in list(gm.graph.nodes):\n"
    "    if ...:  # not a call of an nn.Linear, or more than one reader\n"
    "        continue\n"
    "    (reader,) = node.users\n"
    "    if not is_relu(reader):\n"
    "        continue\n"
    "    name = ...\n"
    "    gm.add_submodule(name, LinearReLU(...))\n"
    "    ...  # a call of it with the arguments of `node`; rewire; erase\n"
    "```",
)

VOCABULARY = Vocabulary(
    ops(
        "torch.relu([nn.Linear(D, D)]({x}))",
        "[nn.Linear(D, D)]({x})",
        "F.relu([nn.Linear(D, D)]({x}))",
        "[nn.Linear(D, D)]({x}).relu()",
        "[nn.ReLU()]([nn.Linear(D, D)]({x}))",
        "torch.relu({a})",
        "{a}.relu()",
        "F.relu({a})",
        "[nn.ReLU()]({a})",
        "torch.relu(input=[nn.Linear(D, D)](input={x}))",
        "F.relu(input=[nn.Linear(D, D, bias=False)]({x}))",
        "[nn.ReLU()](input=[nn.Linear(D, D)](input={x}))",
        "[nn.Sequential(nn.Linear(D, D), nn.ReLU())]({x})",
        "[nn.ReLU6()]([nn.Linear(D, D)]({x}))",
        "F.relu6([nn.Linear(D, D)]({x}))",
        "F.relu6(input=[nn.Linear(D, D)]({x}))",
        "F.gelu([nn.Linear(D, D)]({x}))",
        "[nn.LeakyReLU()]([nn.Linear(D, D)]({x}))",
        "torch.relu(layer := [nn.Linear(D, D)]({x})) + layer",
        "torch.relu(layer := [nn.Linear(D, D)]({x})) + F.relu(layer)",
        "[nn.Bilinear(D, D, D)]({x}, {x}).relu()",
        "torch.relu([nn.LayerNorm(D)]({x}))",
        "torch.relu(F.linear({x}, [nn.Parameter(torch.ones(D, D))]))",
        "[nn.Linear(D, D)]({x}) - torch.relu({y})",
        "(layer := [nn.Linear(D, D)]({x}), torch.tanh({y}))[1] * layer.relu()",
        dims=(1, 4),
    )
    + ops("(layer := [nn.Linear(D, D)]({x})), torch.relu(layer)", dims=(1, 4), outs=2)
    + tuple(op for op in SMOOTH if "Linear" not in op.text),
    shapes=((2, 3), (3,), (2, 1, 3)),
    dtypes=ONE_DTYPE,
    namesakes=("linear_relu", "fused_0"),
    dead=False,
    training=True,
)


EXERCISE = Exercise(
    number=2,
    title="Fuse modules by type",
    stars=3,
    minutes=20,
    points=6,
    kind="transform",
    aspects=(
        Aspect("task", 3, "a linear layer and the ReLU after it become one `LinearReLU`"),
        Aspect("spellings", 2, "ReLU in each of its four spellings, and keyword calls"),
        Aspect("types", 3, "found by type, whatever its name and however deep"),
        Aspect("readers", 2, "a linear layer that something else reads stays"),
        Aspect("shared", 2, "a layer that is called in several places, each by itself"),
    ),
    cases=(
        model_case("a layer and a module", "task", models.LinearThenModule, X3, (T(3),)),
        model_case("torch.relu", "spellings", models.TorchRelu, X3),
        model_case("four spellings", "spellings", models.FourSpellings, X3, (T(3),)),
        model_case("keywords", "spellings", models.Keywords, X3),
        model_case("nested", "types", models.Bottle, X3),
        model_case("what is not nn.Linear", "types", models.NotLinear, X3),
        model_case("other activations", "types", models.OtherActivations, X3),
        model_case("names that are taken", "types", models.NamesTaken, X3),
        model_case("numbered names that are taken", "types", models.NumberedNames, X3),
        model_case("a module called relu", "types", models.CalledRelu, X3),
        model_case(
            "a function called relu", "types", models.OwnRelu, X3, functions={"relu": models.relu}
        ),
        model_case("names of containers", "types", models.ContainersTaken, X3),
        model_case("names of buffers that are not saved", "types", models.UnsavedBuffers, X3),
        model_case("the layer is read elsewhere", "readers", models.ReadElsewhere, X3),
        model_case("the layer's value is returned, too", "readers", models.ReturnedToo, X3),
        model_case("two ReLUs read one layer", "readers", models.TwoRelus, X3),
        model_case("the ReLU has many readers", "readers", models.ReluReadTwice, X3),
        model_case("one layer, called twice", "shared", models.CalledTwice, X3),
        model_case("a graph module", "shared", TracedInPart(models.PlainAfterwards), X3),
        model_case("paths that differ in a dot", "types", models.AlikeButForADot, X3),
        model_case("a call in place that nobody reads", "types", models.UnreadInPlace, X3),
        model_case(
            "one of two equal calls is changed in place",
            "shared",
            models.ChangedInBetween,
            X3,
        ),
    ),
    fine_print={
        "Everything else stays as it is, even calls in place that no node reads.": (
            "a call in place that nobody reads",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY),
)
