"""Answers for `LeafTracer`."""

from __future__ import annotations

import functools
import inspect
import re

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
    "default leaves of torch.nn alone", "opened-leaf", "defaults-kept",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or name in names
        or (m.__module__.startswith("torch.nn") and not isinstance(m, nn.Sequential))
    ),
)  # fmt: skip
register(
    "default leaves of torch.nn.modules alone", "opened-leaf", "defaults-kept",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or name in names or (usual and "parametrize" not in m.__module__)
    ),
)  # fmt: skip
register(
    "the type or a parent of it", "opened-leaf", "subclasses",
    lambda m, name, types, names, usual: (
        not {type(m), *type(m).__bases__}.isdisjoint(types) or name in names or usual
    ),
)  # fmt: skip
register(
    "layers of PyTorch without children", "crashed", "defaults-kept",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or name in names or (usual and not [*m.children()])
    ),
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
    "the beginning of a name", "extra-leaf", "whole-names",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or usual or any(name.startswith(each) for each in names)
    ),
)  # fmt: skip
register(
    "names as regular expressions", "extra-leaf", "whole-names",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or usual or any(re.search(rf"\b{each}\b", name) for each in names)
    ),
)  # fmt: skip
register(
    "names as nodes have them", "extra-leaf", "whole-names",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or usual
        or name.replace(".", "_") in [each.replace(".", "_") for each in names]
    ),
)  # fmt: skip
register(
    "only the last part compared", "opened-leaf", "qualified-names",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or usual or name.rpartition(".")[2] in names
    ),
)  # fmt: skip
register(
    "both are needed", "opened-leaf", "",
    lambda m, name, types, names, usual: (isinstance(m, types) and name in names) or usual,
)  # fmt: skip
register(
    "Sequential is always opened", "opened-leaf", "sequential-as-type",
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
register(
    "subclasses of layers become leaves", "extra-leaf", "others-traced",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or name in names or usual or isinstance(m, nn.Linear)
    ),
)  # fmt: skip
register(
    "children of leaf types, too", "extra-leaf", "",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or name in names or usual
        or any(isinstance(child, types) for child in m.modules())
    ),
)  # fmt: skip
register(
    "the name of the class", "opened-leaf", "",
    lambda m, name, types, names, usual: (
        type(m).__name__ in [kind.__name__ for kind in types] or name in names or usual
    ),
)  # fmt: skip
register(
    "the default leaves unless something is given", "opened-leaf", "defaults-kept",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or name in names if types or names else usual
    ),
)  # fmt: skip
register(
    "what lies in a named block", "extra-leaf", "whole-names",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or usual or any(f"{name}.".startswith(f"{each}.") for each in names)
    ),
)  # fmt: skip
register(
    "names in small letters", "extra-leaf", "whole-names",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or usual or name.lower() in [each.lower() for each in names]
    ),
)  # fmt: skip
register(
    "names of all base classes", "extra-leaf", "types",
    lambda m, name, types, names, usual: (
        bool({kind.__name__ for kind in types} & {kind.__name__ for kind in type(m).__mro__})
        or name in names or usual
    ),
)  # fmt: skip
register(
    "base classes of the types, too", "extra-leaf", "types",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or name in names or usual
        or any(issubclass(kind, type(m)) for kind in types)
    ),
)  # fmt: skip
register(
    "whatever is of torch becomes a leaf", "extra-leaf", "others-traced",
    lambda m, name, types, names, usual: (
        isinstance(m, types) or name in names
        or (type(m).__module__.startswith("torch") and not isinstance(m, nn.Sequential))
    ),
)  # fmt: skip


@wrong("what lies in a block of a given type", "extra-leaf", clause="types")
class InATypedBlock(OneMethod):
    def is_leaf_module(self, m, module_qualified_name):
        parent = self.root.get_submodule(module_qualified_name.rpartition(".")[0])
        inside = parent is not self.root and isinstance(parent, self.leaf_types)
        return inside or super().is_leaf_module(m, module_qualified_name)


@wrong("leaves are put into eval mode", "caller-changed", clause="common.caller-modes")
class PutIntoEval(OneMethod):
    def is_leaf_module(self, m, module_qualified_name):
        leaf = super().is_leaf_module(m, module_qualified_name)
        return bool(m.eval()) if leaf else False


@wrong("the types by keyword alone", "crashed", clause="positions")
class ByKeywordAlone(OneMethod):
    def __init__(self, *, leaf_types=(), leaf_names=()):
        super().__init__(leaf_types, leaf_names)


@wrong("kept by the class", "extra-leaf", clause="independent")
class KeptByTheClass(fx.Tracer):
    types, names = [], []

    def __init__(self, leaf_types=(), leaf_names=()):
        super().__init__()
        self.types.extend(leaf_types)
        self.names.extend(leaf_names)

    def is_leaf_module(self, m, module_qualified_name):
        mine = isinstance(m, tuple(self.types)) or module_qualified_name in self.names
        return mine or super().is_leaf_module(m, module_qualified_name)


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


@wrong("one call of each leaf", "opened-leaf")
class OneCallOfEach(fx.Tracer):
    def __init__(self, leaf_types=(), leaf_names=()):
        super().__init__()
        self.leaf_types, self.leaf_names, self.met = tuple(leaf_types), leaf_names, []

    def trace(self, root, concrete_args=None):
        self.met = []
        return super().trace(root, concrete_args)

    def is_leaf_module(self, m, module_qualified_name):
        if isinstance(m, self.leaf_types) or module_qualified_name in self.leaf_names:
            first = module_qualified_name not in self.met
            self.met.append(module_qualified_name)
            return first
        return super().is_leaf_module(m, module_qualified_name)


@wrong("one call of each name", "opened-leaf", clause="names")
class OneCallOfEachName(CrossedOff):
    def trace(self, root, concrete_args=None):
        before = set(self.left)
        try:
            return super().trace(root, concrete_args)
        finally:
            self.left = before


@wrong("what was said of a name is remembered", "opened-leaf", clause="reusable")
class Remembered(OneMethod):
    def __init__(self, leaf_types=(), leaf_names=()):
        super().__init__(leaf_types, leaf_names)
        self.said = {}

    def is_leaf_module(self, m, module_qualified_name):
        if module_qualified_name not in self.said:
            self.said[module_qualified_name] = super().is_leaf_module(m, module_qualified_name)
        return self.said[module_qualified_name]


@wrong("names are looked up in the first model", "opened-leaf", clause="reusable")
class FoundInTheFirst(OneMethod):
    named = None

    def trace(self, root, concrete_args=None):
        if self.named is None:
            self.named = [m for name, m in root.named_modules() if name in self.leaf_names]
        self.leaf_names = ()
        return super().trace(root, concrete_args)

    def is_leaf_module(self, m, module_qualified_name):
        named = any(m is leaf for leaf in self.named)
        return named or super().is_leaf_module(m, module_qualified_name)


@wrong("changes in place are refused", "crashed", clause="others-traced")
class NothingInPlace(OneMethod):
    check_mutable_operations = True


@wrong("shapes of parameters are constants", "wrong-graph", clause="others-traced")
class ConstantShapes(OneMethod):
    def __init__(self, leaf_types=(), leaf_names=()):
        super().__init__(leaf_types, leaf_names)
        self.param_shapes_constant = True


@wrong("buffers are read as nodes", "wrong-graph", clause="others-traced")
class BuffersAsNodes(OneMethod):
    proxy_buffer_attributes = True


@wrong("functions of math are not recorded", "crashed", clause="others-traced")
class NoMath(OneMethod):
    def __init__(self, leaf_types=(), leaf_names=()):
        fx.Tracer.__init__(self, autowrap_modules=())
        self.leaf_types, self.leaf_names = tuple(leaf_types), leaf_names


@wrong("the names are required", "crashed", clause="both-optional")
class NamesRequired(fx.Tracer):
    def __init__(self, leaf_types, leaf_names):
        super().__init__()
        self.leaf_types, self.leaf_names = tuple(leaf_types), leaf_names

    def is_leaf_module(self, m, module_qualified_name):
        mine = isinstance(m, self.leaf_types) or module_qualified_name in self.leaf_names
        return mine or super().is_leaf_module(m, module_qualified_name)


@wrong("the two arguments exchanged", "crashed", clause="positions")
class Exchanged(OneMethod):
    def __init__(self, leaf_names=(), leaf_types=()):
        super().__init__(leaf_types, leaf_names)


@wrong("no super().__init__()", "crashed")
class NoInit(fx.Tracer):
    def __init__(self, leaf_types=(), leaf_names=()):
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


@wrong("a Transformer's class", "wrong-kind", clause="common.wrong-kind")
class NoTracer:
    def __init__(self, leaf_types=(), leaf_names=()):
        self.tracer = OneMethod(leaf_types, leaf_names)

    def trace(self, root):
        return self.tracer.trace(root)


@wrong("a GraphModule comes out of trace", "wrong-kind")
class GivesAModule(OneMethod):
    def trace(self, root, concrete_args=None):
        return fx.GraphModule(root, super().trace(root, concrete_args))


@wrong("untouched", "not-attempted")
class Untouched(fx.Tracer):
    def __init__(self, leaf_types=(), leaf_names=()):
        raise NotImplementedError


BEYOND = {
    "the type or a parent of it": "no class of a random model is a grandchild of another",
    "layers of PyTorch without children": "random models have no layers with layers inside",
    "default leaves of torch.nn alone": "random models have no layers of `torch.ao.nn`",
    "default leaves of torch.nn.modules alone": "nor such as PyTorch makes of others",
    "names as nodes have them": "no part of a random model has a name like another one's path",
    "names are looked up in the first model": "a random model is traced alone",
    "changes in place are refused": "random models change nothing in place",
}


def is_outside_the_task(network):
    """Whether a module treats a list differently from a leaf's result, which is a Proxy."""
    forwards = {type(module).forward for module in network.modules()}
    return any("isinstance(x, list)" in inspect.getsource(forward) for forward in forwards)
