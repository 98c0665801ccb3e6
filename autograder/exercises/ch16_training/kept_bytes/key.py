"""The answer key of `kept_bytes`: a run on real tensors, whose addresses are compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import fx

from autograder.authoring.key import (
    AnswerKey,
    Encoded,
    Encoder,
    Evidence,
    Finding,
    Reference,
    Stage,
    Trial,
    caller_untouched,
    copy_of,
    kind_of,
    memory_numbers,
    returns,
    rule,
    show,
)
from autograder.exercises.ch16_training.keys import is_backward


class _Kept(fx.Interpreter):
    """Runs a step, and keeps all values, so that no address is used twice."""

    def __init__(self, gm: fx.GraphModule) -> None:
        super().__init__(gm, garbage_collect_values=False)
        self.first: dict[int, tuple[fx.Node, int]] = {}
        self.memory: dict[fx.Node, int] = {}

    def run_node(self, n: fx.Node) -> Any:
        """Run a node, and note the address of its value."""
        value = super().run_node(n)
        if isinstance(value, torch.Tensor) and n.op != "output":
            storage = value.untyped_storage()
            if storage.nbytes():
                self.memory[n] = storage.data_ptr()
                self.first.setdefault(storage.data_ptr(), (n, storage.nbytes()))
        return value

    def kept(self) -> dict[str, int]:
        """The bytes of each memory that the backward pass reads, by the name of its first node."""
        read = {
            self.memory[each]
            for node in self.memory
            if is_backward(node)
            for each in node.all_input_nodes
            if each in self.memory
        }
        return {
            node.name: size
            for address, (node, size) in self.first.items()
            if address in read and node.op == "call_function" and not is_backward(node)
        }


def kept_by_running(trial: Trial) -> Reference:
    """The bytes that are kept, from a run on real tensors."""
    watch = _Kept(trial.args[0])
    with torch.no_grad():
        watch.run(*copy_of(trial.inputs[0]))
    return Reference(Encoder().encode(watch.kept()))


@rule("names and numbers", Stage.KIND)
def names_and_numbers(evidence: Evidence) -> Iterable[Finding]:
    """The keys must be names, and the values whole numbers."""
    value = evidence.outcome.value
    if not isinstance(value, dict) or "dict" not in value:
        return  # `returns` reports it
    for key, size in value["dict"]:
        if type(key) is not str or type(size) is not int:
            wrong = key if type(key) is not str else size
            what = "key" if type(key) is not str else "value"
            yield evidence.finding(
                "wrong-kind",
                f"{evidence.you} returned a dictionary with {kind_of(wrong)} as a {what}.",
                "Each key is the name of a node, and each value a number of bytes.",
            )
            return


@rule("right bytes", Stage.RESULT)
def right_bytes(evidence: Evidence) -> Iterable[Finding]:
    """The dictionary must have the first node of each kept memory, with all bytes, in order."""
    values: tuple[Encoded, Encoded] = evidence.value, evidence.reference.value
    got, want = (dict(map(tuple, each["dict"])) for each in values)
    extra = next((name for name in got if name not in want), None)
    missing = next((name for name in want if name not in got), None)
    if extra is not None:
        text, advice = _extra(evidence, extra, want)
        yield evidence.finding("too-many", text, advice, (extra,))
    elif missing is not None:
        yield evidence.finding(
            "missing",
            f"Your result lacks `{missing}`. It makes memory that a backward call reads, perhaps "
            "through a view.",
            "Which marked call reads this memory, and where in its arguments?",
            (missing,),
        )
    elif wrong := next((name for name in want if got[name] != want[name]), None):
        yield evidence.finding(
            "wrong-bytes",
            f"For `{wrong}` your result has {got[wrong]} bytes. Its memory has {want[wrong]}.",
            "The whole memory stays, even if a view needs only a part of it, or repeats it. And "
            "how many bytes does one number of this dtype have?",
            (wrong,),
        )
    elif [*got] != [*want]:
        yield evidence.finding(
            "wrong-order",
            f"Your names are in the order {show({'list': [*got]})}.",
            f"In the graph, the order is {show({'list': [*want]})}.",
        )


def _extra(evidence: Evidence, name: str, want: dict[str, int]) -> tuple[str, str]:
    """The words about a name that does not belong into the result."""
    nodes = {node.name: node for node in evidence.trial.args[0].graph.nodes}
    if name not in nodes:
        return f"Your result has `{name}`, and no node has this name.", "What is a node's name?"
    numbers = dict(zip(nodes, memory_numbers(nodes.values()), strict=True))
    first = next(
        other for other in nodes if set(numbers[other]) & set(numbers[name]) or other == name
    )
    node = nodes[first]
    if node.op in ("placeholder", "get_attr"):
        text = (
            f"Your result has `{name}`, whose memory is that of `{first}`, which the step is given."
        )
        return text, "Memory that was there before the step is not kept by it."
    if first != name and first in want:
        text = f"Your result has `{name}`. The first node with this memory is `{first}`."
        return text, "Views, and calls in place, make no memory. Who had it first?"
    if is_backward(node):
        return (
            f"Your result has `{name}`, which a backward call makes.",
            "What is made and read after the forward pass need not wait for it.",
        )
    if not numbers[name] or not isinstance(node.meta.get("val"), torch.Tensor):
        return f"Your result has `{name}`, which is a tuple.", "Which nodes have its parts?"
    if not node.meta["val"].untyped_storage().nbytes():
        return f"Your result has `{name}`, whose memory has no bytes.", "What must be kept of it?"
    return (
        f"Your result has `{name}`, and no backward call reads its memory.",
        "Only what marked calls read is kept for them. Who reads this node?",
    )


READ_LATER = "the rule about bytes reads a dictionary, so this one says first that there is none"

KEY = AnswerKey(
    (
        returns("dict").because(READ_LATER),
        names_and_numbers.because(READ_LATER),
        caller_untouched,
        right_bytes,
    ),
    kept_by_running,
)
