"""The answer key of `decomposition_rules`: elementary operations, right for every number."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import torch

from autograder.authoring.key import (
    AnswerKey,
    CallResult,
    Encoded,
    Evidence,
    Finding,
    Stage,
    advice_for,
    called_function,
    came_from,
    error_text,
    kind_of,
    known_targets,
    model_itself,
    rule,
    target_text,
    wellformed,
)

_WANTED = {
    "torch.relu": "torch.relu",
    "torch.nn.functional.silu": "F.silu",
    "torch.softmax": "torch.softmax",
}

# Operations that do all or most of the work of one of the three. All others are elementary enough,
# because a list of allowed operations would reject right answers.
_SIBLINGS = {
    "relu": "relu",
    "silu": "silu",
    "softmax": "softmax",
    **dict.fromkeys(
        ("relu6", "threshold", "hardtanh", "leaky_relu", "prelu", "rrelu", "elu", "celu", "selu",
         "hardshrink", "softshrink"),
        "relu",
    ),
    **dict.fromkeys(("mish", "hardswish", "glu", "swish"), "silu"),
    **dict.fromkeys(
        ("log_softmax", "softmin", "gumbel_softmax", "safe_softmax", "scaled_dot_product_attention",
         "special_softmax", "special_log_softmax"),
        "softmax",
    ),
}  # fmt: skip


@rule("a dictionary of rules", Stage.KIND)
def a_dictionary_of_rules(evidence: Evidence) -> Iterable[Finding]:
    """The answer returns a dictionary with rules for the three functions."""
    value = evidence.outcome.value
    if not (isinstance(value, dict) and "keys" in value):
        yield evidence.finding(
            "returned-none" if value is None else "wrong-kind",
            f"{evidence.you} returned {kind_of(value)}, not a `dict`.",
            "The keys are functions, the values are the rules.",
        )
        return
    keys = [key.get("function") for key in value["keys"]["list"] if isinstance(key, dict)]
    for name, words in _WANTED.items():
        if name not in keys:
            yield evidence.finding(
                "missing-rule",
                f"Your dictionary has no rule for `{words}`.",
                "The keys are the three functions themselves, not their names. "
                "`F.relu` and `F.softmax` are other functions than `torch.relu` and "
                "`torch.softmax`.",
            )
            return


@rule("rules take the arguments", Stage.KIND)
def rules_take_the_arguments(evidence: Evidence) -> Iterable[Finding]:
    """Each rule accepts the arguments of the model's call."""
    value = evidence.outcome.value
    if not (isinstance(value, dict) and "rule_error" in value):
        return
    error = value["rule_error"]
    calls = ", ".join(f"`{text}`" for text in _calls_of(evidence))
    where = f" It came from line {error['line']}: `{error['text']}`." if error.get("line") else ""
    yield evidence.finding(
        "rule-raises",
        f"A rule raised {error_text(error)}. The model's calls are recorded as "
        f"{calls}, and a rule is called with these arguments, nodes being Proxies.",
        f"{advice_for(evidence.exercise, error, 'rule') or _COMPARE}{where}",
        error=error,
    )


_COMPARE = (
    "Compare the parameters of the rule with the arguments of the recorded call. A Proxy has no "
    "value while the rule runs."
)


def _calls_of(evidence: Evidence) -> list[str]:
    """The calls of the three functions in the model's trace, as text."""
    found = []
    for node, row in zip(evidence.traced.graph.nodes, evidence.traced_graph["nodes"], strict=True):
        if node.op == "call_function" and (called := called_function(row)) in _WANTED:
            args = [*map(str, node.args), *(f"{k}={v}" for k, v in node.kwargs.items())]
            found.append(f"{_WANTED[called]}({', '.join(args)})")
    return list(dict.fromkeys(found))


@rule("elementary operations", Stage.STRUCTURE)
def elementary_operations(evidence: Evidence) -> Iterable[Finding]:
    """No rule records the operation itself or one that does its work."""
    for row in evidence.graph["nodes"]:
        if row["op"] not in ("call_function", "call_method"):
            continue
        name = _leaf(row["target"])
        if name in _SIBLINGS:
            same = name == _SIBLINGS[name]
            yield evidence.finding(
                "not-elementary",
                f"The decomposed model calls `{target_text(row['target'])}`: "
                + (
                    "the operation that it should take apart."
                    if same
                    else f"it does the work of `{_SIBLINGS[name]}` itself."
                ),
                "Use arithmetic, comparisons, `exp`, `clamp`, `where`, `sum`, `amax`, `sigmoid` "
                "and the like.",
                nodes=(row["name"],),
            )
            return


def _leaf(target: Encoded) -> str:
    """The bare name of an operation: ``relu`` for `torch.relu_`, `F.relu`, `aten.relu.default`."""
    name = next(iter(target.values())) if isinstance(target, dict) else str(target)
    parts = str(name).split(".")
    leaf = parts[3] if parts[:3] == ["torch", "ops", "aten"] and len(parts) > 3 else parts[-1]
    return leaf.strip("_")


@rule("right wherever it is finite", Stage.RESULT)
def right_wherever_finite(evidence: Evidence) -> Iterable[Finding]:
    """The decomposed model computes the same values as the model, except for infinite ones."""
    for i, inputs in enumerate(evidence.trial.inputs):
        own = copy.deepcopy(inputs)
        with torch.no_grad():
            want = evidence.trial.given_model(*own)
        record = evidence.run_record(i).get("rebuilt")
        if record is None:
            return  # the judge does not know its operations; the verdict says so
        found = _difference(evidence, i, record, want)
        if found:
            yield found
            return


def _difference(
    evidence: Evidence, i: int, record: CallResult, want: torch.Tensor
) -> Finding | None:
    if "error" in record:
        error = record["error"]
        return evidence.finding(
            "result-raises",
            f"Running the decomposed model on {evidence.inputs_text(i)} raised "
            f"{error_text(error)}.{came_from(error)}",
            advice_for(evidence.exercise, error, "result")
            or "Does each operation exist for this dtype, and do the shapes go together?",
            error=error,
        )
    tables = evidence.tensors_of("rebuilt")
    got = record["value"]
    (x,) = evidence.trial.inputs[i]
    given = f"On `{_text(x)}` of dtype {_dtype(x)}"
    if not (isinstance(got, dict) and "tensor" in got):
        return evidence.finding(
            "wrong-structure", f"{given}, the decomposed model gives {kind_of(got)}, not a tensor.",
            "A rule returns what it has computed.",
        )  # fmt: skip
    found = _tensor_finding(evidence, x, given, tables[got["tensor"]], want)
    if found is None and not _same_bits(tables[record["args"]["tuple"][0]["tensor"]], x):
        found = evidence.finding(
            "argument-changed", f"{given}, the decomposed model changes its input.",
            "An operation whose name ends in `_` changes the tensor that it is called on.",
        )  # fmt: skip
    return found


def _tensor_finding(
    evidence: Evidence, x: torch.Tensor, given: str, got: torch.Tensor, want: torch.Tensor
) -> Finding | None:
    if got.dtype != want.dtype:
        return evidence.finding(
            "wrong-dtype",
            f"{given}, the decomposed model gives dtype {_dtype(got)}, not {_dtype(want)}.",
            "Which dtype does each value in your rule have, for this input?",
        )
    if got.shape != want.shape:
        return evidence.finding(
            "wrong-shape",
            f"{given}, the decomposed model gives shape {tuple(got.shape)}, "
            f"not {tuple(want.shape)}.",
            "Which shape does each value in your rule have, for this input? Does a sum keep its "
            "dimension?",
        )
    asked = ~want.isinf()
    wrong = asked & ~torch.isclose(got, want, equal_nan=True, **_tolerances(want.dtype))
    if not wrong.any():
        return None
    place = tuple(wrong.nonzero()[0].tolist())
    at = f" at {list(place)}" if want.dim() else ""
    if want.dim() and x.shape == want.shape:
        at += f", where `x` is {_numbers(x[place].item())}"
    advice = "Go through your rule with this value on paper, operation by operation."
    if got[place].isnan() and not want[place].isnan():
        advice += " Which of them make a NaN: `0 * inf`, `inf - inf`, `inf / inf`?"
    return evidence.finding(
        "wrong-result",
        f"{given}, the decomposed model gives {_numbers(got[place].item())}{at}. "
        f"The model itself gives {_numbers(want[place].item())} there.",
        advice,
    )


def _tolerances(dtype: torch.dtype) -> dict[str, float]:
    """The tolerances of `torch.testing.assert_close`."""
    rtol, atol = {torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7)}[dtype]
    return {"rtol": rtol, "atol": atol}


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and torch.equal(a.nan_to_num(nan=7e7), b.nan_to_num(nan=7e7))


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _text(tensor: torch.Tensor) -> str:
    text = _numbers(tensor.tolist())
    return text if len(text) <= 90 else text[:89] + "…"


def _numbers(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_numbers, value))}]"
    return f"{value:.6g}"


KEY = AnswerKey(
    (
        a_dictionary_of_rules.because("says what came back, or which rule is missing"),
        rules_take_the_arguments.because("without it, there is no graph that could be judged"),
        wellformed,
        known_targets,
        elementary_operations,
        right_wherever_finite,
    ),
    model_itself,
)
