"""Rules and records about programs that the answer keys of this chapter share."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from autograder.authoring.key import (
    Encoded,
    Evidence,
    Finding,
    Stage,
    difference,
    incomplete,
    rule,
    show,
)


def table(data: Encoded) -> dict[str, Encoded]:
    """A dictionary of plain data with strings as keys."""
    return {show(key).strip("'"): value for key, value in data["dict"]}


def said_in(evidence: Evidence, i: int = 0) -> dict[str, Encoded]:
    """The record of the answer's program, as it was reported in run `i`."""
    record = evidence.outcome.runs[i]["forward"]
    return table(record["value"]) if "value" in record else {}


@rule("returns a program", Stage.KIND)
def returns_program(evidence: Evidence) -> Iterable[Finding]:
    """The result must be an `ExportedProgram`."""
    said = said_in(evidence)
    if "outputs" in said and isinstance(said["kind"], dict) and all(said["kind"].values()):
        yield from incomplete(
            evidence, [said_in(evidence, i) for i in range(len(evidence.outcome.runs))]
        )
        return
    kind = said.get("kind", {"opaque": "object"})
    name = next(iter(kind.values()), "object") if isinstance(kind, dict) else "object"
    name = str(name).rpartition(".")[2]
    nothing = name == "NoneType"
    yield evidence.finding(
        "returned-none" if nothing else "wrong-kind",
        f"{evidence.you} returned {'`None`' if nothing else f'a `{name}`'}, "
        "not an `ExportedProgram`.",
        "Does every path through your function end with `return`?"
        if nothing
        else "A graph module or a module is only a part of a program. Who holds its signature?",
    )


_WHERE = {
    "result": "calling `new.module()`",
    "loaded": "calling the module of the program that was saved and loaded",
}


def the_same(
    evidence: Evidence, advice: str, *, saved: bool, shape: Callable[[Encoded], str]
) -> Iterable[Finding]:
    """Compare the results of the answer's program with the expected ones.

    Args:
        evidence: the case.
        advice: the advice if a result differs.
        saved: whether the program was also saved and loaded.
        shape: says what is wrong with the outermost structure of a result; ``""`` if nothing is.
    """
    for i, want in enumerate(evidence.reference.runs):
        record = evidence.outcome.runs[i]["forward"]
        said = said_in(evidence, i)
        tables = evidence.outcome.tensors, evidence.reference.tensors
        on = evidence.inputs_text(i)
        for key in ("result", "loaded") if saved else ("result",):
            how, value = said[key]["tuple"]
            if how == "raised":
                yield evidence.finding(
                    "result-raises" if key == "result" else "load-raises",
                    f"On {on}, {_WHERE[key]} raised {show(value)}.",
                    "The structure of the results is kept apart from the graph and from the "
                    "signature. Do all three speak of the same outputs?",
                )
                return
            found = difference(value, tables[0], want["value"], tables[1])
            if found:
                text = f"On {on}, {_WHERE[key]} gives something else: {found.text}."
                if found.code == "wrong-structure" and shape(value):
                    text = f"On {on}, {_WHERE[key]} gives {shape(value)}."
                yield evidence.finding(found.code, text, advice)
                return
        found = difference(record["args"], tables[0], want["args"], tables[1], "the arguments")
        if found:
            yield evidence.finding(
                "argument-changed", f"After a call on {on}, {found.text}.",
                "What the old program changes in place, the new one changes, too.",
            )  # fmt: skip
            return
