"""The answer key of `fresh_noise`.

An answer may draw its numbers from any generator, in any way. So the key compares no numbers with
the solution. It compares the trace with the function itself under the same seed, and the noise
with known properties of a standard normal distribution.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch

from autograder.authoring.key import (
    AnswerKey,
    Evidence,
    Finding,
    Reference,
    Rule,
    Stage,
    Trial,
    Way,
    advice_for,
    came_from,
    difference,
    error_text,
    kind_of,
    runs_of,
    traceable,
    wellformed,
)

WAYS: dict[Way, str] = {
    "eager": "{you} itself",
    "forward": "the trace of {you}",
    "interpreter": "the trace of {you}, run by `fx.Interpreter`,",
}
MANY = 1_000
"""Least number of entries whose distribution is tested."""

HUGE = 2.0**100
"""Adding noise does not change numbers of this size, in any of the tested dtypes."""


def _each_run(name: str, stage: Stage, find: object) -> Rule:
    """A rule that checks each run in each way, up to the first finding."""

    def every(evidence: Evidence) -> Iterable[Finding]:
        for i in range(len(evidence.trial.inputs)):
            for how, words in WAYS.items():
                found = find(evidence, i, how, words.format(you=evidence.you))  # type: ignore[operator]
                if found:
                    yield found
                    return

    return Rule(name, stage, every)


def _drawn(evidence: Evidence, i: int, how: Way) -> list[torch.Tensor]:
    """The two results of a run."""
    pair = evidence.outcome.runs[i][how]["value"]["tuple"]
    return [evidence.outcome.tensors[item["tensor"]] for item in pair]


def _not_two_tensors(evidence: Evidence, i: int, how: Way, who: str) -> Finding | None:
    record = evidence.outcome.runs[i][how]
    given = f"For {evidence.inputs_text(i)}"
    if "error" in record:
        error = record["error"]
        return evidence.finding(
            "result-raises",
            f"{given}, {who} raised {error_text(error)}.{came_from(error)}",
            advice_for(evidence.exercise, error, "result")
            or "Which of your operations does not exist for this shape or dtype?",
            error=error,
        )
    pair = record["value"].get("tuple", ()) if isinstance(record["value"], dict) else ()
    wrong = next((item for item in pair if kind_of(item) != "a `Tensor`"), None)
    if len(pair) == 2 and all(kind_of(item) == "a `Tensor`" for item in pair):
        return None
    code = "returned-none" if wrong is None else "wrong-kind"
    return evidence.finding(
        code,
        f"{given}, {who} gave {kind_of(wrong)}, not a `Tensor`.",
        "Does the function end with `return`, and what comes after it?",
    )


def _argument_changed(evidence: Evidence, i: int, how: Way, who: str) -> Finding | None:
    got = evidence.outcome.runs[i][how]["args"]
    want = evidence.reference.runs[i]["args"]
    if difference(got, evidence.outcome.tensors, want, evidence.reference.tensors) is None:
        return None
    return evidence.finding(
        "argument-changed",
        f"For {evidence.inputs_text(i)}, {who} changes `x` itself.",
        "An operation whose name ends in `_` changes the tensor that it is called on, and `+=` "
        "does the same where no Proxy is on its left.",
    )


def _another_form(evidence: Evidence, i: int, how: Way, who: str) -> Finding | None:
    (x,) = evidence.trial.inputs[i]
    for result in _drawn(evidence, i, how):
        if result.shape != x.shape:
            code, what = "wrong-shape", f"a result of shape {tuple(result.shape)}"
        elif result.dtype != x.dtype:
            code, what = "wrong-dtype", f"a result of dtype {result.dtype}"
        else:
            continue
        return evidence.finding(
            code,
            f"For {evidence.inputs_text(i)}, {who} gave {what}.",
            "The noise has the shape and the dtype of the input. Where does your line take them "
            "from, in the function and in its trace?",
        )
    return None


def _same_noise(evidence: Evidence, i: int, how: Way, who: str) -> Finding | None:
    first, second = _drawn(evidence, i, how)
    if not first.numel() or not torch.equal(first, second):
        return None
    if _argument_changed(evidence, i, how, who):
        return None  # both results may be `x` itself, which another rule reports
    frozen = how != "eager"
    return evidence.finding(
        "frozen-noise",
        f"For {evidence.inputs_text(i)}, {who} gave the same result in two calls, one after the "
        "other.",
        f"Print `fx.symbolic_trace({evidence.exercise.name}).code`. Is the noise drawn there, or "
        "was it drawn while the function was traced?"
        if frozen
        else "Where does this noise come from, if it is the same in every call?",
    )


def _not_as_eager(evidence: Evidence, i: int, how: Way, who: str) -> Finding | None:
    runs, tensors = evidence.outcome.runs, evidence.outcome.tensors
    found = difference(runs[i][how]["value"], tensors, runs[i]["eager"]["value"], tensors)
    if found is None:
        return None
    return evidence.finding(
        "wrong-result",
        f"For {evidence.inputs_text(i)}, {who} and the function itself differ under the same seed.",
        f"Print `fx.symbolic_trace({evidence.exercise.name}).code`. Which number, shape or drawing "
        "is fixed there?",
    )


def _lost_number(evidence: Evidence, i: int, how: Way, who: str) -> Finding | None:
    """Find a changed entry that noise cannot change: it was scaled, clipped or cast."""
    (x,) = evidence.trial.inputs[i]
    stays = ~(x.abs() < HUGE)
    for result in _drawn(evidence, i, how):
        if result.shape != x.shape:
            return None
        for want, got in zip(x[stays].tolist(), result[stays].tolist(), strict=True):
            if got != want and not (got != got and want != want):
                return evidence.finding(
                    "not-plus-x",
                    f"Where `x` is {want:g}, {who} gave {got:g}. Next to this number standard "
                    f"normal noise is nothing, and `x` plus noise is {want:g} still.",
                    "What happens to `x` itself in your function, besides that noise is added?",
                )
    return None


def _no_number(evidence: Evidence, i: int, how: Way, who: str) -> Finding | None:
    """Find NaN in the noise; the rules that compare values treat any NaN as equal."""
    (x,) = evidence.trial.inputs[i]
    for result in _drawn(evidence, i, how):
        if result.shape == x.shape and (result.isnan() & ~x.isnan()).any():
            return evidence.finding(
                "not-finite",
                f"For {evidence.inputs_text(i)}, {who} gave nan where `x` is a number.",
                "What does each of your lines give for a tensor of this shape?",
            )
    return None


def _not_normal(evidence: Evidence, i: int, how: Way, who: str) -> Finding | None:
    (x,) = evidence.trial.inputs[i]
    results = _drawn(evidence, i, how)
    if x.numel() < MANY or any(result.shape != x.shape for result in results):
        return None
    both = [result.double() - x.double() for result in results]
    for noise in both:
        text = _unlike_normal(noise) or _cut_off(torch.cat(both))
        if text:
            return evidence.finding(
                "not-normal",
                f"For {evidence.inputs_text(i)}, what {who} adds to `x` {text}.",
                "Standard normal noise has mean 0 and standard deviation 1, and every entry is "
                "drawn on its own.",
            )
    return None


def _unlike_normal(noise: torch.Tensor) -> str:
    """Describe an implausible mean, deviation or tail; each limit is over five sigma away."""
    mean, deviation = noise.mean().item(), noise.std().item()
    if abs(mean) > 0.1 or not 0.9 < deviation < 1.1:
        return f"has mean {mean:.2f} and standard deviation {deviation:.2f}"
    along = max(noise.mean(dim=dim).abs().max().item() for dim in (0, 1))
    if along > 0.8:
        return f"has a row or a column whose mean is {along:.2f} away from 0"
    # 4.6 % of a normal distribution are beyond two standard deviations.
    beyond = (noise.abs() > 2).double().mean().item()
    if not 0.025 < beyond < 0.07:
        return f"has {100 * beyond:.1f} % of its entries beyond two standard deviations, not 4.6 %"
    return ""


def _cut_off(noise: torch.Tensor) -> str:
    """22 of 8,000 entries are expected beyond 3 sigma; P(none) is below one in a billion."""
    if noise.abs().max() > 3.001:
        return ""
    return f"has no entry beyond three standard deviations, of {noise.numel():,}"


def drawn_twice(trial: Trial) -> Reference:
    """Call the definition twice."""

    def noisy(x: torch.Tensor) -> torch.Tensor:
        return x + torch.randn(x.shape, dtype=x.dtype)

    return runs_of(lambda *args: (noisy(*args), noisy(*args)), trial)


KEY = AnswerKey(
    (
        traceable.because("says what tracing raised; without a graph nothing else can be judged"),
        wellformed.because("every graph of the course is well formed, an answer's trace too"),
        _each_run("tensors", Stage.RUNS, _not_two_tensors).because(
            "keeps other kinds of data away from the next rules"
        ),
        _each_run("x as it was", Stage.RESULT, _argument_changed).because(
            "says what is wrong; where rows lie in one place, others only see an exception"
        ),
        _each_run("form of the input", Stage.RESULT, _another_form),
        _each_run("new noise", Stage.RESULT, _same_noise),
        _each_run("x within it", Stage.RESULT, _lost_number),
        _each_run("numbers stay numbers", Stage.RESULT, _no_number),
        _each_run("as the function itself", Stage.RESULT, _not_as_eager),
        _each_run("standard normal", Stage.RESULT, _not_normal),
    ),
    drawn_twice,
)
