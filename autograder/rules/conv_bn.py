"""The calls of a graph in words, for exercises that fold a BatchNorm into a convolution."""

from __future__ import annotations

from torch import nn

from autograder.core.graph_record import GraphRecord, classes_of, target_path
from autograder.core.graph_view import target_text

CONV_CLASSES = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
NORM_CLASSES = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
CONV_BN_CLASSES = {
    f"{cls.__module__}.{cls.__qualname__}": cls for cls in (*CONV_CLASSES, *NORM_CLASSES)
}
_FUNCTIONS = frozenset(
    f"torch.{space}conv{n}d" for n in (1, 2, 3) for space in ("", "nn.functional.")
)


def kind_of_class(cls: str) -> str:
    """A layer in words, by the qualified name of its class, for example "an `Identity`"."""
    name = cls.rpartition(".")[2]
    return f"{'an' if name[:1] in 'AEIOU' else 'a'} `{name}`"


def kinds_of_calls(data: GraphRecord) -> list[tuple[str, str]]:
    """The name of each call and its kind in words; a convolution may be a module or a function."""
    classes, found = classes_of(data), []
    for row in data["nodes"]:
        op, target = row["op"], row["target"]
        if op == "call_module":
            cls = classes.get(target_path(row), "")
            kind = kind_of_class(cls)
            if cls in CONV_BN_CLASSES:
                kind = "a convolution" if CONV_BN_CLASSES[cls] in CONV_CLASSES else "a BatchNorm"
        elif op == "call_function":
            text = target_text(target)
            kind = "a convolution" if text in _FUNCTIONS else f"`{text}`"
        elif op == "call_method":
            kind = f"`.{target}()`"
        else:
            continue
        found.append((row["name"], kind))
    return found
