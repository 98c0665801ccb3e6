"""The answer key of `WitnessSharedConv`: a safe fusion, and one that ignores other readers."""

from __future__ import annotations

from torch import fx, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from autograder import suspects
from autograder.authoring.key import CONV_CLASSES, NORM_CLASSES, Fight, duel_key
from autograder.exercises.ch09b_duels.right_passes import as_it_is, exchange

_PAIRS = dict(zip(CONV_CLASSES, NORM_CLASSES, strict=True))


def where_nobody_else_reads(gm: fx.GraphModule) -> fx.GraphModule:
    """Fuse a convolution that is called once and shares no parameter."""
    calls = {n: gm.get_submodule(n.target) for n in gm.graph.nodes if n.op == "call_module"}
    if any(node.op == "get_attr" for node in gm.graph.nodes):
        return gm  # the attribute may be a convolution's weight
    for node, norm in list(calls.items()):
        before = node.args[0] if node.args else None
        if not isinstance(before, fx.Node) or not isinstance(
            conv := calls.get(before), CONV_CLASSES
        ):
            continue
        if not isinstance(norm, NORM_CLASSES) or norm.running_mean is None:
            continue
        fits = _PAIRS.get(type(conv)) is type(norm)
        if fits and len(before.users) == 1 and _is_alone(conv, list(calls.values())):
            gm.add_submodule(str(before.target), fuse_conv_bn_eval(conv, norm))
            exchange(node, before)
    return gm


def _is_alone(conv: nn.Module, called: list[nn.Module]) -> bool:
    """Whether no other call uses this layer or one of its parameters."""
    own = {id(part) for part in conv.parameters()}
    users = [one for one in called if one is conv or own & {id(p) for p in one.parameters()}]
    return len(users) == 1


KEY = duel_key(
    Fight(
        suspect=suspects.shared_conv,
        name="shared_conv",
        task="fuse each BatchNorm into the convolution before it",
        right=(as_it_is, where_nobody_else_reads),
        keeps_meaning=True,
        limit=4,
        record=2,
        try_this="Has the suspect fused anything in your trace? If it has, who else reads the "
        "weights that it has changed? And does your BatchNorm have other statistics than zeros and "
        "ones?",
    )
)
