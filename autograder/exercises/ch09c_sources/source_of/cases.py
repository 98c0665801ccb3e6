"""Exercise 9c.1: the line that wrote a node."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import nn

from autograder.authoring.question import COMMON, Aspect, Case, Exercise, RandomModels, Vocabulary
from autograder.exercises.ch09c_sources.source_of import models
from autograder.models.tracing import SineChain

HINTS = (
    "When a node is made, the line that asks for it is still running: it is on the call stack. "
    "Which method of a `Tracer` is called for each node, whatever its opcode?",
    "`sys._getframe()` is the frame that runs now, `frame.f_back` the one that called it. "
    "`frame.f_code.co_filename` is the file, `frame.f_lineno` the line. The files of torch are "
    "all in one folder, `torch.__path__[0]`. Your tracer's own frames have code that you know: "
    "`Sources.create_node.__code__`.",
    "```python\n"
    "class Sources(fx.Tracer):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.found = {}\n\n"
    "    def create_node(self, kind, *args, **kwargs):\n"
    "        node = super().create_node(kind, *args, **kwargs)\n"
    "        if ...:                        # calls only\n"
    "            frame = ...\n"
    "            while ...:                 # torch's, or this tracer's\n"
    "                frame = frame.f_back\n"
    "            self.found[node.name] = ...\n"
    "        return node\n"
    "```",
)


def written(
    name: str,
    aspect: str,
    make: Callable[[], nn.Module],
    *earlier: Callable[[], nn.Module],
    network: bool = False,
    training: bool = False,
) -> Case:
    """A case: a model, and models for earlier calls; see `models.Written`."""
    return Case(name, aspect, models.Written(make, earlier, network, training))


EXERCISE = Exercise(
    number=1,
    title="The line that wrote a node",
    stars=2,
    minutes=15,
    points=4,
    kind="repeated_calls",
    aspects=(
        Aspect("task", 2, "file and line of each call"),
        Aspect("inside", 1, "the innermost line: helpers, parts, other packages"),
        Aspect("torch", 1, "torch's own lines, and the tracer's, do not count"),
        Aspect("traces", 1, "two traces know nothing of each other"),
    ),
    cases=(
        written("functions, methods, modules", "task", models.Lines),
        written("code that is in no file", "task", models.in_a_cell),
        written("helpers and parts", "inside", models.Helped),
        written("blocks of torchvision", "inside", models.Vision, network=True),
        written("another folder called torch", "torch", models.in_a_folder_called_torch),
        written("a Sequential", "torch", models.InSequence, training=True),
        written("a subclass of a layer", "torch", models.Subclassed),
        written("code in your own file", "torch", models.Borrowed),
        written("an attribute that is used later", "torch", models.Shapes),
        written("one model after another", "traces", models.Other, models.Lines, models.Other),
        written(
            "after a shorter one of its class",
            "traces",
            SineChain,
            partial(SineChain, 2),
        ),
    ),
    fine_print={
        "The file is the one that the code object has.": (
            "code that is in no file",
            "redraw: code that another file wrote",
        ),
        (
            "Helpers, lambdas and other packages such as torchvision count like the model's own "
            "lines."
        ): ("helpers and parts", "blocks of torchvision", "redraw: names of helpers"),
    },
    hints=HINTS,
    random=RandomModels(Vocabulary(COMMON, traced=False), models.not_a_trace),
)
