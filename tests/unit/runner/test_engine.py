"""The engine: the outcome of an answer, whatever the answer does."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn

from autograder import CheckFailed, api, check, grade
from autograder.builder.paths import ROOT
from autograder.core.limits import BoundedText, Limits, OutOfTime, time_limit
from autograder.core.outcome import Outcome
from autograder.core.verdict import Verdict
from autograder.judge import judge
from autograder.runner import run, run_cases
from autograder.workspace import progress_file
from tests.support.toy import TOY, Nested, OneAdd, solution


def verdict_on(answer: Any, limits: Limits | None = None) -> Verdict:
    return judge(TOY, run_cases(TOY, answer, TOY.cases, limits=limits))


def codes(verdict: Verdict) -> set[str]:
    return {finding.code for finding in verdict.findings}


def test_right_answer_has_full_score() -> None:
    verdict = verdict_on(solution)
    assert (verdict.status, verdict.score, verdict.findings) == ("passed", 1.0, ())


def test_doing_nothing_scores_nothing() -> None:
    verdict = verdict_on(fx.symbolic_trace)
    assert verdict.score == 0.0
    assert "wrong-result" in codes(verdict)


def test_partial_credit_follows_the_weights() -> None:
    def flat_only(model: nn.Module) -> fx.GraphModule:
        gm = solution(model)
        return fx.symbolic_trace(model) if hasattr(gm, "block") else gm

    assert verdict_on(flat_only).score == pytest.approx(2 / 3)


def test_nothing_without_the_first_aspect() -> None:
    def nested_only(model: nn.Module) -> fx.GraphModule:
        gm = solution(model)
        return gm if hasattr(gm, "block") else fx.symbolic_trace(model)

    assert verdict_on(nested_only).score == 0.0


def test_the_smallest_failing_case_is_shown() -> None:
    example = verdict_on(fx.symbolic_trace).example
    assert example is not None
    assert example.case == "one sum"
    assert "class OneAdd" in example.source
    assert [box.name for box in example.before] == ["x", "y", "add", "output"]


# ------------------------------------------------------------------ four outcomes


def stub(model: nn.Module) -> fx.GraphModule:
    """An untouched stub, as the builder writes it."""
    # YOUR CODE HERE
    raise NotImplementedError()


def test_untouched_stub_is_not_attempted() -> None:
    verdict = verdict_on(stub)
    assert (verdict.status, verdict.score, verdict.cases) == ("not attempted", 0.0, 1)


def test_an_answer_that_refuses_a_model_is_attempted() -> None:
    def refuses(model: nn.Module) -> fx.GraphModule:
        if hasattr(model, "weight") or model.training is not None:
            raise NotImplementedError
        return fx.symbolic_trace(model)

    verdict = verdict_on(refuses)
    assert verdict.status == "crashed"
    assert verdict.findings[0].message.startswith(f"`{TOY.name}` raised `NotImplementedError`")


def test_crash_names_the_learners_line() -> None:
    def crashes(model: nn.Module) -> fx.GraphModule:
        return model.no_such_attribute

    verdict = verdict_on(crashes)
    assert verdict.status == "crashed"
    assert "no_such_attribute" in verdict.error
    assert "return model.no_such_attribute" in verdict.error


def test_a_node_taken_for_its_value_is_told() -> None:
    def computes(model: nn.Module) -> fx.GraphModule:
        first, *_ = fx.symbolic_trace(model).graph.nodes
        return first.relu()

    (finding, *_) = verdict_on(computes).findings
    assert finding.code == "crashed"
    assert finding.advice.startswith("A `Node` is a line of the graph")


def test_a_node_that_a_dictionary_lacks_is_told() -> None:
    def forgets(model: nn.Module) -> fx.GraphModule:
        return {}[next(iter(fx.symbolic_trace(model).graph.nodes)).name]

    (finding, *_) = verdict_on(forgets).findings
    assert finding.advice.startswith("`x` is a node of the trace")


def test_a_key_that_is_missing_is_named() -> None:
    def looks_up(model: nn.Module) -> fx.GraphModule:
        return {}["nothing of the trace"]

    assert "no entry for `'nothing of the trace'`" in verdict_on(looks_up).findings[0].advice


@pytest.mark.parametrize("error", [SystemExit, RecursionError, MemoryError, GeneratorExit])
def test_unusual_exceptions_are_crashes(error: type[BaseException]) -> None:
    def raises(model: nn.Module) -> fx.GraphModule:
        raise error("no")

    assert verdict_on(raises).status == "crashed"


def test_endless_loop_is_told() -> None:
    def loops(model: nn.Module) -> fx.GraphModule:
        while True:
            pass

    verdict = verdict_on(loops, Limits(cpu=0.3))
    assert verdict.status == "crashed"
    assert codes(verdict) == {"out-of-time"}


def test_swallowed_time_limit_is_repeated() -> None:
    def stubborn(model: nn.Module) -> fx.GraphModule:
        while True:
            try:
                while True:
                    pass
            except BaseException:
                if time.process_time() > start + 0.8:
                    raise

    start = time.process_time()
    assert run(TOY, stubborn, TOY.cases[0], limits=Limits(cpu=0.2)).ended == "out of time"


@pytest.mark.parametrize("then", ["return", "raise"])
def test_answer_that_catches_its_end_has_used_up_its_time_all_the_same(then: str) -> None:
    def clever(model: nn.Module) -> fx.GraphModule:
        try:
            while True:
                pass
        except BaseException:
            if then == "raise":
                raise ValueError("something else") from None
        return fx.symbolic_trace(model)

    outcome = run(TOY, clever, TOY.cases[0], limits=Limits(cpu=0.2))
    assert outcome.ended == "out of time"
    assert codes(verdict_on(clever, Limits(cpu=0.2))) == {"out-of-time"}


def test_sleeping_is_bounded_by_the_wall() -> None:
    with pytest.raises(OutOfTime), time_limit(Limits(wall=0.2)):
        time.sleep(120)  # returns without an error unless something stops it


def use_processor(seconds: float) -> None:
    """Use processor time; a separate function, because of a bug in Python 3.13.0.

    There, `try` misses an exception that another thread raises in a loop.
    """
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


@pytest.mark.parametrize("on", ["the main thread", "another thread"])
def test_a_limit_goes_on_after_one_within_it(on: str) -> None:
    seen: list[str] = []

    def work() -> None:
        try:
            with time_limit(Limits(cpu=0.5)):
                with suppress(OutOfTime), time_limit(Limits(cpu=0.1)):
                    while True:
                        pass
                seen.append("inner")
                use_processor(5)
        except OutOfTime:
            seen.append("outer")

    if on == "the main thread":
        work()
    else:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(120)
    assert seen == ["inner", "outer"]


def test_no_ticks_are_left_of_a_limit() -> None:
    with time_limit(Limits()), time_limit(Limits()):
        pass
    if hasattr(signal, "getitimer"):
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_time_limit_on_a_thread() -> None:
    seen: list[type[BaseException]] = []

    def work() -> None:
        try:
            with time_limit(Limits(cpu=0.1)):
                while True:
                    pass
        except BaseException as error:
            seen.append(type(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(120)
    assert seen == [OutOfTime]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX signals")
def test_ctrl_c_stays_a_keyboard_interrupt() -> None:
    def interrupted(model: nn.Module) -> fx.GraphModule:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
        return solution(model)

    with pytest.raises(KeyboardInterrupt):
        run(TOY, interrupted, TOY.cases[0])


# ------------------------------------------------------------------ findings about form


def edited(edit: Callable[[fx.GraphModule], Any]) -> Callable[[nn.Module], Any]:
    """The solution, spoiled by one edit of its result."""

    def answer(model: nn.Module) -> Any:
        gm = solution(model)
        changed = edit(gm)
        return gm if changed is None else changed

    return answer


def product_of(gm: fx.GraphModule) -> fx.Node:
    return next(node for node in gm.graph.nodes if node.target is torch.mul)


def stale(gm: fx.GraphModule) -> None:
    product_of(gm).target = torch.sub


def self_loop(gm: fx.GraphModule) -> None:
    node = product_of(gm)
    with gm.graph.inserting_after(node):
        new = gm.graph.call_function(torch.relu, (node,))
    node.replace_all_uses_with(new)
    gm.recompile()


def foreign(gm: fx.GraphModule) -> None:
    other = fx.Graph().placeholder("other")
    product_of(gm).args = (other, other)
    gm.recompile()


def foreign_user(gm: fx.GraphModule) -> None:
    fx.Graph().call_function(torch.relu, (product_of(gm),))


def erased_node(gm: fx.GraphModule) -> fx.Node:
    with gm.graph.inserting_after(product_of(gm)):
        node = gm.graph.call_function(torch.relu, (product_of(gm),))
    gm.graph.erase_node(node)
    return node


def erased(gm: fx.GraphModule) -> None:
    old = erased_node(gm)
    list(gm.graph.nodes)[-1].args = (old,)


def erased_user(gm: fx.GraphModule) -> None:
    old = erased_node(gm)
    old.args = (product_of(gm),)


def second_output(gm: fx.GraphModule) -> None:
    gm.graph.output(product_of(gm))
    gm.recompile()


def no_output(gm: fx.GraphModule) -> None:
    gm.graph.erase_node(list(gm.graph.nodes)[-1])
    gm.recompile()


def after_output(gm: fx.GraphModule) -> None:
    with gm.graph.inserting_after(list(gm.graph.nodes)[-1]):
        gm.graph.call_function(torch.relu, (product_of(gm),))
    gm.recompile()


def raw_tensor(gm: fx.GraphModule) -> None:
    node = product_of(gm)
    node.args = (node.args[0], torch.ones(1))
    gm.recompile()


def too_early(gm: fx.GraphModule) -> None:
    node = product_of(gm)
    with gm.graph.inserting_before(next(iter(gm.graph.nodes))):
        early = gm.graph.call_function(torch.relu, (node,))
    next(n for n in node.users if n is not early).replace_input_with(node, early)
    gm.recompile()


def loop_of_two(gm: fx.GraphModule) -> None:
    node = product_of(gm)
    with gm.graph.inserting_after(node):
        first = gm.graph.call_function(torch.neg, (node,))
    with gm.graph.inserting_after(first):
        second = gm.graph.call_function(torch.neg, (first,))
    node.replace_all_uses_with(second)
    gm.recompile()


def missing_module(gm: fx.GraphModule) -> None:
    node = product_of(gm)
    with gm.graph.inserting_after(node):
        gm.graph.create_node("call_module", "nowhere", (node,))
    gm.recompile()


def dotted(gm: fx.GraphModule) -> None:
    gm._modules["a.b"] = nn.ReLU()


def lost_default(gm: fx.GraphModule) -> None:
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            node.args = ()
    gm.graph.lint()
    gm.recompile()


def renamed_parameter(gm: fx.GraphModule) -> None:
    first = next(iter(gm.graph.nodes))
    first.target = "input_1"
    gm.recompile()


def shared_graph(gm: fx.GraphModule) -> fx.GraphModule:
    fx.GraphModule(gm, gm.graph)
    other = fx.GraphModule(gm, gm.graph)
    other._graph.owning_module = gm
    return other


def own_function(gm: fx.GraphModule) -> None:
    def multiply(a: Any, b: Any) -> Any:
        return a * b

    product_of(gm).target = multiply
    gm.recompile()


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (stale, "stale-code"),
        (self_loop, "self-loop"),
        (foreign, "foreign-node"),
        (foreign_user, "foreign-node"),
        (erased, "foreign-node"),
        (erased_user, "foreign-node"),
        (second_output, "several-outputs"),
        (no_output, "no-output"),
        (after_output, "output-not-last"),
        (raw_tensor, "raw-tensor"),
        (too_early, "use-before-definition"),
        (missing_module, "missing-target"),
        (dotted, "dotted-name"),
        (lost_default, "lost-signature"),
        (renamed_parameter, "lost-signature"),
        (shared_graph, "wrong-owner"),
        (own_function, "unknown-target"),
        (lambda gm: gm.graph, "not-a-graph-module"),
        (lambda gm: OneAdd(), "not-a-graph-module"),
        (lambda gm: (gm,), "not-a-graph-module"),
    ],
)
def test_each_corruption_has_its_finding(edit: Callable[..., Any], code: str) -> None:
    verdict = verdict_on(edited(edit))
    assert not verdict.passed
    assert code in codes(verdict)


@pytest.mark.parametrize(
    ("edit", "look"),
    [(erased, "was read only after it was erased"), (erased_user, "given arguments after it was")],
)
def test_where_to_look_for_an_erased_node(edit: Callable[..., Any], look: str) -> None:
    (finding,) = [f for f in verdict_on(edited(edit)).findings if f.code == "foreign-node"][:1]
    assert "erased" in finding.message
    assert look in finding.advice


@pytest.mark.parametrize(
    ("edit", "look"),
    [(too_early, "where the new node is inserted"), (loop_of_two, "replace_all_uses_with")],
)
def test_where_to_look_for_a_value_that_comes_later(edit: Callable[..., Any], look: str) -> None:
    findings = verdict_on(edited(edit)).findings
    assert look in next(f.advice for f in findings if f.code == "use-before-definition")


def test_nothing_returned() -> None:
    assert "returned-none" in codes(verdict_on(lambda model: None))


@pytest.mark.parametrize(
    "touch",
    [
        lambda model: model.train(),
        lambda model: setattr(model, "extra", 1),
        lambda model: model.register_buffer("extra", torch.ones(1)),
        lambda model: model.block[0].weight.data.zero_(),
        lambda model: setattr(model, "block", nn.ReLU()),
        lambda model: model.block[0].weight.requires_grad_(False),
        lambda model: model.block[1].register_forward_hook(lambda *a: None),
        lambda model: setattr(model.block[1], "inplace", True),
    ],
)
def test_changes_of_the_callers_model_are_seen(touch: Callable[[Any], Any]) -> None:
    def answer(model: nn.Module) -> fx.GraphModule:
        gm = solution(model)
        if isinstance(model, Nested):
            touch(model)
        return gm

    assert "caller-changed" in codes(verdict_on(answer))


def test_what_tracing_registers_does_not_count() -> None:
    class WithConstant(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.ones(3)

    from autograder.runner.snapshot import Snapshot

    model = WithConstant()
    snapshot = Snapshot(model)
    fx.symbolic_trace(model)
    assert hasattr(model, "_tensor_constant0")
    assert snapshot.changes() == []


# ------------------------------------------------------------------ plain data


def test_outcomes_survive_the_disk_and_another_process(tmp_path: Path) -> None:
    outcomes = run_cases(TOY, solution, TOY.cases) + run_cases(TOY, edited(stale), TOY.cases)
    for i, outcome in enumerate(outcomes):
        outcome.save(tmp_path / f"{i}.outcome")
    program = (
        "import sys, pathlib\n"
        "from autograder.judge import judge\n"
        "from autograder.core.outcome import Outcome\n"
        "from tests.support.toy import TOY\n"
        "paths = [pathlib.Path(sys.argv[1]) / f'{i}.outcome' for i in range(6)]\n"
        "outcomes = [Outcome.load(path) for path in paths]\n"
        "for part in (outcomes[:3], outcomes[3:]):\n"
        "    verdict = judge(TOY, part)\n"
        "    print(verdict.score, sorted({f.code for f in verdict.findings}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout.splitlines() == ["1.0 []", "0.0 ['stale-code']"]


@pytest.mark.parametrize("cut", [0, 5, 40, -1])
def test_damaged_outcomes_are_refused(cut: int) -> None:
    file = io.BytesIO()
    run(TOY, solution, TOY.cases[0]).write(file)
    with pytest.raises(ValueError):
        Outcome.read(io.BytesIO(file.getvalue()[:cut]))


def a_graph_without_end(model: nn.Module) -> fx.GraphModule:
    gm = solution(model)
    (output,) = gm.graph.find_nodes(op="output")
    with gm.graph.inserting_before(output):
        rows = [gm.graph.call_function(torch.neg, (output.args[0],)) for _ in range(6_000)]
        gm.graph.call_function(torch.cat, (rows,))
    return gm


@pytest.mark.parametrize(
    "answer",
    [
        a_graph_without_end,
        lambda model: [[] for _ in range(300_000)],
        lambda model: dict.fromkeys(range(3_000_000), {}),
        lambda model: [[1.0, {"a": ()}]] * 3_000_000,
        lambda model: ["x" * 30_000] * 200_000,
    ],
)
def test_the_largest_that_is_recorded_can_be_read(answer: Callable[..., Any]) -> None:
    file = io.BytesIO()
    recorded = run(TOY, answer, TOY.cases[0])
    recorded.write(file)
    file.seek(0)
    assert Outcome.read(file).value == recorded.value


@pytest.mark.parametrize("value", [[[]] * 610_000, [1] * 2_100_000, [{}] * 610_000])
def test_outcomes_that_nobody_records_are_refused(value: list[Any]) -> None:
    """The judge reads dozens of outcomes at once, and each of these would take hundreds of MiB."""
    file = io.BytesIO()
    Outcome("one", value=value).write(file)
    file.seek(0)
    with pytest.raises(ValueError, match="too many parts"):
        Outcome.read(file)


def test_printed_text_is_kept_but_bounded() -> None:
    def chatty(model: nn.Module) -> fx.GraphModule:
        print("tracing", "x" * 100_000)
        return solution(model)

    verdict = verdict_on(chatty)
    assert verdict.passed
    assert verdict.printed.startswith("tracing xxx")
    assert len(verdict.printed) < 5_000


def test_bounded_text_counts_what_it_drops() -> None:
    text = BoundedText(5)
    text.write("abc")
    text.write("defgh")
    assert text.getvalue() == "abcde\n… and 3 more characters"


# ------------------------------------------------------------------ the learner's names


def test_unknown_names_get_a_guess() -> None:
    with pytest.raises(KeyError, match="add_to_mul"):
        grade("add_to_mull", solution)


def test_lambda_cannot_be_checked() -> None:
    with pytest.raises(KeyError, match="lambda"):
        check(lambda model: model)


def test_check_raises_one_clean_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def toy(model: nn.Module) -> fx.GraphModule:
        return fx.symbolic_trace(model)

    monkeypatch.setattr(api, "EXERCISES", {"toy": TOY})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckFailed, match="toy"):
        check(toy)
    said = capsys.readouterr().out
    assert "class OneAdd" in said
    assert "and run it again" in said and "cell" not in said  # no notebook here


def untouched(model: nn.Module) -> fx.GraphModule:
    raise NotImplementedError


untouched.__name__ = "toy"


def test_a_stub_gets_a_card_and_no_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(api, "EXERCISES", {"toy": TOY})
    monkeypatch.chdir(tmp_path)
    check(untouched)
    said = " ".join(capsys.readouterr().out.split())
    assert "Not attempted yet" in said and "and run it again" in said and "cell" not in said
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("how", ["autograde", "validate", "hidden cases"])
def test_a_stub_earns_nothing_while_grading(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr(api, "EXERCISES", {"toy": TOY})
    if how != "hidden cases":
        monkeypatch.setenv("NBGRADER_EXECUTION", how)
    with pytest.raises(CheckFailed, match="`toy` is not attempted yet"):
        check(untouched, hidden=how == "hidden cases")


def test_progress_is_kept_and_nothing_lies_next_to_the_notebook(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(api, "EXERCISES", {"toy": TOY})
    monkeypatch.chdir(tmp_path)

    def toy(model: nn.Module) -> fx.GraphModule:
        return solution(model)

    check(toy)
    assert progress_file.outside().read() == {"toy": "passed"} and not any(tmp_path.iterdir())
    progress_file.outside().path.write_text("not json")
    api.progress()


# ------------------------------------------------------------------ global state is kept


def test_a_broken_wrap_does_not_reach_the_next_answer() -> None:
    def poisons(model: nn.Module) -> fx.GraphModule:
        gm = solution(model)
        product_of(gm).meta["is_wrapped"] = True  # its code now says wrap("torch.mul")
        gm.recompile()
        return gm

    run_cases(TOY, poisons, TOY.cases)
    fx.symbolic_trace(OneAdd())
    assert verdict_on(solution).passed


def test_global_modes_are_put_back() -> None:
    def careless(model: nn.Module) -> fx.GraphModule:
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float16)
        torch.manual_seed(0)
        fx.node._side_effectful_functions.add(torch.neg)
        return solution(model)

    numbers = torch.get_rng_state()
    run_cases(TOY, careless, TOY.cases)
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() is torch.float32
    assert torch.neg not in fx.node._side_effectful_functions
    assert torch.equal(torch.get_rng_state(), numbers)
