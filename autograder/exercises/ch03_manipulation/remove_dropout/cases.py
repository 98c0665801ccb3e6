"""Exercise 3.5: remove every dropout."""

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
from autograder.exercises.ch03_manipulation.remove_dropout import models

X, WIDE = T(2, 3), T(4, 3)
LAYERED = T(1, 3, 4)
LINE, PLANE, SPACE = T(2, 3, 3), T(2, 2, 3, 3), T(1, 2, 2, 2, 2)

HINTS = (
    """**Where to look.** `remove_identity` in section 3.5 deletes the calls of one kind of module.
What is different here is only which nodes are meant.
Does your pass find the spelling on the card?""",
    """**What to use.** `replace_all_uses_with` with the node's input, then `graph.erase_node`,
and `gm.delete_all_unused_submodules()` at the end.
`isinstance` takes a tuple of classes, `in` a tuple of functions.""",
    """**A skeleton.**

```python
modules = (nn.Dropout, ...)
functions = (F.dropout, ...)
gm = ...
for node in list(gm.graph.nodes):
    if ...:                                # a call of one of the modules, or of the functions
        value = ...                        # what the node reads now
        ...                                # rewire, then erase
...
```""",
)

VOCABULARY = Vocabulary(
    ops(
        "[nn.Dropout(0.5)]({a})",
        "[nn.Dropout(0.3, inplace=True)]({a}.sin())",
        "[nn.Dropout(0.3)](input={a})",
        "[nn.ELU()](input={a})",
        "[nn.Sigmoid()]({a})",
        "F.dropout({a})",
        "[nn.AlphaDropout(0.5)]({a})",
        "F.dropout({a}, 0.3, self.training)",
        "[nn.Dropout(0.5)](input={a})",
        "F.dropout(input={a}, p=0.3, training=self.training)",
        "F.dropout({a}, 0.5, True, True)",
        "F.dropout({a}, 0.0, False)",
        "[nn.Dropout(0.0)]({a})",
        "F.alpha_dropout({a}, 0.5, True)",
        "[nn.Dropout(0.5)]([nn.Dropout(0.2)]({a}))",
        "[nn.ELU()]({a})",
        "[nn.Softsign()]({a})",
        "[nn.PReLU()]({a})",
    )
    + ops(
        "[nn.FeatureAlphaDropout(0.5)]({x})",
        "[nn.FeatureAlphaDropout(0.3)]({x})",
        "F.feature_alpha_dropout({x}, training=True)",
        dims=(2, 4),
    )
    + ops("[nn.Dropout1d(0.5)]({x})", "F.dropout1d({x}, 0.5)", dims=(2, 3))
    + ops("[nn.Dropout2d(0.5)]({x})", "F.dropout2d({x}, p=0.5)", dims=(3, 4))
    + ops("[nn.Dropout3d(0.5)]({x})", "F.dropout3d({x}, p=0.5)", dims=(4, 4))
    + ops("{x}.mul_({n})", outs=0)
    + COMMON,
    training=True,
    namesakes=("dropout", "my_dropout"),
)


EXERCISE = Exercise(
    number=5,
    title="Delete every dropout",
    stars=2,
    minutes=10,
    points=4,
    kind="transform",
    aspects=(
        Aspect("module", 2, "`nn.Dropout` disappears, call and module"),
        Aspect("kinds", 1, "so do its relatives"),
        Aspect("function", 2, "so do `F.dropout` and its siblings"),
        Aspect("places", 2, "in chains, as the output, called twice, by keyword"),
        Aspect("caller", 1, "the caller's model keeps its mode and its modules"),
        Aspect("rest", 1, "models of every kind"),
    ),
    cases=(
        model_case("a module", "module", models.OneDropout, (X,), (WIDE,)),
        model_case("a module as the output", "module", models.DropoutOutput, (X,)),
        model_case("modules for lines", "kinds", models.Dropouts1d, (LINE,)),
        model_case("always active", "function", models.AlwaysActive, (X,), (T(5),)),
        model_case("as the caller says", "function", models.AsTold, (X,), (X, 0.5, False)),
        model_case("a keyword", "places", models.KeywordDropout, (X,)),
        model_case("a chain", "places", models.Chain, (X,)),
        model_case("inside a leaf", "places", models.InsideALeaf, (LAYERED,)),
        model_case("deep in a leaf, and next to it", "places", models.DeepInALeaf, (LAYERED,)),
        model_case("training mode", "caller", models.OneDropout, (X,), training=True),
        model_case("a graph module", "caller", models.traced_chain, (X,)),
        model_case(
            "a part that does not train",
            "caller",
            models.FrozenNorm,
            (WIDE,),
            training=True,
            prepare=InEvaluation("norm"),
        ),
        model_case("a probability of zero", "rest", models.ZeroDropout, (X,)),
        model_case(
            "names that speak of it",
            "rest",
            models.SpeaksOfDropout,
            (X,),
            functions={"undo_dropout": models.undo_dropout},
        ),
        model_case("a call in place that nobody reads", "rest", models.UnreadInPlace, (X,)),
        model_case("dropped more often", "rest", models.DroppedAgain, (X,)),
    ),  # fmt: skip
    fine_print={
        "`F.dropout(x)` alone is active even in eval mode. It goes, too.": ("always active",),
        (
            "No dropout module is left in the result, except inside a leaf such as "
            "`nn.TransformerEncoderLayer`: leave those unchanged."
        ): (
            "inside a leaf",
            "deep in a leaf, and next to it",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY),
)
