"""Exercise 3.5: every dropout disappears."""

from __future__ import annotations

from typing import Any

from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from autograder.core.exercise import Aspect, Exercise, Trial
from autograder.core.outcome import Reference
from autograder.fuzz.grammar import COMMON, Vocabulary, ops
from autograder.fuzz.random_models import RandomModels
from autograder.judge.oracles import model_itself
from autograder.models import T, model_case
from autograder.models import dropouts as zoo
from autograder.rules.passes import PASS
from autograder.rules.replacements import no_dropout_left

X, WIDE = T(2, 3), T(4, 3)
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
        "[nn.Dropout(0.3)]({a})",
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
DROPOUTS = frozenset(
    (F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.alpha_dropout, F.feature_alpha_dropout)
)


class NoDropout(TorchFunctionMode):
    """While it is on, every dropout that is called returns what it is given."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Called in place of each function of PyTorch."""
        kwargs = kwargs or {}
        if func in DROPOUTS:
            return args[0] if args else kwargs["input"]
        return func(*args, **kwargs)


def without_dropout(trial: Trial) -> Reference:
    """What the model itself computes while dropouts do nothing."""
    with NoDropout():
        return model_itself(trial)


REMOVE_DROPOUT = Exercise(
    name="remove_dropout",
    chapter="03_manipulation",
    title="Delete every dropout",
    stars=2,
    minutes=10,
    points=4,
    procedure="transform",
    aspects=(
        Aspect("module", 2, "`nn.Dropout` disappears, call and module"),
        Aspect("kinds", 1, "so do its relatives"),
        Aspect("function", 2, "so do `F.dropout` and its siblings"),
        Aspect("places", 2, "in chains, as the output, called twice, by keyword"),
        Aspect("caller", 1, "the caller's model keeps its mode and its modules"),
        Aspect("rest", 1, "models of every kind"),
    ),
    cases=(
        model_case("a module", "module", zoo.OneDropout, (X,), (WIDE,)),
        model_case("a module as the output", "module", zoo.DropoutOutput, (X,)),
        model_case("modules for lines", "kinds", zoo.Dropouts1d, (LINE,)),
        model_case("a module for planes", "kinds", zoo.Dropouts2d, (PLANE,)),
        model_case("a module for volumes", "kinds", zoo.Dropouts3d, (SPACE,)),
        model_case("always active", "function", zoo.AlwaysActive, (X,), (T(5),)),
        model_case("functions", "function", zoo.ListensToTraining, (X,)),
        model_case("a function in place", "function", zoo.FunctionInPlace, (X,)),
        model_case("siblings", "function", zoo.Siblings, (LINE,)),
        model_case("a sibling for planes", "function", zoo.Siblings2d, (PLANE,)),
        model_case("a sibling for volumes", "function", zoo.Siblings3d, (SPACE,)),
        model_case("a keyword", "places", zoo.KeywordDropout, (X,)),
        model_case("a chain", "places", zoo.Chain, (X,)),
        model_case("a chain as the output", "places", zoo.ChainOutput, (X,)),
        model_case("of an input", "places", zoo.DropoutOfInput, (X, X)),
        model_case("called twice", "places", zoo.CalledTwice, (X,)),
        model_case("shared and nested", "places", zoo.SharedDropout, (X,)),
        model_case("several readers", "places", zoo.SeveralReaders, (X,)),
        model_case("read by nobody", "places", zoo.DeadDropout, (X,)),
        model_case("training mode", "caller", zoo.OneDropout, (X,), training=True),
        model_case(
            "functions in training mode", "caller", zoo.ListensToTraining, (X,), training=True
        ),
        model_case("a branch on the mode", "caller", zoo.Branches, (X,)),
        model_case("a graph module", "caller", zoo.traced_chain, (X,)),
        model_case("a probability of zero", "rest", zoo.ZeroDropout, (X,)),
        model_case("misleading names", "rest", zoo.Namesakes, (X,)),
        model_case("a weight that is read", "rest", zoo.ReadWeight, (X,)),
        model_case("a call in place that nobody reads", "rest", zoo.UnreadInPlace, (X,)),
        model_case("parameters with defaults", "rest", zoo.DefaultDropout, (X,), (X, 3.0)),
        model_case("redraw: a module", "module", zoo.DropoutOutput, (T(1, 3),), hidden=True),
        model_case("redraw: a relative", "kinds", zoo.Dropouts1d, (T(1, 2, 4),), hidden=True),
        model_case("redraw: a function", "function", zoo.AlwaysActive, (T(7),), hidden=True),
        model_case("redraw: places", "places", zoo.ChainOutput, (T(7),), hidden=True),
        model_case(
            "redraw: training mode", "caller", zoo.Chain, (WIDE,), training=True, hidden=True
        ),
    ),  # fmt: skip
    rubric=(*PASS, no_dropout_left),
    hints=HINTS,
    random=RandomModels(VOCABULARY, without_dropout),
)
