"""The answer key of `meta_lies`: the nodes whose `val` contradicts their inputs."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterable
from typing import Any

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import statically_known_true

from autograder.authoring.key import (
    AnswerKey,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    Stage,
    caller_untouched,
    kind_of,
    rule,
    show,
    unrecorded,
)
from autograder.exercises.ch12_passes.keys import driving, said_in
from autograder.exercises.ch12b_metadata.keys import modes_are_left
from autograder.exercises.ch12b_metadata.models import nothing_logged


@rule("a list of names", Stage.KIND)
def a_list_of_names(evidence: Evidence) -> Iterable[Finding]:
    """The answer must return a list of strings."""
    got, want = said_in(evidence)
    if got.keys() != want.keys():
        yield unrecorded(evidence)
        return
    lies = got["lies"]
    items = lies.get("list") if isinstance(lies, dict) else None
    odd = [item for item in items or () if not isinstance(item, str)]
    if items is None or odd:
        what = f"a list with {kind_of(odd[0])}" if odd else kind_of(lies)
        yield evidence.finding(
            "returned-none" if lies is None else "wrong-kind",
            f"{evidence.you} returned {what}, not a list of names.",
            "`node.name` is a text. Is the list returned on every path?",
        )


@rule("no guard", Stage.CALLER)
def no_guard(evidence: Evidence) -> Iterable[Finding]:
    """The answer must add no guards on symbolic sizes."""
    got, want = (each["known"]["list"] for each in said_in(evidence))
    if got != want:
        new = [text for text in got if text not in want]
        yield evidence.finding(
            "guard-added",
            f"Since your function ran, the sizes have to fulfil {show(new[0])}."
            if new
            else "Your function took away a guard that was there.",
            "Which line asks whether two sizes are equal? `==` in a condition does, and so may an "
            "operator that is run. What does the `ShapeEnv` offer for that?",
        )


@rule("meta is unchanged", Stage.CALLER)
def meta_is_unchanged(evidence: Evidence) -> Iterable[Finding]:
    """The answer must not change any entry of `meta`."""
    got, want = said_in(evidence)
    for key, what in (("vals", "`val`"), ("notes", "`meta`")):
        pairs = zip(got[key]["list"], want[key]["list"], strict=True)
        for i, (ours, theirs) in enumerate(pairs):
            if ours != theirs:
                name = str(want["vals"]["list"][i]["tuple"][0])
                yield evidence.finding(
                    "meta-changed",
                    f"The {what} of `{name}` is not what it was before.",
                    "Your function looks for lies. It corrects nothing.",
                    (name,),
                )
                return


@rule("the right names", Stage.RESULT)
def the_right_names(evidence: Evidence) -> Iterable[Finding]:
    """The names must be exactly the nodes that contradict their inputs, in graph order."""
    got, want = (each["lies"]["list"] for each in said_in(evidence))
    gm = evidence.trial.args[0].gm
    said = judged(gm)
    for name, why in said.items():
        if name in want and name not in got:
            yield evidence.finding(
                "missed",
                f"`{name}` is not in your list. {why}",
                _LOOK_WITHOUT if why == _WITHOUT else _LOOK_MISSED,
                (name,),
            )
            return
    nodes = {node.name: node for node in gm.graph.nodes}
    extra = next((str(name) for name in got if name not in want), None)
    if extra is not None:
        yield evidence.finding(
            "too-many",
            f"`{extra}` is in your list. {_why_not(nodes.get(extra), said)}",
            "Each node is judged by what its inputs say, right or wrong. What did your function "
            "compare it with, or did its run raise? A call runs in the mode of its inputs' fake "
            "tensors, and the path of an attribute may have dots.",
            (extra,),
        )
    elif len(got) != len(want):
        twice = next(str(name) for name in got if got.count(name) > 1)
        yield evidence.finding(
            "twice", f"`{twice}` is in your list more than once.",
            "How often can your function append one name?", (twice,),
        )  # fmt: skip
    elif got != want:
        yield evidence.finding(
            "wrong-order",
            f"Your list is {show(got_list(got))}; in the order of the graph it is "
            f"{show(got_list(want))}.",
            "In which order do you go through the nodes?",
        )


def got_list(names: list[Encoded]) -> Encoded:
    """Names as one value, for display."""
    return {"list": names}


_WITHOUT = "It has no `val`."
_LOOK_WITHOUT = "A call or an attribute without a `val` is listed, whatever it reads."
_LOOK_MISSED = (
    "Take this node alone: run what it calls on the `val`s of what it reads, and "
    "compare. Where does your function stop before that?"
)


def _why_not(node: fx.Node | None, said: dict[str, str]) -> str:
    if node is None:
        return "No node has this name."
    if node.op in ("placeholder", "output"):
        return f"It is a node of the kind `{node.op}`, and those are never listed."
    return said.get(node.name, "It says what its inputs' `val`s lead to.")


# ------------------------------------------------------------------ the key's own check


def judged(gm: fx.GraphModule) -> dict[str, str]:
    """For each call and attribute: its fault, or the reason why it has none, if there is one."""
    return {
        node.name: why
        for node in gm.graph.nodes
        if node.op not in ("placeholder", "output") and (why := _judge(node, gm)[1])
    }


def lies_of(gm: fx.GraphModule) -> list[str]:
    """The names of the nodes that contradict their inputs."""
    return [
        node.name
        for node in gm.graph.nodes
        if node.op not in ("placeholder", "output") and _judge(node, gm)[0]
    ]


def _judge(node: fx.Node, gm: fx.GraphModule) -> tuple[bool, str]:
    """Whether a node's `val` is wrong, and a sentence about it."""
    if "val" not in node.meta:
        return True, _WITHOUT
    said = node.meta["val"]
    if node.op == "get_attr":
        real = operator.attrgetter(str(node.target))(gm)
        text = f"It says {words(said)}, and the attribute is {words(real)}."
        return not _same(said, real), text
    unknown = [read.name for read in node.all_input_nodes if "val" not in read.meta]
    if unknown:
        return False, f"It reads `{unknown[0]}`, which has no `val`: nobody can judge it."
    try:
        found = _run(node, gm)
    except Exception as error:
        first = str(error).splitlines()[0] if str(error) else ""
        return True, f"On what its inputs say, it cannot run at all: {first[:120]}"
    text = f"It says {words(said)}. On what its inputs say, it gives {words(found)}."
    return not _same(said, found), text


def _run(node: fx.Node, gm: fx.GraphModule) -> Any:
    """The result of a call on its inputs' `val`s, without adding guards."""
    modes = {id(mode): mode for each in gm.graph.nodes for mode in _modes(each.meta.get("val"))}
    args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    with contextlib.ExitStack() as stack:
        stack.enter_context(nothing_logged())
        for mode in modes.values():
            stack.enter_context(mode)
            if mode.shape_env is not None:
                stack.enter_context(mode.shape_env.suppress_guards())
        assert callable(node.target)
        return node.target(*args, **kwargs)


def _modes(value: Any) -> Iterable[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _modes(item)
    elif hasattr(value, "fake_mode"):
        yield value.fake_mode


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def _same(said: Any, found: Any) -> bool:
    """Whether both have the same number of results, with the same shapes and dtypes."""
    ours, theirs = _leaves(said), _leaves(found)
    if not any(isinstance(leaf, torch.Tensor) for leaf in (*ours, *theirs)):
        return True
    return len(ours) == len(theirs) and all(map(_alike, ours, theirs))


def _alike(one: Any, other: Any) -> bool:
    if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
        return isinstance(one, torch.Tensor) is isinstance(other, torch.Tensor)
    if one.dtype != other.dtype or one.dim() != other.dim():
        return False
    sizes = zip(one.shape, other.shape, strict=True)
    return all(statically_known_true(a == b) for a, b in sizes)


def words(value: Any) -> str:
    """A value as text: dtype and shape for tensors."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {[*value.shape]}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(words, value))})"
    plain = value is None or isinstance(value, (int, float, str))
    return show(Encoder().encode(value), 60) if plain else str(value)[:60]


KEY = AnswerKey(
    (
        a_list_of_names.because("a value of another kind differs, too: this names the kind"),
        caller_untouched,
        modes_are_left,
        no_guard,
        meta_is_unchanged,
        the_right_names,
    ),
    driving(lies_of),
    oracle_only=True,
)
