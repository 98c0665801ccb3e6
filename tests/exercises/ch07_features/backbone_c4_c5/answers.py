"""Answers for `backbone_c4_c5`."""

from __future__ import annotations

import copy
from functools import partial

import torch
from torch import fx, nn
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names
from torchvision.models.resnet import BasicBlock, Bottleneck

from tests.exercises import GRAPH, right, wrong

NODES = {"layer3": "C4", "layer4": "C5"}


class Renamed(nn.Module):
    """A module around an extractor that renames the features."""

    def __init__(self, body, keys):
        super().__init__()
        self.body, self.keys = body, keys

    def forward(self, x):
        features = self.body(x)
        return {new: features[old] for old, new in self.keys.items()}


@right("the names of the stages")
def stages(model):
    return create_feature_extractor(model, NODES)


@right("the other way round")
def reversed_order(model):
    return create_feature_extractor(model, return_nodes={"layer4": "C5", "layer3": "C4"})


@right("both modes named")
def both_modes(model):
    return create_feature_extractor(
        model, train_return_nodes=dict(NODES), eval_return_nodes=dict(NODES)
    )


@right("the last node of each stage", debrief=True)
def last_of_each(model):
    _, names = get_graph_node_names(model)
    nodes = {
        [n for n in names if n.startswith(f"{stage}.")][-1]: key for stage, key in NODES.items()
    }
    return create_feature_extractor(model, nodes)


@right("the last block, by its number")
def by_number(model):
    nodes = {f"{s}.{len(getattr(model, s)) - 1}": key for s, key in NODES.items()}
    return create_feature_extractor(model, nodes)


@right("the last relu, by the kind of block")
def by_kind(model):
    relu = "relu_2" if isinstance(model.layer3[0], Bottleneck) else "relu_1"
    nodes = {f"{s}.{len(getattr(model, s)) - 1}.{relu}": key for s, key in NODES.items()}
    return create_feature_extractor(model, nodes, suppress_diff_warning=True)


@right("a list, and a module that renames")
def wrapped(model):
    return Renamed(create_feature_extractor(model, ["layer3", "layer4"]), NODES)


@right("more features than needed, and a module that chooses")
def chosen(model):
    nodes = [f"layer{i}" for i in range(1, 5)]
    return Renamed(create_feature_extractor(model, nodes), NODES)


@right("of a copy")
def of_a_copy(model):
    return create_feature_extractor(copy.deepcopy(model), NODES)


@right("a plain graph module")
def plain(model):
    extractor = create_feature_extractor(model, NODES)
    return fx.GraphModule(extractor, extractor.graph)


@right("in a Sequential")
def sequential(model):
    return nn.Sequential(create_feature_extractor(model, NODES))


@right("traced once more")
def traced_again(model):
    return fx.symbolic_trace(create_feature_extractor(model, NODES))


backbone = partial(create_feature_extractor, return_nodes=NODES, tracer_kwargs={})
right("a partial, from outside")(lambda model: backbone(model))


@right("blocks as leaves")
def leaf_blocks(model):
    leaves = {"leaf_modules": [BasicBlock, Bottleneck]}
    return create_feature_extractor(model, NODES, tracer_kwargs=leaves)


@right("stages as leaves")
def leaf_stages(model):
    return create_feature_extractor(model, NODES, tracer_kwargs={"leaf_modules": [nn.Sequential]})


@right("put together in eval mode, and put back")
def put_back(model):
    training = model.training
    extractor = create_feature_extractor(model.eval(), NODES)
    model.train(training)
    return extractor.train(training)


@right("a module of its own with parts of the extractor")
def parts(model):
    class Parts(nn.Module):
        def __init__(self):
            super().__init__()
            self.extractor = create_feature_extractor(model, list(NODES))

        def forward(self, x):
            c4, c5 = self.extractor(x).values()
            return dict(C5=c5, C4=c4)

    return Parts()


@right("a module that sets the extractor's mode and calls its forward")
def sets_mode(model):
    class Moded(Renamed):
        def forward(self, x):
            features = self.body.train(self.training).forward(x)
            return {new: features[old] for old, new in self.keys.items()}

    return Moded(create_feature_extractor(model, list(NODES)), NODES).train(model.training)


@right("a module that has the extractor interpreted")
def interpreted(model):
    class Interpreted(Renamed):
        def forward(self, x):
            return fx.Interpreter(self.body).run(x)

    return Interpreted(create_feature_extractor(model, NODES), NODES)


# ------------------------------------------------------------------ wrong


@wrong("one stage too early", "wrong-shape", clause="c4")
def too_early(model):
    return create_feature_extractor(model, {"layer2": "C4", "layer3": "C5"})


@wrong("names of ResNet-50", "crashed", clause="any-resnet")
def of_resnet50(model):
    return create_feature_extractor(model, {"layer3.5.relu_2": "C4", "layer4.2.relu_2": "C5"})


@wrong("the first block", "wrong-result", clause="any-resnet")
def first_block(model):
    return create_feature_extractor(model, {"layer3.0": "C4", "layer4.0": "C5"})


@wrong("keys in small letters", "wrong-structure", clause="keys")
def small_letters(model):
    return create_feature_extractor(model, {"layer3": "c4", "layer4": "c5"})


@wrong("only C5", "wrong-structure", clause="keys")
def only_c5(model):
    return create_feature_extractor(model, {"layer4": "C5"})


@wrong("the relu of basic blocks", "wrong-shape", clause="any-resnet")
def basic_relu(model):
    nodes = {f"{s}.{len(getattr(model, s)) - 1}.relu_1": key for s, key in NODES.items()}
    return create_feature_extractor(model, nodes)


@wrong("in eval mode, whatever the model was", "caller-changed", clause="common.caller-modes")
def always_eval(model):
    return create_feature_extractor(model, NODES).eval()


@wrong("tried out first", "caller-changed", clause="common.caller-values")
def tried_out(model):
    extractor = create_feature_extractor(model, NODES)
    extractor(torch.randn(2, 3, 32, 32, dtype=next(model.parameters()).dtype))
    return extractor


@wrong("the classifier taken off", "caller-changed", clause="common.caller-submodules")
def beheaded(model):
    model.fc = nn.Identity()
    model.avgpool = nn.Identity()
    return create_feature_extractor(model, NODES)


@wrong("hooks around the whole model", "not-torchvision", clause="extractor")
def hooks(model):
    class Hooked(nn.Module):
        def __init__(self):
            super().__init__()
            self.model, self.found = copy.deepcopy(model), {}
            for stage, key in NODES.items():
                getattr(self.model, stage).register_forward_hook(partial(self.keep, key))

        def keep(self, key, module, args, result):
            self.found[key] = result

        def forward(self, x):
            self.model(x)
            return dict(self.found)

    return Hooked()


@wrong("an edit without recompile", "stale-code", clause="common.recompiled")
def stale(model):
    extractor = create_feature_extractor(model, ["layer3", "layer4"])
    output = next(iter(reversed(extractor.graph.nodes)))
    found = output.args[0]
    output.args = ({new: found[old] for old, new in NODES.items()},)
    return extractor


@wrong("another parameter name", "lost-signature", clause="common.signature")
def renamed_parameter(model):
    extractor = create_feature_extractor(model, NODES)

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = extractor

        def forward(self, images):
            return self.body(images)

    return fx.symbolic_trace(Outer())


@wrong(
    "an extractor is thrown away, and a graph asks the whole model twice",
    "unknown-target",
    clause="extractor",
)
def in_a_graph_twice(model):
    create_feature_extractor(model, NODES)
    whole, graph = hooks(model), fx.Graph()
    x = graph.placeholder("x")

    def c4(x):
        return whole(x)["C4"]

    def c5(x):
        return whole(x)["C5"]

    graph.output({"C4": graph.call_function(c4, (x,)), "C5": graph.call_function(c5, (x,))})
    return fx.GraphModule(nn.Module(), graph)


@wrong("an extractor is made and thrown away", "not-torchvision", clause="extractor")
def thrown_away(model):
    create_feature_extractor(model, NODES)
    return hooks(model)


TEXTS_ARE_CLEAN = "its one tool is watched when it runs, and not looked for in texts"


DECIDES_NOTHING = [
    (
        GRAPH + r"modules\[\]\.(params|buffers)(\..*)?",
        "layers that are kept for their effect, or for the other mode; no value of theirs is read",
    ),
]
"""Places in an outcome that decide no points, with the reason."""
