"""Answers to `all_arguments`."""

from __future__ import annotations

import inspect
import types
from collections import ChainMap

import torch
from torch import fx
from torch.fx import operator_schemas

from tests.exercises import right, wrong

FEW = "random models have no such call"
BEYOND = {
    "modules by the graph's owner": "random graphs have an owner, and it is the root",
    "what a decorator takes": FEW,
    "no message": "a method is met before any other unknown call",
    **dict.fromkeys(
        ("too many are cut off", "what is missing is None", "unknown keywords are passed over",
         "types are looked at"),
        "each call of a random model runs",
    ),
}  # fmt: skip
"""Wrong answers that random models cannot find, with the reason."""


@right("each schema as a signature of Python, which binds")
def as_signatures(node, root):
    def signature_of(schema):
        kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        return inspect.Signature(
            [
                inspect.Parameter(
                    a.name,
                    kinds[a.kwarg_only],
                    default=a.default_value if a.has_default_value() else inspect.Parameter.empty,
                )
                for a in schema.arguments
            ]
        )

    match node.op, node.target:
        case "call_module", str(path):
            signature = inspect.signature(root.get_submodule(path).forward)
        case "call_function", torch._ops.OpOverload():
            signature = signature_of(node.target._schema)
        case "call_function", function:
            signature = inspect.signature(function)  # a ValueError if there is none
        case _:
            raise ValueError(f"{node.target} is a method, and nothing is known of it")
    try:
        bound = signature.bind(*node.args, **node.kwargs)
    except TypeError as error:
        raise ValueError(f"the arguments do not fit: {error}") from error
    bound.apply_defaults()
    return bound.arguments


@right("a table of the kinds of calls, layers of dictionaries", debrief=True)
def by_kind(node, root):
    def of_schema(overload):
        arguments = overload._schema.arguments
        positional = [a.name for a in arguments if not a.kwarg_only]
        if len(node.args) > len(positional):
            raise TypeError("too many arguments")
        given = dict(zip(positional, node.args, strict=False))
        if doubled := given.keys() & node.kwargs.keys():
            raise TypeError(f"{doubled} twice")
        defaults = {a.name: a.default_value for a in arguments if a.has_default_value()}
        found = {**defaults, **given, **node.kwargs}
        names = [a.name for a in arguments]
        if unlike := found.keys() ^ set(names):
            raise TypeError(f"{unlike} are missing or unknown")
        return {name: found[name] for name in names}

    def of_function(function):
        bound = inspect.signature(function).bind(*node.args, **node.kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)

    if node.op == "call_method":
        raise ValueError(f"nothing is known of the method {node.target}")
    try:
        if node.op == "call_module":
            return of_function(root.get_submodule(node.target).forward)
        is_overload = hasattr(node.target, "_schema")
        return of_schema(node.target) if is_overload else of_function(node.target)
    except TypeError as error:
        raise ValueError(f"the arguments of {node} do not fit: {error}") from None


@right("the signature that torch.fx makes of a schema")
def by_operator_schemas(node, root):
    if node.op == "call_module":
        made = inspect.signature(root.get_submodule(node.target).forward)
    elif isinstance(node.target, torch._ops.OpOverload):
        (made,) = operator_schemas.get_signature_for_torch_op(node.target)
        names = [a.name for a in node.target._schema.arguments]
        made = made.replace(
            parameters=[
                p.replace(name=name, kind=p.KEYWORD_ONLY if p.kind is p.KEYWORD_ONLY else
                          p.POSITIONAL_OR_KEYWORD)
                for name, p in zip(names, made.parameters.values(), strict=True)
            ]
        )  # fmt: skip
    elif (
        node.op == "call_function"
        and not isinstance(node.target, types.BuiltinFunctionType | types.BuiltinMethodType)
        or getattr(node.target, "__text_signature__", None)
    ):
        made = inspect.signature(node.target)
    else:
        raise ValueError(f"nothing is known of {node.target}")
    parameters = ChainMap({}, node.kwargs)
    try:
        bound = made.bind(*node.args, **parameters)
    except TypeError:
        raise ValueError(f"{node.format_node()}: the arguments do not fit") from None
    bound.apply_defaults()
    return {**bound.arguments}


@right("one parameter after the other, by hand")
def one_by_one(node, root):
    if node.op == "call_method":
        raise ValueError("a method: nothing is known")
    rows = []
    if isinstance(node.target, torch._ops.OpOverload):
        for a in node.target._schema.arguments:
            default = (a.default_value,) if a.has_default_value() else ()
            rows.append((a.name, not a.kwarg_only, True, default))
    else:
        function = node.target
        if node.op == "call_module":
            function = root.get_submodule(node.target).forward
        for p in inspect.signature(function).parameters.values():
            default = () if p.default is p.empty else (p.default,)
            rows.append((p.name, p.kind is not p.KEYWORD_ONLY, p.kind is not p.POSITIONAL_ONLY,
                         default))  # fmt: skip
    values, named, result = [*node.args], {**node.kwargs}, {}
    for name, by_place, by_name, default in rows:
        if by_place and values:
            result[name] = values.pop(0)
        elif by_name and name in named:
            result[name] = named.pop(name)
        elif default:
            (result[name],) = default
        else:
            raise ValueError(f"{name} is missing")
    if values or named:
        raise ValueError(f"too many: {values} {named}")
    return result


def work_out(
    node,
    root,
    *,
    module=lambda node, root: root.get_submodule(node.target),
    signature=inspect.signature,
    signature_args=lambda node: (node.args, node.kwargs),
    defaults=True,
    operators=True,
    too_many=False,
    missing=False,
    unknown=False,
    typed=False,
    schema_defaults=lambda argument: argument.default_value,
    nothing=ValueError,
    misfit=ValueError,
    value=lambda value: value,
    text="it does not fit, or nothing is known",
    done=dict,
):
    """The structure of most answers; each step can be replaced."""

    def bind(function):
        try:
            found = signature(function)
        except ValueError:
            raise nothing(text) from None
        args, kwargs = signature_args(node)
        try:
            found = found.bind(*args, **kwargs)
        except TypeError:
            raise misfit(text) from None
        if defaults:
            found.apply_defaults()
        return done({name: value(given) for name, given in found.arguments.items()})

    def read(arguments):
        places = [a.name for a in arguments if not a.kwarg_only]
        if len(node.args) > len(places) and not too_many:
            raise misfit(text)
        found = {name: value(v) for name, v in zip(places, node.args, strict=False)}
        for name, v in node.kwargs.items():
            if name not in [a.name for a in arguments]:
                if unknown:
                    continue
                raise misfit(text)
            if name in found:
                raise misfit(text)
            found[name] = value(v)
        for a in arguments:
            if a.name in found:
                if typed and "Tensor" in str(a.type) and type(found[a.name]) is not fx.Node:
                    raise misfit(text)
            elif a.has_default_value():
                if defaults:
                    found[a.name] = schema_defaults(a)
            elif missing:
                found[a.name] = None
            else:
                raise misfit(text)
        return done(found)

    if node.op == "call_module":
        return bind(module(node, root).forward)
    if node.op == "call_method":
        raise nothing(text)
    if isinstance(node.target, torch._ops.OpOverload):
        return read(node.target._schema.arguments)
    if not operators and node.target.__module__ == "_operator":
        raise nothing(text)
    return bind(node.target)


def put(style, finding, clause, **how):
    """Mark a wrong answer that differs in one step."""
    wrong(style, finding, clause=clause)(lambda node, root: work_out(node, root, **how))


put("modules by the graph's owner", "raised", "root",
    module=lambda node, root: node.graph.owning_module.get_submodule(node.target))  # fmt: skip
put("modules by attribute", "raised", "module", module=lambda node, root: getattr(root, node.target)
    )  # fmt: skip
put("positions alone", "refused", "kwargs", signature_args=lambda node: (node.args, {}))
put("no defaults", "wrong-parameters", "defaults", defaults=False)
put("None for each default", "wrong-argument", "schema-defaults",
    schema_defaults=lambda argument: None)  # fmt: skip
put("no operators", "refused", "operators", operators=False)
put("types are looked at", "refused", "types", typed=True)
put("what a decorator takes", "wrong-parameters", "python",
    signature=lambda function: inspect.signature(function, follow_wrapped=False))  # fmt: skip
put("tuples become lists", "wrong-argument", "as-they-stand",
    value=lambda value: list(value) if isinstance(value, tuple) else value)  # fmt: skip
put("too many are cut off", "no-error", "too-many", too_many=True)
put("what is missing is None", "no-error", "missing", missing=True)
put("unknown keywords are passed over", "no-error", "unknown-keyword", unknown=True)
put("a TypeError", "raised", "value-error", misfit=TypeError)
put("no message", "silent-error", "says-which", text="")
put("pairs", "wrong-kind", "dictionary", done=lambda found: list(found.items()))
put("names by position", "wrong-parameters", "names",
    done=lambda found: {f"arg{i}": value for i, value in enumerate(found.values())})  # fmt: skip


@wrong("Python's signature of an overload", "wrong-parameters", clause="overload")
def signature_of_all(node, root):
    if node.op == "call_method":
        raise ValueError("a method")
    function = root.get_submodule(node.target).forward if node.op == "call_module" else node.target
    try:
        bound = inspect.signature(function).bind(*node.args, **node.kwargs)
    except TypeError as error:
        raise ValueError(str(error)) from None
    bound.apply_defaults()
    return dict(bound.arguments)


@wrong("None where nothing is known", "returned-none", clause="nothing-known")
def none_for_unknown(node, root):
    try:
        return work_out(node, root, nothing=LookupError)
    except LookupError:
        return None


@wrong("one of several schemas", "no-error", clause="nothing-known")
def one_of_several(node, root):
    if node.op == "call_function" and not isinstance(node.target, torch._ops.OpOverload):
        for made in operator_schemas.get_signature_for_torch_op(node.target) or []:
            try:
                bound = made.bind(*node.args, **node.kwargs)
            except TypeError:
                continue
            bound.apply_defaults()
            return dict(bound.arguments)
    return work_out(node, root)


NOT_ON_NETWORKS = "networks call builtins of `torch._C._nn`, which the task leaves out"


RANDOM_MODELS_ARE_READ = "its answers read a graph whose arguments are no inputs of the model"
