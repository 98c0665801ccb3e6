"""Described graphs that reach beyond tensors when they are run: one attack for each route.

A row that must not run comes before a right answer's result, which depends on it. A runner that
runs the row gives points. No points are due, so a point shows that the row ran.
"""

from __future__ import annotations

from textwrap import indent

from tests.security.attacks import ENDED, SUSPECT, Attack
from tests.security.attacks._forging import grafting, in_the_judge
from tests.support.submissions.answer_text import text_of

LISTED = "A graph is run only if each row is on the list of what may stand in one."
BOUNDED = "It ends within the bounds of its own submission; nobody else notices."
RIGHT = text_of("add_to_mul", "operands exchanged")
NOTHING = {
    name: f"def {name}(*args):\n    return None"
    for name in ("relu_after_add", "relu_to_gelu", "remove_dropout")
}
SOURCES: dict[str, str] = {}
"""Code that spoils a graph, by the attack's name."""


def _route(
    name: str,
    tries: str,
    spoil: str,
    must: str = LISTED,
    *,
    states: frozenset[str] = SUSPECT,
    answers: dict[str, str] | None = None,
    **more: object,
) -> Attack:
    source = f"def spoil(graph):\n{indent(spoil.strip(), '    ')}\n"
    SOURCES[f"rebuilding-{name}"] = source
    written = {"add_to_mul": RIGHT} | (answers or {})
    return Attack(
        f"rebuilding-{name}", tries, must, grafting(source), answers=written, states=states, **more
    )


def _call(name: str, tries: str, function: str, args: str, **more: object) -> Attack:
    """A route through one call."""
    return _route(name, tries, f"keep(graph, put(graph, fn({function!r}), {args}))", **more)


def _method(name: str, tries: str, method: str, args: str, **more: object) -> Attack:
    """A route through one method."""
    text = f'keep(graph, put(graph, {method!r}, {args}, op="call_method"))'
    return _route(name, tries, text, **more)


def _path(name: str, tries: str, op: str, path: str, **more: object) -> Attack:
    """A route along the attributes of a declared module."""
    args = ", {'node': 0}" if op == "call_module" else ""
    return _route(
        name,
        tries,
        "graph['modules'].append(module('a_'))\n"
        f"keep(graph, put(graph, {path!r}{args}, op={op!r}))",
        **more,
    )


def _member(name: str, tries: str, attrs: str, function: str, args: str = "0") -> Attack:
    """A declared module with its own attributes, which is called; it must return 1."""
    return _route(
        name,
        tries,
        f"f = fn({function!r})\ngraph['modules'].append(module('a_', attrs={attrs}))\n"
        f"pick(graph, put(graph, 'a_', {args}, op='call_module'))",
        "A module does what its class does, and nothing else.",
    )


def _reaching(name: str) -> str:
    """Eight rows that lead from a generator's frame to the builtins."""
    return f"""\
graph["modules"].append(module("a_"))
inside = put(graph, "a_._modules", op="get_attr")
generator = put(graph, "a_.named_parameters", op="call_module")
put(graph, fn("operator.setitem"), inside, "g", generator)
found = put(graph, "a_.g.gi_frame.f_builtins", op="get_attr")
found = put(graph, fn("operator.getitem"), found, "exec")
put(graph, fn("operator.setitem"), inside, "e", found)
put(graph, "a_.e", {in_the_judge(name)!r}, op="call_module")
put(graph, "pop", inside, "g", op="call_method")
put(graph, "pop", inside, "e", op="call_method")
"""


IMAGE = "put(graph, fn('torch.ones'), {'list': [1, 1, 4, 4]})"
X = "{'node': 0}"

PATHS = [
    _route(
        "frame",
        "`call_module` and `get_attr` walk to a generator's frame, its builtins and `exec`.",
        _reaching("rebuilding-frame") + "keep(graph, inside)",
        answers=NOTHING,
    ),
    _route(
        "frame-dead",
        "The same rows, but nothing reads them.",
        _reaching("rebuilding-frame-dead"),
        answers=NOTHING,
    ),
    _path("modules", "`get_attr` reads a module's own table.", "get_attr", "a_._modules"),
    _path("hooks", "`get_attr` reads the table of hooks.", "get_attr", "a_._forward_hooks"),
    _path("method", "`get_attr` reads a method.", "get_attr", "a_.forward"),
    _path("function", "`get_attr` reads a method's function.", "get_attr", "a_.forward.__func__"),
    _path("globals", "`get_attr` reads globals.", "get_attr", "a_.forward.__globals__"),
    _path("class", "`get_attr` reads a module's class.", "get_attr", "a_.__class__"),
    _path("flag", "`get_attr` reads a plain attribute.", "get_attr", "a_.training"),
    _path("saving", "`get_attr` reads what saves modules.", "get_attr", "a_.dump_patches"),
    _path("empty-part", "`get_attr` has a path with an empty part.", "get_attr", "a_."),
    _path("up", "`get_attr` has a path with two dots.", "get_attr", "a_..a_"),
    _path("call-method", "`call_module` calls a method.", "call_module", "a_.register_buffer"),
    _path("call-apply", "`call_module` calls `apply`.", "call_module", "a_.apply"),
    _path("call-state", "`call_module` asks for the state.", "call_module", "a_.state_dict"),
    _path("call-class", "`call_module` makes an object of a class.", "call_module", "a_.__class__"),
    _route(
        "path-list",
        "The path of `get_attr` is a list, not a string.",
        "graph['modules'].append(module('a_'))\n"
        "keep(graph, put(graph, {'list': ['a_', '_modules']}, op='get_attr'))",
    ),
    _route(
        "path-named-so",
        "A module is declared whose path is that of a method.",
        "graph['modules'] += [module('a_'), module('a_.forward')]\n"
        "keep(graph, put(graph, 'a_.forward', {'node': 0}, op='call_module'))",
    ),
    _route(
        "path-root",
        "`get_attr` reads the module that is run, by the empty path.",
        "keep(graph, put(graph, '', op='get_attr'))",
    ),
    _route(
        "same-as-cycle",
        "Modules are declared to be the same as each other.",
        "graph['modules'] += [{'path': 'a_', 'same_as': 'b_'}, {'path': 'b_', 'same_as': 'a_'}]\n"
        "keep(graph, put(graph, 'a_', {'node': 0}, op='call_module'))",
    ),
    _route(
        "getattr-frame",
        "`getattr` asks for a frame, in words that a list of names does not have.",
        "keep(graph, put(graph, fn('builtins.getattr'), {'node': 0}, '__class__'))",
    ),
    _route(
        "getattr-computed",
        "`getattr` asks for a name that another row works out.",
        "name = put(graph, fn('operator.add'), '__cla', 'ss__')\n"
        "keep(graph, put(graph, fn('builtins.getattr'), {'node': 0}, name))",
    ),
    _route(
        "getattr-default",
        "`getattr` is given a default, and a name that is a list.",
        "keep(graph, put(graph, fn('builtins.getattr'), {'node': 0}, {'list': ['real']}, 1))",
    ),
    _call(
        "getattr-gradient",
        "`getattr` asks a tensor for the function that made it.",
        "builtins.getattr",
        "{'node': 0}, 'grad_fn'",
    ),
    _call(
        "attrgetter",
        "`operator.attrgetter` walks along attributes.",
        "operator.attrgetter",
        "'__class__.__base__'",
    ),
    _call("methodcaller", "`operator.methodcaller` is had.", "operator.methodcaller", "'exec'"),
    _call("operator-call", "`operator.call` calls.", "operator.call", "fn('operator.neg'), 1"),
    _method("format", "`str.format` reads attributes.", "format", "'{0.__class__}', {'node': 0}"),
    _method("format-map", "`str.format_map` does.", "format_map", "'{a.real}', {'dict': []}"),
]  # fmt: skip

_FAULTS = "autograder.exercises.ch02b_lint.wellformed.models_faults"
CLASSES = [
    _route(
        f"class-{kind}",
        f"A module's class is {what}.",
        f"graph['modules'].append(module('a_', {name!r}))\n"
        "keep(graph, put(graph, 'a_', {'node': 0}, op='call_module'))",
        "Classes of modules come from a list, by their own names.",
    )
    for kind, name, what in (
        ("alias", f"{_FAULTS}_elsewhere.GM", "an alias of `fx.GraphModule`"),
        ("graph", "torch.fx.graph_module.GraphModule", "`fx.GraphModule`"),
        ("other-alias", f"{_FAULTS}.fx.GraphModule", "reached through another"),
        ("script", "torch.jit._script.RecursiveScriptModule", "a compiled module's"),
        ("interpreter", "torch.fx.interpreter.Interpreter", "an interpreter's"),
        ("lazy", "torch.nn.modules.lazy.LazyModuleMixin", "one that makes others"),
        ("parametrized", "torch.nn.utils.parametrize.ParametrizationList", "a list of functions"),
        ("parallel", "torch.nn.parallel.data_parallel.DataParallel", "one that starts threads"),
    )
]

MEMBERS = [
    _member(
        "attr-forward",
        "A module's own `forward` is another function.",
        "{'forward': f}",
        "operator.getitem",
        "{'tuple': [0, 1]}, 1",
    ),
    _member(
        "attr-compiled",
        "A module's `_compiled_call_impl` is another function.",
        "{'_compiled_call_impl': f}",
        "operator.getitem",
        "{'tuple': [0, 1]}, 1",
    ),
    _member(
        "attr-call",
        "A module's `_call_impl` is another function.",
        "{'_call_impl': f}",
        "operator.getitem",
        "{'tuple': [0, 1]}, 1",
    ),
    _member(
        "attr-slow-forward",
        "A module's `_slow_forward` is another function.",
        "{'_slow_forward': f}",
        "operator.getitem",
        "{'tuple': [0, 1]}, 1",
    ),
    _member(
        "attr-pre-hook",
        "A module comes with hooks that change its input.",
        "{'_forward_pre_hooks': {'dict': [[1, f]]}}",
        "operator.is_not",
    ),
    _member(
        "attr-getattr",
        "A module's `__getattr__` is another function.",
        "{'__getattr__': f, '__call__': f}",
        "operator.getitem",
        "{'tuple': [0, 1]}, 1",
    ),
    _route(
        "child-forward",
        "A child of a module is named as the method that runs it.",
        "graph['modules'] += [module('a_'), module('a_.forward')]\n"
        "pick(graph, put(graph, 'a_', 1, op='call_module'))",
    ),
    _route(
        "child-table",
        "A child of a module is named as the table of its children.",
        "graph['modules'] += [module('a_'), module('a_._modules'), module('a_._modules.b')]\n"
        "keep(graph, put(graph, 'a_._modules', op='get_attr'))",
    ),
]

CALLABLES = [
    _call("max-key", "`max` is given a function.", "builtins.max",
          "{'tuple': [0, 1]}, key=fn('operator.neg')"),
    _call("min-key", "`min` is given a function.", "builtins.min",
          "{'tuple': [0, 1]}, key=fn('operator.neg')"),
    _call("sorted-key", "`sorted` is given a function.", "builtins.sorted",
          "{'tuple': [0, 1]}, key=fn('operator.neg')"),
    _method("sort-key", "A list is sorted by a function.", "sort",
            "{'list': [0, 1]}, key=fn('operator.neg')"),
    _call("map", "`map` is given a function.", "builtins.map",
          "fn('operator.neg'), {'tuple': [0, 1]}"),
    _call("filter", "`filter` is given a function.", "builtins.filter",
          "fn('operator.neg'), {'tuple': [0, 1]}"),
    _call("reduce", "`functools.reduce` is given a function.", "functools.reduce",
          "fn('operator.add'), {'tuple': [0, 1]}"),
    _call("partial", "`functools.partial` is given a function.", "functools.partial",
          "fn('operator.add'), 1"),
    _call("vmap", "`torch.func.vmap` is given a function.", "torch.func.vmap", "fn('torch.neg')"),
    _call("grad", "`torch.func.grad` is given a function.", "torch.func.grad", "fn('torch.neg')"),
    _call("functional-call", "`torch.func.functional_call` runs a module.",
          "torch.func.functional_call", f"{X}, {{'dict': []}}, {X}"),
    _call("checkpoint", "`torch.utils.checkpoint` is given a function.",
          "torch.utils.checkpoint.checkpoint", f"fn('torch.neg'), {X}"),
    _call("distance", "A loss is given a distance function of its own.",
          "torch.nn.functional.triplet_margin_with_distance_loss",
          "*[put(graph, fn('torch.ones'), {'list': [1, 2]}) for _ in range(3)], "
          "distance_function=fn('torch.nn.functional.pairwise_distance')"),
    _call("dispatch", "A helper of `functional` makes a function out of two.",
          "torch.nn.functional.boolean_dispatch",
          "'a', 0, False, fn('torch.neg'), fn('torch.abs'), 'm', 'f'"),
    _call("overrides", "`handle_torch_function` is given a function.",
          "torch.overrides.handle_torch_function", f"fn('torch.neg'), {{'tuple': [{X}]}}, {X}"),
    _call("higher-order", "A higher-order operation is given two functions.",
          "torch.ops.higher_order.cond",
          f"True, fn('torch.neg'), fn('torch.abs'), {{'tuple': [{X}]}}"),
    _method("apply", "`Tensor.apply_` is given a function.", "apply_",
            f"put(graph, 'clone', {X}, op='call_method'), fn('operator.neg')"),
    _method("map-method", "`Tensor.map_` is given a function.", "map_",
            f"put(graph, 'clone', {X}, op='call_method'), {X}, fn('operator.add')"),
    _method("hook", "A hook is put on a tensor.", "register_hook", f"{X}, fn('torch.neg')"),
    _method("subclass", "`as_subclass` is given a class.", "as_subclass", f"{X}, fn('torch.neg')"),
    _call("tensor-method", "A method is had as a function of the class.",
          "torch._tensor.Tensor.apply_",
          f"put(graph, 'clone', {X}, op='call_method'), fn('operator.neg')"),
    _route("function-as-value", "A function is carried as a value, and called by a method.",
           "keep(graph, put(graph, '__call__', fn('operator.neg'), 1, op='call_method'))"),
    _route("function-row", "What is called is what another row gives.",
           "made = put(graph, fn('builtins.list'), {'tuple': [fn('operator.neg')]})\n"
           "found = put(graph, fn('operator.getitem'), made, 0)\n"
           "keep(graph, put(graph, found, 1))"),
]  # fmt: skip

WRITERS = [
    _call("save", "`torch.save` writes a file.", "torch.save",
          f"{X}, '/tmp/fxcourse-pwned-rebuilding-save'"),
    _call("load", "`torch.load` reads a pickle.", "torch.load", "'/etc/passwd'"),
    _call("open", "`open` is called.", "builtins.open",
          "'/tmp/fxcourse-pwned-rebuilding-open', 'w'"),
    _call("exec", "`exec` is called.", "builtins.exec", "'pass'"),
    _call("import", "`__import__` is called.", "builtins.__import__", "'os'"),
    _call("system", "`os.system` is called.", "os.system",
          "'touch /tmp/fxcourse-pwned-rebuilding-system'"),
    _call("pickle", "`pickle.loads` is called.", "pickle.loads", "'x'"),
    _call("storage-file", "A storage is made from a file.", "torch.UntypedStorage.from_file",
          "'/tmp/fxcourse-pwned-rebuilding-storage-file', True, 8"),
    _call("aten-file", "An overload of `aten` maps a file.", "torch.ops.aten.from_file.default",
          "'/tmp/fxcourse-pwned-rebuilding-aten-file', True, 8"),
    _call("library", "A library is loaded.", "torch.ops.load_library", "'/tmp/none.so'"),
    _call("hub", "`torch.hub` is asked for code.", "torch.hub.load", "'/tmp', 'x'"),
    _call("jit-load", "`torch.jit.load` is called.", "torch.jit.load", "'/tmp/none'"),
    _method("dump", "An array is written with `dump`.", "dump",
            f"put(graph, 'numpy', {X}, op='call_method'), '/tmp/fxcourse-pwned-rebuilding-dump'"),
    _method("numpy", "A tensor becomes an array.", "numpy", X),
    _method("dlpack", "A tensor becomes a capsule.", "__dlpack__", X),
    _method("reduce-ex", "A tensor says how it is pickled.", "__reduce_ex__", f"{X}, 2"),
    _method("share", "A tensor is put into shared memory.", "share_memory_", X),
    _method("storage", "A tensor gives its storage.", "untyped_storage", X),
    _method("pointer", "A tensor gives its address.", "data_ptr", X),
    _call("print", "`print` is given a file.", "builtins.print", f"'x', file={X}"),
]  # fmt: skip

STATES = [
    _call(f"state-{name}", f"`{function}` changes what later graphs meet.", function, args)
    for name, function, args in (
        ("dtype", "torch.set_default_dtype", "{'torch': 'float64'}"),
        ("threads", "torch.set_num_threads", "1"),
        ("seed", "torch.manual_seed", "0"),
        ("generator", "torch.seed", ""),
        ("gradients", "torch.set_grad_enabled", "True"),
        ("gradients-c", "torch._C._set_grad_enabled", "True"),
        ("deterministic", "torch.use_deterministic_algorithms", "True"),
        ("denormal", "torch.set_flush_denormal", "True"),
        ("device", "torch.set_default_device", "'meta'"),
        ("warnings", "torch.set_warn_always", "True"),
        ("library", "torch.library.define", "'a::b', '(Tensor x) -> Tensor'"),
        ("anomaly", "torch.autograd.set_detect_anomaly", "True"),
        ("printing", "torch.set_printoptions", "1"),
        ("rng", "torch.set_rng_state", "put(graph, fn('torch.get_rng_state'))"),
        ("autocast", "torch.set_autocast_enabled", "'cpu', True"),
        ("vital", "torch.set_vital", "'a', 'b', 'c'"),
    )
]

UNSAFE = [
    _route(
        "pool-backward",
        "An operation that does not look at its indices writes beside a tensor.",
        f"index = put(graph, fn('torch.full'), {{'list': [1, 1, 2, 2]}}, 10**12)\n"
        f"grad = put(graph, fn('torch.ones'), {{'list': [1, 1, 2, 2]}})\n"
        f"name = 'torch.ops.aten.adaptive_max_pool2d_backward'\n"
        f"keep(graph, put(graph, fn(name), grad, {IMAGE}, index))",
    ),
    _route(
        "backward",
        "A derivative's operation is called with indices that fit.",
        "kind = {'torch': 'int64'}\n"
        "index = put(graph, fn('torch.zeros'), {'list': [1, 1, 2, 2]}, dtype=kind)\n"
        f"grad = put(graph, fn('torch.ones'), {{'list': [1, 1, 2, 2]}})\n"
        f"name = 'torch.ops.aten.adaptive_max_pool2d_backward'\n"
        f"keep(graph, put(graph, fn(name), grad, {IMAGE}, index))",
    ),
    _call("embedding", "A private derivative of embeddings is called.",
          "torch.ops.aten._embedding_bag_dense_backward.default",
          f"{X}, {X}, {X}, {X}, {X}, 2, False, 0, None"),
    _call("sparse", "A sparse tensor is made without a check.", "torch._sparse_csr_tensor_unsafe",
          "*[put(graph, fn('torch.ones'), {'list': [2]}, dtype={'torch': 'int64'})"
          " for _ in range(3)], {'list': [1, 1]}"),
    _call("sparse-coo", "A sparse tensor is made without a check, by `aten`.",
          "torch.ops.aten._sparse_coo_tensor_unsafe.default",
          "put(graph, fn('torch.full'), {'list': [1, 1]}, 10**9), "
          "put(graph, fn('torch.ones'), {'list': [1]}), {'list': [2]}"),
    _call("private", "A private operation is called that is safe.", "torch._shape_as_tensor", X),
    _call("private-aten", "One of `aten` is.", "torch.ops.aten._unsafe_view.default",
          "put(graph, fn('torch.ones'), {'list': [2]}), {'list': [2, 1]}"),
    _method("set", "`set_` lets a tensor read another's memory.", "set_",
            f"put(graph, 'clone', {X}, op='call_method'), {X}"),
]  # fmt: skip

HUGE = [
    _route(name, tries, text, BOUNDED, states=ENDED | SUSPECT, may={"add_to_mul": 4})
    for name, tries, text in (
        ("power", "A power of whole numbers has thousands of millions of digits.",
         "keep(graph, put(graph, fn('operator.pow'), 7, 10**10))"),
        ("shift", "A number is shifted by thousands of millions.",
         "keep(graph, put(graph, fn('operator.lshift'), 1, 10**11))"),
        ("text", "A text is repeated.", "keep(graph, put(graph, fn('operator.mul'), 'x', 10**11))"),
        ("width", "A text is padded.",
         "keep(graph, put(graph, fn('operator.mod'), '%0100000000000d', 1))"),
        ("list", "A range becomes a list.",
         "made = put(graph, fn('builtins.range'), 10**11)\n"
         "keep(graph, put(graph, fn('builtins.list'), made))"),
        ("digits", "A number is read from many digits.",
         "made = put(graph, fn('operator.mul'), '9', 10**8)\n"
         "keep(graph, put(graph, fn('builtins.int'), made))"),
        ("shape", "A tensor has a shape that does not fit.",
         "keep(graph, put(graph, fn('torch.ones'), {'list': [2**31, 2**31]}))"),
        ("negative", "A tensor has a negative shape.",
         "keep(graph, put(graph, fn('torch.ones'), {'list': [-1]}))"),
        ("expanded", "A tensor of one element is expanded, and copied.",
         "made = put(graph, fn('torch.ones'), {'list': [1]})\n"
         "made = put(graph, 'expand', made, 2**36, op='call_method')\n"
         "keep(graph, put(graph, 'contiguous', made, op='call_method'))"),
        ("product", "Two large matrices are multiplied, again and again.",
         "made = put(graph, fn('torch.ones'), {'list': [4000, 4000]})\n"
         "for _ in range(200):\n    made = put(graph, fn('torch.matmul'), made, made)\n"
         "keep(graph, made)"),
        ("doubling", "A list is doubled sixty times.",
         "made = put(graph, fn('builtins.list'), {'tuple': [1]})\n"
         "for _ in range(60):\n    made = put(graph, fn('operator.add'), made, made)\n"
         "keep(graph, made)"),
        ("nesting", "Tuples are nested 4,000 deep, a row each.",
         "made = 0\nfor _ in range(4_000):\n"
         "    made = put(graph, fn('builtins.tuple'), {'tuple': [made]})\nkeep(graph, made)"),
        ("nested-args", "One row's arguments are nested 5,000 deep.",
         "made = 0\nfor _ in range(400):\n    made = {'tuple': [made]}\n"
         "keep(graph, put(graph, fn('builtins.tuple'), made))"),
        ("cycle", "A list is put into itself.",
         "made = put(graph, fn('builtins.list'), {'tuple': [1]})\n"
         "put(graph, 'append', made, made, op='call_method')\nkeep(graph, made)"),
        ("forward-read", "A row reads one that comes later, and itself.",
         "later = len(graph['nodes'])\n"
         "keep(graph, put(graph, fn('torch.neg'), {'node': later}))"),
        ("kernel", "Fresh pages are touched: the kernel's time, not the process's own.",
         "for _ in range(120):\n"
         "    made = put(graph, fn('torch.empty'), 2**28)\n"
         "    part = put(graph, fn('operator.getitem'), made, {'slice': [None, None, 1024]})\n"
         "    put(graph, 'fill_', part, 1, op='call_method')\n"),
    )
]  # fmt: skip

LONG = [
    _route(name, tries, text, BOUNDED)
    for name, tries, text in (
        ("rows", "There are 100,000 rows.",
         "graph['nodes'][-1:-1] = [call(fn('torch.neg'), {'node': 0})] * 100_000"),
        ("lists", "A row reads 400,000 empty lists.",
         "made = {'list': [{'list': []}] * 400_000}\n"
         "keep(graph, put(graph, fn('builtins.len'), made))"),
        ("numbers", "A row reads four million numbers.",
         "keep(graph, put(graph, fn('builtins.len'), {'list': [0] * 4_000_000}))"),
        ("code", "The code has 60 million characters.", "graph['code'] = 'x' * 60_000_000"),
    )
]  # fmt: skip

ATTACKS = [
    *PATHS,
    *CLASSES,
    *MEMBERS,
    *CALLABLES,
    *WRITERS,
    *STATES,
    *UNSAFE,
    *HUGE,
    *LONG,
    _route(
        "sleep",
        "What is reached sleeps, which takes no processor time.",
        _reaching("rebuilding-sleep").replace("import os", "import time; time.sleep(3600)"),
        BOUNDED,
        states=ENDED | SUSPECT,
    ),
    _route(
        "lying-shape",
        "A row of the table of modules names a tensor that is not there, and one below 0.",
        "entry = {'tensor': 10**6, 'requires_grad': False, 'origin': None}\n"
        "graph['modules'].append(module('a_', buffers={'b': entry, 'c': entry | {'tensor': -1}}))\n"
        "keep(graph, put(graph, 'a_.b', op='get_attr'))",
    ),
    _route(
        "whole-parameter",
        "A parameter is declared of whole numbers, its tensor as `True`.",
        "entry = {'tensor': True, 'requires_grad': 'yes', 'origin': None}\n"
        "graph['modules'].append(module('a_', params={'b': entry}))\n"
        "keep(graph, put(graph, 'a_.b', op='get_attr'))",
    ),
    _route(
        "strange-opcode",
        "A row has an opcode that there is not, and one is `root`.",
        "keep(graph, put(graph, fn('torch.neg'), {'node': 0}, op='root'))",
    ),
    _route(
        "two-outputs",
        "A second output stands above the first.",
        "graph['nodes'].insert(-1, dict(graph['nodes'][-1], name='forged'))",
    ),
]
