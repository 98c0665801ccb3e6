"""Beginners' mistakes in chapter 02b."""

from __future__ import annotations

from tests.exercises.mistakes import SHOWS_PLACE, UNSTICKS, mistake


@mistake("wellformed", "only lint", UNSTICKS)
def only_lint(gm):
    try:
        gm.graph.lint()
    except Exception:
        return ["undefined-use"]
    return []


@mistake("wellformed", "True or False", UNSTICKS)
def true_or_false(gm):
    try:
        gm.graph.lint()
    except Exception:
        return False
    return True


@mistake(
    "wellformed",
    "missing targets by named_modules",
    SHOWS_PLACE,
    but="another code is missing as well and comes first; the module under two names is below",
)
def named_modules(gm):
    names = dict(gm.named_modules())
    for node in gm.graph.nodes:
        if node.op == "call_module" and node.target not in names:
            return ["missing-target"]
    return []


@mistake("wellformed", "the module is recompiled", UNSTICKS)
def recompiles(gm):
    before = gm.code
    gm.recompile()
    return ["stale-code"] if gm.code != before else []


@mistake("wellformed", "looks at the last node only", UNSTICKS)
def last_node(gm):
    found = []
    if list(gm.graph.nodes)[-1].op != "output":
        found.append("output")
    if gm.code != gm.graph.python_code("self").src:
        found.append("stale-code")
    return found


@mistake(
    "wellformed",
    "an empty graph is indexed",
    SHOWS_PLACE,
    but="another code is missing as well and comes first; the empty list is below",
)
def first_output(gm):
    output = [n for n in gm.graph.nodes if n.op == "output"][0]
    return [] if output.next.op == "root" else ["output"]
