"""Exercise 3.4: ReLU in every spelling becomes GELU."""

from __future__ import annotations

from autograder.authoring.question import (
    COMMON,
    Aspect,
    Exercise,
    InEvaluation,
    RandomModels,
    T,
    Vocabulary,
    model_case,
    ops,
)
from autograder.exercises.ch03_manipulation.relu_to_gelu import models

X, WIDE, LAYERED = T(2, 3), T(4, 3), T(1, 3, 4)

HINTS = (
    """**Where to look.** `elu_to_softplus` in section 3.4 replaces the calls of one kind of module.
Sections 3.2 and 3.4 show how the other spellings are recorded, and what `F.relu` is given.""",
    """**What to use.** `isinstance(gm.get_submodule(node.target), nn.ReLU)` for modules,
a new `call_function` node, `replace_all_uses_with`, `graph.erase_node`,
`gm.delete_all_unused_submodules()`.
The value is in `node.args` or in `node.kwargs["input"]`.""",
    """**A skeleton.**

```python
gm = ...

def is_relu(node):
    ...                                    # three kinds of node

for node in list(gm.graph.nodes):
    if is_relu(node):
        value = ...                        # by position or by keyword
        with gm.graph.inserting_before(node):
            gelu = ...
        ...                                # rewire, then erase
...                                        # modules that nothing calls any more
...
```""",
)

# In place only on values with one reader, because a GELU does not change its input.
VOCABULARY = Vocabulary(
    ops(
        "torch.relu({a})",
        "F.relu({a})",
        "{a}.relu()",
        "[nn.ReLU()]({a})",
        "[nn.ReLU()]([nn.ReLU()]({a}) - {n})",
        "[nn.ReLU()]({a})",
        "[nn.ReLU(inplace=True)]({a} - {n})",
        "F.leaky_relu({a}, 0.1)",
        "[nn.ReLU6()]({a})",
        "torch.relu(input={a})",
        "F.relu(input={a})",
        "[nn.ReLU()](input={a})",
        "F.relu({a} - {n}, inplace=True)",
        "F.relu({a} - {n}, True)",
        "F.relu({a}, inplace=False)",
        "[nn.ReLU(inplace=True)]({a} * 0.5)",
        "[nn.ReLU6()]({a})",
        "[nn.LeakyReLU(0.1)]({a})",
        "[nn.PReLU()]({a})",
        "[nn.ELU()]({a})",
        "F.relu6({a})",
        "F.leaky_relu({a}, 0.1)",
        "F.threshold({a}, 0.1, 0.2)",
        "{a}.clamp(min=0)",
    )
    + COMMON,
    training=True,
    namesakes=("relu", "act", "gelu"),
)


EXERCISE = Exercise(
    number=4,
    title="Swap an activation, module or not",
    stars=2,
    minutes=15,
    points=4,
    kind="transform",
    aspects=(
        Aspect("function", 2, "`torch.relu` and `F.relu` become an exact GELU"),
        Aspect("method", 1, "so does `x.relu()`"),
        Aspect("module", 2, "so do `nn.ReLU` modules, and no unused one is left"),
        Aspect("shared", 2, "nested, shared, called twice"),
        Aspect("others", 1, "other activations stay"),
        Aspect("rest", 1, "models of every kind"),
    ),
    cases=(
        model_case("torch.relu", "function", models.TorchRelu, (X,), (T(5),)),
        model_case("F.relu, in place", "function", models.FunctionalInPlace, (X,)),
        model_case("functions, by keyword", "function", models.KeywordRelu, (X,)),
        model_case("the method", "method", models.MethodRelu, (X,), (T(5),)),
        model_case("a module", "module", models.ModuleRelu, (X,), (WIDE,)),
        model_case("a module in place", "module", models.ModuleInPlace, (X,)),
        model_case("nested modules", "shared", models.NestedRelu, (X,)),
        model_case("a module called twice", "shared", models.CalledTwice, (X,)),
        model_case("inside a leaf", "shared", models.InsideALeaf, (LAYERED,)),
        model_case("owned by a leaf", "shared", models.OwnedByALeaf, (LAYERED,)),
        model_case("deep in a leaf, and next to it", "shared", models.DeepInALeaf, (LAYERED,)),
        model_case("other modules", "others", models.OtherModules, (X,), (WIDE,)),
        model_case("names that are taken", "others", models.NamesTaken, (X,)),
        model_case(
            "others called relu", "others", models.CalledRelu, (X,), functions={"relu": models.relu}
        ),
        model_case("all spellings", "rest", models.AllSpellings, (X,)),
        model_case(
            "a part that does not train",
            "rest",
            models.TrainedBlock,
            (WIDE,),
            training=True,
            prepare=InEvaluation("block.1"),
        ),
    ),
    fine_print={
        (
            "A leaf module such as `nn.TransformerEncoderLayer` may hold a ReLU of its own. "
            "Leave that one unchanged: it belongs to the leaf."
        ): (
            "inside a leaf",
            "deep in a leaf, and next to it",
        ),
        (
            "If the model also calls that ReLU directly, the direct call becomes a GELU "
            "like any other."
        ): ("owned by a leaf",),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY),
)
