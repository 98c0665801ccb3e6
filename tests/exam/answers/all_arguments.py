"""Answers to `all_arguments`."""

from __future__ import annotations

import ast
import inspect
import numbers
import re
import typing

import torch
from torch import fx
from torch.fx import operator_schemas
from torch.jit import _builtins

from tests.exam.answers import right, wrong

FEW = "random models have no such call"
BEYOND = {
    "modules by the graph's owner": "random graphs have an owner, and it is the root",
    "a LookupError where nothing is known": "of each call of a random model something is known",
    "True is a number": FEW,
    "None is never given": FEW,
    "a list has something in it": FEW,
    "a float may be a whole number": FEW,
    "a memory format is no value": FEW,
    "one of several dimensions is gathered": FEW,
    "what a decorator takes": FEW,
    "builtins gather, too": "each call of a random model runs",
    "functions by their names alone": FEW,
    "a keyword for what has its place": "each call of a random model runs",
}
"""Wrong answers that random models cannot find, and why."""

# ------------------------------------------------------------------ a schema as a signature


@right("each schema as a signature of Python, which binds")
def as_signatures(node, root):
    def signature_of(schema, first):
        """A signature with the parameters of a schema, whose arguments are its annotations."""
        kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        found = []
        for argument in schema.arguments:
            has = argument.has_default_value()
            found.append(
                inspect.Parameter(
                    first if argument.name == "self" else argument.name,
                    kinds[argument.kwarg_only],
                    default=argument.default_value if has else inspect.Parameter.empty,
                    annotation=argument,
                )
            )
        # A parameter without a default may come behind one with a default, by keyword.
        return inspect.Signature(found, __validate_parameters__=False)

    def fits(kind, length, value):
        kind = kind.replace("Sym", "").replace("Int", "int")
        if kind.startswith("Optional["):
            return value is None or fits(kind[9:-1], length, value)
        if kind.startswith("List["):
            if not isinstance(value, (list, tuple)):
                return bool(length) and kind == "List[int]" and type(value) is int
            one = kind[5:-1]
            return all(
                fits(one, None, each) or (one == "int" and isinstance(each, fx.Node))
                for each in value
            )
        kinds = {
            "Tensor": fx.Node, "int": int, "float": float, "bool": bool, "str": str,
            "number": (int, float), "Scalar": (int, float), "ScalarType": torch.dtype,
        }  # fmt: skip
        if isinstance(value, bool) and kind != "bool":
            return False
        return isinstance(value, kinds.get(kind, ()))

    def bound(signature, args, kwargs):
        try:
            found = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ValueError(f"{node.target}: {error}") from None
        found.apply_defaults()
        return dict(found.arguments)

    def of_schemas(schemas, first):
        results = []
        for schema in schemas:
            signature = signature_of(schema, first)
            args = node.args
            last = [a for a in schema.arguments if not a.kwarg_only][-1]
            places = len([a for a in schema.arguments if not a.kwarg_only])
            sizes = args[places - 1 :]
            if node.op == "call_method" and places > 1 and sizes and last.N is None:
                if str(last.real_type) in ("List[int]", "List[SymInt]"):
                    if all(isinstance(s, fx.Node) or type(s) is int for s in sizes):
                        args = (*args[: places - 1], list(sizes))
            try:
                result = bound(signature, args, node.kwargs)
            except ValueError:
                continue
            given = {*node.kwargs, *[*signature.parameters][: len(args)]}
            if len(schemas) == 1 or all(
                fits(str(p.annotation.real_type), p.annotation.N, result[name])
                for name, p in signature.parameters.items()
                if name in given
            ):
                results.append(result)
        if not results or any(repr(each) != repr(results[0]) and each != results[0]
                              for each in results):  # fmt: skip
            raise ValueError(f"{node.target}: {len(results)} schemas accept this call")
        if any(each != results[0] for each in results):
            raise ValueError(f"{node.target}: its schemas disagree")
        return results[0]

    if node.op == "call_module":
        forward = root.get_submodule(node.target).forward
        return bound(inspect.signature(forward), node.args, node.kwargs)
    if node.op == "call_method":
        schemas = torch._C._jit_get_schemas_for_operator(f"aten::{node.target}")
        if not schemas:
            raise ValueError(f"no method {node.target} is known")
        return of_schemas(schemas, "self")
    if isinstance(node.target, torch._ops.OpOverload):
        return of_schemas([node.target._schema], "self")
    try:
        signature = inspect.signature(node.target)
    except ValueError:
        name = getattr(node.target, "__name__", "")
        known = getattr(torch, name, None) is node.target
        schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}") if known else []
        if not schemas:
            raise ValueError(f"nothing is known of {node.target}") from None
        return of_schemas(schemas, "input")
    return bound(signature, node.args, node.kwargs)


# ------------------------------------------------------------------ the text of a schema


class Parameter(typing.NamedTuple):
    kind: str
    name: str
    default: str | None
    by_keyword: bool


def parameters_of(text):
    """The parameters in the text of a schema, such as `aten::t(Tensor(a) self) -> Tensor(a)`."""
    inside = re.sub(r"\(\w+( -> \*)?!?\)", "", text.partition("(")[2].rpartition(") ->")[0])
    found, by_keyword = [], False
    for part in re.split(r",\s*(?![^\[\]]*\])", inside):
        if part.strip() == "*":
            by_keyword = True
        elif part.strip():
            head, _, default = part.strip().partition("=")
            kind, _, name = head.rpartition(" ")
            found.append(Parameter(kind.strip(), name, default or None, by_keyword))
    return found


def value_of(text):
    try:
        return ast.literal_eval(text)
    except ValueError:
        return {"None": None, "inf": float("inf")}.get(text, text)


NODE_OR = {
    "int": int, "SymInt": int, "float": float, "bool": bool, "str": str, "ScalarType": torch.dtype,
    "Layout": torch.layout, "MemoryFormat": torch.memory_format,
}  # fmt: skip


def takes(kind, value):
    """Whether a type, as a schema writes it, takes an argument of a node."""
    if kind.endswith("?"):
        return value is None or takes(kind[:-1], value)
    listed = re.fullmatch(r"(\w+\??)\[(\d*)\]", kind)
    if listed:
        one, length = listed.groups()
        whole = one in ("int", "SymInt")
        if isinstance(value, (list, tuple)):
            return all(takes(one, v) or (whole and isinstance(v, fx.Node)) for v in value)
        return whole and length != "" and type(value) is int
    if kind == "Tensor":
        return isinstance(value, fx.Node)
    if kind == "Scalar":
        return isinstance(value, numbers.Number) and not isinstance(value, bool)
    return type(value) is NODE_OR.get(kind)


@right("the text of each schema, taken apart by regular expressions")
def by_text(node, root):
    if node.op == "call_module":
        return by_signature(root.get_submodule(node.target).forward, node)
    if isinstance(node.target, torch._ops.OpOverload):
        texts = [str(node.target._schema)]
    elif node.op == "call_method":
        texts = [str(s) for s in torch._C._jit_get_schemas_for_operator("aten::" + node.target)]
    else:
        try:
            inspect.signature(node.target)
        except ValueError:
            name = _builtins._find_builtin(node.target)
            texts = [str(s) for s in torch._C._jit_get_schemas_for_operator(name or "aten::?")]
        else:
            return by_signature(node.target, node)
    found = []
    for text in texts:
        parameters = parameters_of(text)
        if node.op == "call_function" and not isinstance(node.target, torch._ops.OpOverload):
            parameters = [p._replace(name="input") if p.name == "self" else p for p in parameters]
        one = assigned(parameters, node, check=len(texts) > 1)
        if one is not None and one not in found:
            found.append(one)
    if len(found) != 1:
        raise ValueError(f"{len(found)} ways to read {node.format_node()}")
    return found[0]


def by_signature(function, node):
    try:
        bound = inspect.signature(function).bind(*node.args, **node.kwargs)
    except TypeError as error:
        raise ValueError(str(error)) from error
    bound.apply_defaults()
    return bound.arguments


def assigned(parameters, node, check):
    """The arguments by name, or None."""
    places = [p for p in parameters if not p.by_keyword]
    args = list(node.args)
    if node.op == "call_method" and len(args) > len(places) > 1:
        if not re.fullmatch(r"(Sym)?[Ii]nt\[\]", places[-1].kind):
            return None
        more = args[len(places) - 1 :]
        if not all(isinstance(v, (int, fx.Node)) for v in more):
            return None
        args[len(places) - 1 :] = [more]
    elif node.op == "call_method" and len(args) == len(places) > 1:
        alone = isinstance(args[-1], fx.Node) or type(args[-1]) is int
        if alone and re.fullmatch(r"(Sym)?[Ii]nt\[\]", places[-1].kind):
            args[-1] = [args[-1]]
    if len(args) > len(places):
        return None
    found = {p.name: value for p, value in zip(places, args, strict=False)}
    for name, value in node.kwargs.items():
        if name in found or name not in {p.name for p in parameters}:
            return None
        found[name] = value
    for p in parameters:
        if p.name in found:
            if check and not takes(p.kind, found[p.name]):
                return None
        elif p.default is None:
            return None
        else:
            found[p.name] = value_of(p.default)
    return found


# ------------------------------------------------------------------ with the helpers of torch.fx


@right("signatures by torch.fx.operator_schemas, types as it writes them")
def by_operator_schemas(node, root):
    def bind(signature):
        try:
            bound = signature.bind(*node.args, **node.kwargs)
        except TypeError as error:
            raise ValueError(str(error)) from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def type_fits(kind, value, name):
        if typing.get_origin(kind) is typing.Union or "Optional" in str(kind):
            return any(type_fits(k, value, name) for k in typing.get_args(kind))
        if typing.get_origin(kind) is list:
            (one,) = typing.get_args(kind)
            if isinstance(value, (list, tuple)):
                nodes = one is int
                return all(
                    type_fits(one, v, "") or (nodes and isinstance(v, fx.Node)) for v in value
                )
            return one is int and type(value) is int
        if name == "dtype" and value is not None:
            return is_dtype(value)
        if kind is torch.Tensor:
            return isinstance(value, fx.Node)
        if kind is numbers.Number:
            return type(value) in (int, float)
        return type(value) is kind

    def is_dtype(value):
        return isinstance(value, torch.dtype)

    def settle(signatures):
        found = []
        for signature in signatures:
            try:
                one = bind(signature)
            except ValueError:
                continue
            given = [*signature.parameters][: len(node.args)] + [*node.kwargs]
            if len(signatures) == 1 or all(
                type_fits(signature.parameters[name].annotation, one[name], name) for name in given
            ):
                if one not in found:
                    found.append(one)
        if len(found) != 1:
            raise ValueError(f"{node.target}: {len(found)} of {len(signatures)} schemas are left")
        return found[0]

    if node.op == "call_module":
        return bind(inspect.signature(root.get_submodule(node.target).forward))
    if node.op == "call_method":
        schemas = torch._C._jit_get_schemas_for_operator("aten::" + node.target)
        for schema in schemas:
            gathered = one_by_one(node, schema)
            if gathered is not None:
                return gathered
        signatures = [operator_schemas._torchscript_schema_to_signature(s) for s in schemas]
        return settle([with_name(s, "input", "self") for s in signatures])
    if isinstance(node.target, torch._ops.OpOverload):
        made = operator_schemas._torchscript_schema_to_signature(node.target._schema)
        return bind(
            with_name(made, "input", "self") if "self" in str(node.target._schema) else made
        )
    try:
        return bind(inspect.signature(node.target))
    except ValueError as error:
        if "no signature found" not in str(error):
            raise
    return settle(operator_schemas.get_signature_for_torch_op(node.target) or [])


def with_name(signature, old, new):
    parameters = [
        p.replace(name=new, kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) if p.name == old else p
        for p in signature.parameters.values()
    ]
    return inspect.Signature(parameters)


def one_by_one(node, schema):
    """What a method is given whose sizes are written one by one, or None."""
    names = [a.name for a in schema.arguments if not a.kwarg_only]
    size = schema.arguments[len(names) - 1]
    sizes = node.args[len(names) - 1 :]
    if len(names) != 2 or size.N is not None or not sizes or str(size.type) != "List[int]":
        return None
    if not all(isinstance(s, (int, fx.Node)) for s in sizes):
        return None
    rest = {a.name: a.default_value for a in schema.arguments if a.kwarg_only
            and a.has_default_value()}  # fmt: skip
    if len(rest) + 2 != len(schema.arguments) or not node.kwargs.keys() <= rest.keys():
        return None
    return {"self": node.args[0], size.name: [*sizes], **rest, **node.kwargs}


# ------------------------------------------------------------------ an object for each kind


class Known:
    """What is known of one way to call: its parameters, and which values they take."""

    def __init__(self, schema, first):
        self.names = [first if a.name == "self" else a.name for a in schema.arguments]
        self.places = sum(not a.kwarg_only for a in schema.arguments)
        self.defaults = {
            name: a.default_value
            for name, a in zip(self.names, schema.arguments, strict=False)
            if a.has_default_value()
        }
        self.arguments = dict(zip(self.names, schema.arguments, strict=False))

    def is_list_of_sizes(self, name):
        kind = self.arguments[name].type
        return (
            kind.kind() == "ListType"
            and kind.getElementType().kind() in ("IntType", "SymIntType")
            and self.arguments[name].N is None
        )

    def takes(self, name, value):
        kind, wanted = self.arguments[name].type, str(self.arguments[name].real_type)
        if kind.kind() == "OptionalType":
            if value is None:
                return True
            kind, wanted = kind.getElementType(), wanted[9:-1]
        if kind.kind() == "ListType":
            element = kind.getElementType().kind()
            if element == "TensorType":
                return isinstance(value, (list, tuple)) and all(type(v) is fx.Node for v in value)
            if element in ("IntType", "SymIntType"):
                if self.arguments[name].N is not None and type(value) is int:
                    return True
                return isinstance(value, (list, tuple)) and all(
                    type(v) in (int, fx.Node) for v in value
                )
            return False
        return {
            "TensorType": type(value) is fx.Node,
            "NumberType": type(value) in (int, float),
            "IntType": isinstance(value, torch.dtype)
            if wanted == "ScalarType"
            else type(value) is int and wanted in ("int", "SymInt"),
            "FloatType": type(value) is float,
            "BoolType": type(value) is bool,
            "StringType": type(value) is str,
        }.get(kind.kind(), False)

    def read(self, args, kwargs, *, check, gather):
        last = self.names[self.places - 1]
        if gather and self.places > 1 and self.is_list_of_sizes(last):
            more = args[self.places - 1 :]
            if more and all(type(v) in (int, fx.Node) for v in more):
                args = args[: self.places - 1] + (list(more),)
        if len(args) > self.places:
            return None
        given = dict(zip(self.names, args, strict=False))
        if given.keys() & kwargs.keys() or not kwargs.keys() <= self.arguments.keys():
            return None
        given.update(kwargs)
        if not {*self.names} <= given.keys() | self.defaults.keys():
            return None
        if check and not all(self.takes(name, value) for name, value in given.items()):
            return None
        return self.defaults | given


@right("an object for each schema, types by their kind", debrief=True)
def by_kinds(node, root):
    target, packet, first = node.target, None, "self"
    if node.op == "call_module":
        target = root.get_submodule(target).forward
    elif node.op == "call_method":
        packet = getattr(torch.ops.aten, target, None)
    elif isinstance(target, torch._ops.OpOverload):
        packet = [target]
    elif getattr(torch, getattr(target, "__name__", ""), None) is target:
        try:
            inspect.signature(target)
        except ValueError:
            packet, first = getattr(torch.ops.aten, target.__name__, None), "input"
    if packet is None:
        if node.op == "call_method":
            raise ValueError(f"what is the method {target}?")
        try:
            found = inspect.signature(target).bind(*node.args, **node.kwargs)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{target}: {error}") from error
        found.apply_defaults()
        return dict(found.arguments)
    overloads = packet if isinstance(packet, list) else [
        getattr(packet, name) for name in packet.overloads()
    ]  # fmt: skip
    results = [
        Known(each._schema, first).read(
            node.args, node.kwargs, check=len(overloads) > 1, gather=node.op == "call_method"
        )
        for each in overloads
    ]
    results = [each for each in results if each is not None]
    if not results:
        raise ValueError(f"{target} has no schema that accepts this call")
    if any(each != results[0] for each in results):
        raise ValueError(f"the schemas of {target} disagree about this call")
    return results[0]


@right("a single size stays as it is written")
def single_size(node, root):
    found = by_text(node, root)
    for name, value in found.items():
        if isinstance(value, list) and len(value) == 1 and node.args[1:] == (value[0],):
            found[name] = value[0]
    return found


# ------------------------------------------------------------------ wrong in one step


def type_is(kind, length, value, sizes=True):
    """Whether a parameter takes a value."""
    if kind.startswith("Optional["):
        return value is None or type_is(kind[9:-1], length, value, sizes)
    if kind.startswith("List["):
        one = kind[5:-1]
        whole = one in ("int", "SymInt")
        if isinstance(value, (list, tuple)):
            return all(
                type_is(one, None, v) or (sizes and whole and isinstance(v, fx.Node)) for v in value
            )
        return whole and length is not None and type(value) is int
    kinds = {"Tensor": (fx.Node,), "int": (int,), "SymInt": (int,), "float": (float,),
             "bool": (bool,), "str": (str,), "number": (int, float), "Scalar": (int, float),
             "ScalarType": (torch.dtype,)}  # fmt: skip
    return type(value) in kinds.get(kind, ())


def only_sizes(argument, values):
    """Whether what is left of the arguments are sizes for a parameter."""
    sizes = str(argument.real_type) in ("List[int]", "List[SymInt]") and argument.N is None
    return sizes and all(isinstance(v, fx.Node) or type(v) is int for v in values)


def only_numbers(values):
    return all(type(value) is int for value in values)


def aten_schemas(name):
    return torch._C._jit_get_schemas_for_operator(f"aten::{name}")


def work_out(
    node,
    root,
    *,
    module=lambda node, root: root.get_submodule(node.target),
    of_module=lambda module: module.forward,
    of_overload=lambda target: [target._schema],
    python_first=True,
    signature=inspect.signature,
    signature_args=lambda node: (node.args, node.kwargs),
    defaults=True,
    first_of_method="self",
    first_of_builtin="input",
    first_of_overload="self",
    methods=aten_schemas,
    operators=True,
    builtins=True,
    takes=type_is,
    check_one=False,
    gather=list,
    may_gather=only_sizes,
    gather_builtins=False,
    known=lambda name, target: getattr(torch, name, None) is target,
    doubled=None,
    too_many=None,
    missing=None,
    unknown=None,
    schema_defaults=lambda argument: argument.default_value,
    keyword_defaults=True,
    settle=None,
    agree=True,
    nothing=ValueError,
    misfit=ValueError,
    value=lambda value: value,
    wrap=False,
    done=dict,
):
    """The way of most answers, with each step open to change."""

    def bind(function, args, kwargs):
        found = signature(function)
        try:
            found = found.bind(*args, **kwargs)
        except TypeError as error:
            raise misfit(str(error)) from None
        if defaults:
            found.apply_defaults()
        return done(found.arguments)

    def read(schema, first, check):
        places = [a for a in schema.arguments if not a.kwarg_only]
        names = {a.name: first if a.name == "self" else a.name for a in schema.arguments}
        args = node.args
        if (node.op == "call_method" or gather_builtins) and gather and len(places) > 1:
            more = args[len(places) - 1 :]
            if more and may_gather(places[-1], more):
                args = (*args[: len(places) - 1], gather(more))
        if len(args) > len(places) and not too_many:
            return None
        found = {names[a.name]: value(v) for a, v in zip(places, args, strict=False)}
        for name, v in node.kwargs.items():
            if name in found or name not in names.values():
                if unknown:
                    continue
                if not doubled or name not in found:
                    return None
            found[name] = value(v)
        for a in schema.arguments:
            name = names[a.name]
            if name in found:
                if wrap and "List[" in str(a.real_type) and type(found[name]) is int:
                    found[name] = [found[name]]
                if check and not takes(str(a.real_type), a.N, found[name]):
                    return None
            elif a.has_default_value():
                if defaults and (keyword_defaults or not a.kwarg_only):
                    found[name] = schema_defaults(a)
            elif missing:
                found[name] = None
            else:
                return None
        return found

    def choose(schemas, first):
        results = [read(s, first, check_one or len(schemas) > 1) for s in schemas]
        results = [each for each in results if each is not None]
        if not schemas:
            raise nothing(f"nothing is known of {node.target}")
        if not results:
            raise misfit(f"{node.target} does not fit")
        if any(each != results[0] for each in results) or not agree and len(results) > 1:
            if settle is None:
                raise ValueError(f"{node.target}: the schemas disagree")
            return done(settle(results))
        return done(results[0])

    if node.op == "call_module":
        return bind(of_module(module(node, root)), *signature_args(node))
    if node.op == "call_method":
        return choose(methods(node.target), first_of_method)
    if isinstance(node.target, torch._ops.OpOverload):
        return choose(of_overload(node.target), first_of_overload)
    name = getattr(node.target, "__name__", "")
    if not python_first and aten_schemas(name):
        return choose(aten_schemas(name), first_of_builtin)
    if not operators and node.target.__module__ == "_operator":
        raise ValueError("an operator")
    try:
        inspect.signature(node.target)
    except ValueError:
        found = builtins and known(name, node.target)
        return choose(aten_schemas(name) if found else [], first_of_builtin)
    return bind(node.target, *signature_args(node))


def put(style, finding, clause, **how):
    """Mark a wrong answer that differs in one step."""
    wrong(style, finding, clause=clause)(lambda node, root: work_out(node, root, **how))


def owner(node, root):
    return node.graph.owning_module.get_submodule(node.target)


def top_level(node, root):
    return getattr(root, node.target)


put("modules by the graph's owner", "raised", "root", module=owner)
put("modules by attribute", "raised", "module", module=top_level)
put("the parameters of `__init__`", "refused", "module", of_module=lambda module: type(module))
put("positions alone", "refused", "kwargs", signature_args=lambda node: (node.args, {}))
put("no defaults", "wrong-parameters", "defaults", defaults=False)
put("no defaults by keyword", "wrong-parameters", "schema-defaults", keyword_defaults=False)
put("None for each default", "wrong-argument", "schema-defaults",
    schema_defaults=lambda argument: None)  # fmt: skip
put("no operators", "refused", "operators", operators=False)
put("no builtins", "refused", "builtin", builtins=False)
put("ATen before Python", "wrong-parameters", "python", python_first=False)
put("`input` for methods", "wrong-parameters", "self", first_of_method="input")
put("`self` for builtins", "wrong-parameters", "input", first_of_builtin="self")
put("`input` for overloads", "wrong-parameters", "overload", first_of_overload="input")
put("all overloads of the packet", "refused", "own-schema",
    of_overload=lambda target: aten_schemas(target._schema.name.partition("::")[2]))  # fmt: skip
put("one schema is asked about types, too", "refused", "own-schema", check_one=True)
put("no look at types", "refused", "accept", takes=lambda kind, length, value, sizes=True: True)
put("a node is anything", "refused", "node-tensor",
    takes=lambda kind, length, value, sizes=True: isinstance(value, fx.Node)
    or type_is(kind, length, value))  # fmt: skip
put("a number is a tensor", "refused", "as-it-is",
    takes=lambda kind, length, value, sizes=True: type_is(kind, length, value)
    or "Tensor" in kind and type(value) in (int, float))  # fmt: skip
put("True is a number", "refused", "as-it-is",
    takes=lambda kind, length, value, sizes=True: type_is(kind, length, value, sizes)
    or type(value) is bool and "Scalar" not in kind and type_is(kind, length, int(value))
    )  # fmt: skip
put("None is never given", "refused", "as-it-is",
    takes=lambda kind, length, value, sizes=True: value is not None
    and type_is(kind, length, value, sizes))  # fmt: skip
put("a list has something in it", "refused", "accept",
    takes=lambda kind, length, value, sizes=True: value not in ((), [])
    and type_is(kind, length, value, sizes))  # fmt: skip
put("a float may be a whole number", "no-error", "as-it-is",
    takes=lambda kind, length, value, sizes=True: type_is(kind, length, value, sizes)
    or kind == "int" and type(value) is float and value.is_integer())  # fmt: skip
put("builtins gather, too", "no-error", "too-many", gather_builtins=True)
put("one of several dimensions is gathered", "wrong-argument", "as-they-stand",
    may_gather=lambda argument, values: "List[" in str(argument.real_type)
    and all(isinstance(v, fx.Node) or type(v) is int for v in values))  # fmt: skip
put("what a decorator takes", "wrong-parameters", "python",
    signature=lambda function: inspect.signature(function, follow_wrapped=False))  # fmt: skip
put("functions by their names alone", "no-error", "nothing-known",
    known=lambda name, target: hasattr(torch, name))  # fmt: skip
put("a keyword for what has its place", "no-error", "too-many", doubled=True)
put("no nodes among sizes", "refused", "node-size",
    takes=lambda kind, length, value, sizes=True: type_is(kind, length, value, False))  # fmt: skip
put("sizes in a tuple", "wrong-argument", "list", gather=tuple)
put("sizes that are numbers alone", "refused", "node-size",
    may_gather=lambda argument, values: only_sizes(argument, values) and only_numbers(values)
    )  # fmt: skip
put("any number becomes a list", "wrong-argument", "as-they-stand", wrap=True)
put("tuples become lists", "wrong-argument", "as-they-stand",
    value=lambda value: list(value) if type(value) is tuple else value)  # fmt: skip
put("names in place of nodes", "wrong-argument", "as-they-stand", takes=lambda *_: True,
    value=lambda value: value.name if isinstance(value, fx.Node) else value,
    settle=lambda results: results[0])  # fmt: skip
put("the first of several", "no-error", "disagree", settle=lambda results: results[0])
put("the last of several", "no-error", "disagree", settle=lambda results: results[-1])
put("the one with the most parameters", "no-error", "disagree",
    settle=lambda results: max(results, key=len))  # fmt: skip
put("one schema must be left", "refused", "same", agree=False)
put("too many are cut off", "no-error", "too-many", too_many=True)
put("what is missing is None", "no-error", "missing", missing=True,
    settle=lambda results: min(results, key=lambda found: list(found.values()).count(None))
    )  # fmt: skip
put("unknown keywords are passed over", "no-error", "unknown-keyword", unknown=True)
put("a TypeError", "raised", "value-error", misfit=TypeError)
put("a LookupError where nothing is known", "raised", "value-error", nothing=LookupError)
put("pairs", "wrong-kind", "dictionary", done=lambda found: list(found.items()))


@wrong("sizes are not gathered", "refused", clause="gathered")
def not_gathered(node, root):
    return work_out(node, root, gather=None)


@wrong("a memory format is no value", "refused", clause="as-it-is")
def no_formats(node, root):
    if any(isinstance(value, torch.memory_format) for value in node.kwargs.values()):
        raise ValueError("no schema accepts it")
    return work_out(node, root)


@wrong("None where nothing is known", "returned-none", clause="nothing-known")
def none_for_unknown(node, root):
    try:
        return work_out(node, root)
    except ValueError:
        return None


@wrong("what FX normalizes", "raised", clause="method")
def normalized(node, root):
    found = node.normalized_arguments(root, normalize_to_only_use_kwargs=True)
    return found.kwargs


@wrong("an empty dictionary where nothing is known", "no-error", clause="nothing-known")
def empty_for_unknown(node, root):
    try:
        return work_out(node, root)
    except ValueError:
        return {}


@wrong("the first schema that binds", "refused", clause="several")
def first_that_binds(node, root):
    def first(name):
        return aten_schemas(name)[:1]

    return work_out(node, root, methods=first)


@wrong("names by position", "wrong-parameters", clause="names")
def by_position(node, root):
    found = work_out(node, root)
    return {f"arg{i}": value for i, value in enumerate(found.values())}


@wrong("the graph is cleaned up", "caller-changed", clause="unchanged")
def cleaned(node, root):
    found = work_out(node, root)
    node.kwargs = {name: value for name, value in node.kwargs.items() if value is not None}
    return found
