"""Answers for `source_of`."""

from __future__ import annotations

import inspect
import os
import re
import sys
import traceback

import torch
from torch import fx

from tests.exercises import right, wrong

# ------------------------------------------------------------------ parts

FOLDER = os.path.dirname(torch.__file__) + os.sep
CALLS = ("call_function", "call_method", "call_module")


def of_torch(frame):
    return frame.f_code.co_filename.startswith(FOLDER)


def place_of(frame):
    return frame.f_code.co_filename, frame.f_lineno


def frames_from(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def inner(frames):
    return next(iter(frames))


def finder(
    *,
    skip=of_torch,
    own=True,
    pick=inner,
    place=place_of,
    kinds=CALLS,
    gives=lambda found, graph: found,
):
    """A right answer in parts, each of which can be replaced by a faulty one."""

    def source_of(model):
        found = {}

        class Sources(fx.Tracer):
            def create_node(self, kind, *args, **kwargs):
                node = super().create_node(kind, *args, **kwargs)
                if kind in kinds:
                    mine = Sources.create_node.__code__
                    frames = [
                        frame
                        for frame in frames_from(sys._getframe())
                        if not skip(frame) and not (own and frame.f_code is mine)
                    ]
                    found[node.name] = place(pick(frames))
                return node

        graph = Sources().trace(model)
        return gives(found, graph)

    return source_of


# ------------------------------------------------------------------ right

right("frames, from create_node outwards")(finder())


@right("traceback.extract_stack in create_node", debrief=True)
def extracted(model):
    found = {}

    class Sources(fx.Tracer):
        def create_node(self, kind, *args, **kwargs):
            node = super().create_node(kind, *args, **kwargs)
            if kind in CALLS:
                # The last entry is this very method, which calls no line of the model.
                for entry in reversed(traceback.extract_stack()[:-1]):
                    if not entry.filename.startswith(FOLDER):
                        found[node.name] = entry.filename, entry.lineno
                        break
            return node

    Sources().trace(model)
    return found


@right("record_stack_traces, read line by line")
def from_text(model):
    class Recording(fx.Tracer):
        record_stack_traces = True

    def innermost(node):
        places = re.findall(r'^ *File "(.*)", line (\d+)', node.stack_trace, re.M)
        return [(file, int(line)) for file, line in places if not file.startswith(FOLDER)][-1]

    graph = Recording().trace(model)
    return {node.name: innermost(node) for node in graph.nodes if node.op in CALLS}


@right("by the names of modules, in meta")
def in_meta(model):
    def of_package(frame):
        return frame.f_globals.get("__name__", "").partition(".")[0] == "torch"

    class Noting(fx.Tracer):
        def create_node(self, *args, **kwargs):
            node = super().create_node(*args, **kwargs)
            frame = sys._getframe(1)
            while of_package(frame):
                frame = frame.f_back
            node.meta["place"] = (frame.f_code.co_filename, frame.f_lineno)
            return node

    graph = Noting().trace(model)
    return {n.name: n.meta["place"] for n in graph.nodes if n.op in CALLS}


@right("inspect.stack, and self is the tracer")
def inspected(model):
    class Sources(fx.Tracer):
        def __init__(self):
            super().__init__()
            self.places = []

        def create_node(self, kind, *args, **kwargs):
            node = super().create_node(kind, *args, **kwargs)
            if kind.startswith("call_"):
                for row in inspect.stack(context=0):
                    torchs = row.filename.startswith(FOLDER)
                    if not torchs and row.frame.f_locals.get("self") is not self:
                        self.places.append((node.name, (row.filename, row.lineno)))
                        break
            return node

    tracer = Sources()
    tracer.trace(model)
    return dict(tracer.places)


# ------------------------------------------------------------------ wrong

wrong("the outermost line of the model", "wrong-place", clause="innermost")(
    finder(
        pick=lambda frames: next(
            f for f in reversed(frames) if f.f_code.co_name in ("forward", "_forward_impl")
        )
    )
)
wrong("torchvision is taken for torch", "wrong-place", clause="other-packages")(
    finder(skip=lambda frame: "torch" in frame.f_code.co_filename)
)
wrong("functions named as this one are left out", "wrong-place", clause="helpers")(
    finder(skip=lambda frame: of_torch(frame) or frame.f_code.co_qualname.startswith("source_of"))
)
wrong("the tracer's own line", "wrong-place", clause="tracer")(finder(own=False))


@wrong("only the last frame of the tracer is left out", "wrong-place", clause="tracer-further-out")
def last_only(model):
    found = {}

    class Sources(fx.Tracer):
        def create_proxy(self, kind, *args, **kwargs):
            proxy = super().create_proxy(kind, *args, **kwargs)
            if kind in CALLS:
                frames = (f for f in frames_from(sys._getframe(1)) if not of_torch(f))
                found[proxy.node.name] = place_of(next(frames))
            return proxy

    Sources().trace(model)
    return found


@right("frames, where a Proxy is made")
def where_a_proxy_is_made(model):
    found = {}

    class Sources(fx.Tracer):
        def create_proxy(self, kind, *args, **kwargs):
            proxy = super().create_proxy(kind, *args, **kwargs)
            if kind in CALLS:
                mine = Sources.create_proxy.__code__
                frames = (f for f in frames_from(sys._getframe(1)) if f.f_code is not mine)
                found[proxy.node.name] = place_of(next(f for f in frames if not of_torch(f)))
            return proxy

    Sources().trace(model)
    return found


wrong("the tracer's own file is left out", "wrong-place", clause="same-file")(
    finder(skip=lambda frame: of_torch(frame) or frame.f_code.co_filename == __file__)
)
wrong("only FX is left out, not the rest of torch", "wrong-place", clause="torch")(
    finder(skip=lambda frame: frame.f_code.co_filename.startswith(FOLDER + "fx"))
)
wrong("the line of def", "wrong-place", clause="line")(
    finder(place=lambda frame: (frame.f_code.co_filename, frame.f_code.co_firstlineno))
)
wrong("the name of the file alone", "wrong-place", clause="file")(
    finder(place=lambda f: (os.path.basename(f.f_code.co_filename), f.f_lineno))
)
wrong("a path is made of the file", "wrong-place", clause="no-path")(
    finder(place=lambda f: (os.path.abspath(f.f_code.co_filename), f.f_lineno))
)
wrong("functions only", "missing-node", clause="all-calls")(finder(kinds=("call_function",)))
wrong("all nodes", "extra-node", clause="calls-only")(
    finder(kinds=(*CALLS, "placeholder", "get_attr", "output"))
)
wrong("a list for a place", "wrong-kind", clause="tuples")(
    finder(place=lambda frame: list(place_of(frame)))
)


wrong("sorted by line", "wrong-order", clause="order")(
    finder(
        gives=lambda found, graph: dict(sorted(found.items(), key=lambda row: (row[1][1], row[0])))
    )  # noqa: E501
)


class Lasting(fx.Tracer):
    found: dict = {}

    def create_node(self, kind, *args, **kwargs):
        node = super().create_node(kind, *args, **kwargs)
        if kind in CALLS:
            frames = (f for f in frames_from(sys._getframe(1)) if not of_torch(f))
            self.found[node.name] = place_of(next(frames))
        return node


@wrong("one dictionary for all traces", "extra-node", clause="traces")
def lasting(model):
    Lasting().trace(model)
    return dict(Lasting.found)


@wrong("the model is put into eval mode", "caller-changed", clause="common.caller-modes")
def put_into_eval(model):
    found = {}

    class Sources(fx.Tracer):
        def create_node(self, kind, *args, **kwargs):
            node = super().create_node(kind, *args, **kwargs)
            if kind in CALLS:
                frames = (f for f in frames_from(sys._getframe(1)) if not of_torch(f))
                found[node.name] = place_of(next(frames))
            return node

    Sources().trace(model.eval())
    return found


_OTHERS = "a random model has no helpers, and nothing else from other files"

BEYOND = {
    "the model is put into eval mode": "a random model is in eval mode",
    "the name of the file alone": "the file of a random model is no path",
    "torchvision is taken for torch": _OTHERS,
    "the tracer's own file is left out": _OTHERS,
}
