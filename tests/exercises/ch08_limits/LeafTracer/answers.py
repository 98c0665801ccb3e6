"""Answers for `LeafTracer`."""

from __future__ import annotations

import functools
import inspect

from torch import fx, nn

from tests.exercises import right, wrong


@right("both kept, one method")
class OneMethod(fx.Tracer):
    def __init__(self, leaf_types=(), leaf_names=()):
        super().__init__()
        self.leaf_types = tuple(leaf_types)
        self.leaf_names = frozenset(leaf_names)

    def is_leaf_module(self, m, module_qualified_name):
        if isinstance(m, self.leaf_types) or module_qualified_name in self.leaf_names:
            return True
        return super().is_leaf_module(m, module_qualified_name)


@right("the node is made in call_module", debrief=True)
class InCallModule(fx.Tracer):
    def __init__(self, leaf_types=(), leaf_names=()):
        super().__init__()
        self.leaf_types, self.leaf_names = leaf_types, leaf_names

    def call_module(self, m, forward, args, kwargs):
        path = self.path_of_module(m)
        if path in self.leaf_names or any(isinstance(m, kind) for kind in self.leaf_types):
            return self.create_proxy("call_module", path, args, kwargs)
        return super().call_module(m, forward, args, kwargs)


@right("the modules are found before the trace begins")
class FoundBefore(fx.Tracer):
    def __init__(self, leaf_types=(), leaf_names=()):
        super().__init__()
        self.leaf_types, self.leaf_names = leaf_types, leaf_names
        self.leaves = []

    def trace(self, root, concrete_args=None):
        modules = root.named_modules() if isinstance(root, nn.Module) else ()
        self.leaves = [
            m for path, m in modules if path in self.leaf_names or isinstance(m, self.leaf_types)
        ]
        return super().trace(root, concrete_args)

    def is_leaf_module(self, m, module_qualified_name):
        known = any(m is leaf for leaf in self.leaves)
        return known or super().is_leaf_module(m, module_qualified_name)


@right("a list of questions")
class Questions(fx.Tracer):
    def __init__(self, leaf_types=(), leaf_names=()):
        super().__init__()
        self.questions = [
            lambda m, name: bool(set(type(m).__mro__) & set(leaf_types)),
            lambda m, name: any(name == given for given in leaf_names),
            super().is_leaf_module,
        ]

    def is_leaf_module(self, m, module_qualified_name):
        return any(ask(m, module_qualified_name) for ask in self.questions)


@right("a method that is made for each tracer")
class MethodOfItsOwn(fx.Tracer):
    def __init__(self, leaf_types=(), leaf_names=(), **options):
        super().__init__(**options)
        usual = self.is_leaf_module

        @functools.wraps(usual)
        def is_leaf_module(m, module_qualified_name):
            match m:
                case _ if module_qualified_name in leaf_names:
                    return True
                case _:
                    return isinstance(m, leaf_types) or usual(m, module_qualified_name)

        self.is_leaf_module = is_leaf_module


# ------------------------------------------------------------------ wrong


def tracer(is_leaf):
    """A right tracer except for one answer to one question."""

    class Made(fx.Tracer):
        def __init__(self, leaf_types=(), leaf_names=()):
            super().__init__()
            self.leaf_types, self.leaf_names = tuple(leaf_types), tuple(leaf_names)

        def is_leaf_module(self, m, module_qualified_name):
            usual = super().is_leaf_module(m, module_qualified_name)
            return is_leaf(m, module_qualified_name, self.leaf_types, self.leaf_names, usual)

    Made.__module__ = __name__
    return Made


def register(style, finding, clause, is_leaf):
    wrong(style, finding, clause=clause)(tracer(is_leaf))


register(
    "default leaves forgotten", "opened-leaf", "defaults-kept",
    lambda m, name, types, names, usual: isinstance(m, types) or name in names,
)  # fmt: skip
register(
    "type(m) in leaf_types", "opened-leaf", "subclasses",
    lambda m, name, types, names, usual: type(m) in types or name in names or usual,
)  # fmt: skip
register(
    "names forgotten", "opened-leaf", "names",
    lambda m, name, types, names, usual: isinstance(m, types) or usual,
)  # fmt: skip
register(
    "types forgotten", "opened-leaf", "types",
    lambda m, name, types, names, usual: name in names or usual,
)  # fmt: skip
register(
    "the last part of a name", "extra-leaf", "whole-names",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or usual or any(name.endswith(each) for each in names)
    ),
)  # fmt: skip
register(
    "only the last part compared", "opened-leaf", "whole-names",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or usual or name.rpartition(".")[2] in names
    ),
)  # fmt: skip
register(
    "Sequential is always opened", "opened-leaf", "types",
    lambda m, name, types, names, usual: (
        (isinstance(m, types) or name in names or usual) and not isinstance(m, nn.Sequential)
    ),
)  # fmt: skip
register(
    "Sequential becomes a leaf", "extra-leaf", "others-traced",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or name in names or m.__module__.startswith("torch.nn")
    ),
)  # fmt: skip


@wrong("the types by keyword alone", "crashed", clause="positions")
class ByKeywordAlone(OneMethod):
    def __init__(self, *, leaf_types=(), leaf_names=()):
        super().__init__(leaf_types, leaf_names)


@wrong("the latest tracer's arguments", "opened-leaf", clause="independent")
class Latest(fx.Tracer):
    def __init__(self, leaf_types=(), leaf_names=()):
        super().__init__()
        type(self).types, type(self).names = tuple(leaf_types), tuple(leaf_names)

    def is_leaf_module(self, m, module_qualified_name):
        mine = isinstance(m, self.types) or module_qualified_name in self.names
        return mine or super().is_leaf_module(m, module_qualified_name)


@wrong("names are crossed off", "opened-leaf", clause="reusable")
class CrossedOff(fx.Tracer):
    def __init__(self, leaf_types=(), leaf_names=()):
        super().__init__()
        self.leaf_types, self.left = tuple(leaf_types), set(leaf_names)

    def is_leaf_module(self, m, module_qualified_name):
        if module_qualified_name in self.left:
            self.left.discard(module_qualified_name)
            return True
        return isinstance(m, self.leaf_types) or super().is_leaf_module(m, module_qualified_name)


@wrong("the names are required", "crashed", clause="both-optional")
class NamesRequired(fx.Tracer):
    def __init__(self, leaf_types, leaf_names):
        super().__init__()
        self.leaf_types, self.leaf_names = tuple(leaf_types), leaf_names

    def is_leaf_module(self, m, module_qualified_name):
        mine = isinstance(m, self.leaf_types) or module_qualified_name in self.leaf_names
        return mine or super().is_leaf_module(m, module_qualified_name)


@wrong("a root of a leaf type is called", "unknown-module", clause="root")
class RootCalled(OneMethod):
    def trace(self, root, concrete_args=None):
        if isinstance(root, self.leaf_types):
            root = nn.Sequential(root)
        return super().trace(root, concrete_args)


@wrong("keyword arguments of a leaf are lost", "wrong-graph", clause="arguments")
class KeywordsLost(OneMethod):
    def call_module(self, m, forward, args, kwargs):
        path = self.path_of_module(m)
        if isinstance(m, self.leaf_types) or path in self.leaf_names:
            return self.create_proxy("call_module", path, (*args, *kwargs.values()), {})
        return super().call_module(m, forward, args, kwargs)


@wrong("leaves are marked on the model", "caller-changed", clause="common.caller-attributes")
class Marked(OneMethod):
    def is_leaf_module(self, m, module_qualified_name):
        m.is_leaf = super().is_leaf_module(m, module_qualified_name)
        return m.is_leaf


def is_outside_the_task(network):
    """Whether a module treats a list differently from a leaf's result, which is a Proxy."""
    forwards = {type(module).forward for module in network.modules()}
    return any("isinstance(x, list)" in inspect.getsource(forward) for forward in forwards)
