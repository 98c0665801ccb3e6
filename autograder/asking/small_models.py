"""Small models for questions. The text that a learner sees makes the model that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torch import fx, nn

from autograder.asking.plain_value import plain_value
from autograder.asking.usage import is_traced, use_text
from autograder.core.exercise import Case, Exercise, Trial
from autograder.core.global_state import preserve_global_state
from autograder.core.limits import bounded_output
from autograder.fuzz.model_builder import Builder
from autograder.fuzz.random_models import RandomModels, can_be_made
from autograder.fuzz.sampler import drawn
from autograder.judge.counterexample import construction, source_of

NODES = range(3, 12)
"""Numbers of nodes of a model in a question."""

MOST_LINES = 26
_LONGEST_CALL = 160
_ADDRESS = " at 0x"
_STEPS, _DRAWN = 5, 24


@dataclass(frozen=True)
class SmallModel:
    """A case whose model is small, and whose text is complete.

    Attributes:
        case: makes the objects.
        text: the code of the model; ``""`` if the answer gets none.
        call: the use of the answer, as code.
        said: a sentence about the model that its code does not tell; may be ``""``.
        rows: the rows of its graph: the opcode, the name, the target, the arguments.
        is_given: whether the answer gets the model or its trace, and not a graph of another kind.
    """

    case: Case
    text: str
    call: str
    said: str
    rows: tuple[tuple[str, ...], ...]
    is_given: bool = True

    def trial(self) -> Trial:
        """New objects, made by the course."""
        return self.case.make(0)

    def pasted(self) -> Trial:
        """New objects, with a model that is made from the text, if the answer gets it itself."""
        trial = self.trial()
        if trial.model is None:
            return trial
        model = pasted_model(self.text, self.case, trial)
        if isinstance(self.case.make, Builder):
            builder = self.case.make
            begun = replace(builder.begin(0), args=(model,), model=model)
            return builder.complete(begun, builder.choice)
        if not any(value is trial.model for value in trial.args):
            return trial
        if isinstance(trial.model, fx.GraphModule):
            model = fx.symbolic_trace(model)
        args = tuple(model if value is trial.model else value for value in trial.args)
        return replace(trial, args=args, model=model)

    @property
    def shown(self) -> str:
        """The code and the sentence about it, as a card shows it."""
        said = f"# {self.said}\n" if self.said else ""
        return f"{said}{self.text}".strip()

    @cached_property
    def graph(self) -> str:
        """The graph as aligned text."""
        widths = [max(map(len, column)) for column in zip(*self.rows, strict=True)]
        lines = (
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            for row in self.rows
        )
        return "\n".join(line.rstrip() for line in lines)

    @cached_property
    def opcodes(self) -> dict[str, str]:
        """The opcode of each node, by its name."""
        return {name: op for op, name, *_ in self.rows}


def small_models(exercise: Exercise, number: int) -> Iterator[SmallModel]:
    """The models for questions about an exercise: random ones first, then those of its cases.

    Args:
        exercise: the exercise.
        number: selects the random ones.
    """
    for case in (*random_cases(exercise, number, _STEPS), *exercise.visible_cases()):
        model = small_model(exercise, case)
        if model is not None:
            yield model


def random_cases(exercise: Exercise, number: int, steps: int) -> Iterator[Case]:
    """Random models with few steps; none if the exercise has no random models."""
    source = exercise.random
    if not isinstance(source, RandomModels):
        return
    for at, recipe in enumerate(drawn(steps, _DRAWN, number % (1 << 20)), 1):
        recipe = replace(recipe, form=0)
        if at % 4:  # most of them plain, because the question is not about the model
            recipe = replace(recipe, part=(), result=0, training=False)
        yield source.case(recipe, f"random model {at}")


def small_model(exercise: Exercise, case: Case) -> SmallModel | None:
    """A case as a small model; ``None`` if it is too large, or its text makes another model."""
    if case.expect.raises or case.expect.may_raise or not can_be_made(case):
        return None
    try:
        with preserve_global_state(), bounded_output(0):
            return _described(exercise, case)
    except Exception:  # a model that cannot be traced, or whose text needs something else
        return None


def _described(exercise: Exercise, case: Case) -> SmallModel | None:
    trial = case.make(0)
    if trial.times > 1 or trial.then is not None:
        return None
    text = _text_of(case, trial).strip()
    call, where = use_text(exercise, trial)
    if (
        len(text.splitlines()) > MOST_LINES
        or len(call) > _LONGEST_CALL
        or "(...)" in call
        or _ADDRESS in call
    ):
        return None
    if trial.model is None:
        return SmallModel(case, text, call, "", ()) if text or _is_literal(call) else None
    rows = rows_of(trial.model)
    pasted = pasted_model(text, case, trial)
    if len(rows) not in NODES or rows_of(pasted) != rows or _modes(pasted) != _modes(trial.model):
        return None
    given = any(isinstance(value, nn.Module) for value in trial.args)
    return SmallModel(case, text, call, _said(trial, where), rows, given)


def _text_of(case: Case, trial: Trial) -> str:
    """The code of a model; of a trace, the code of the model that was traced, if it is known."""
    if isinstance(case.make, Builder):
        model = case.make.begin(0).model
        rest = tuple(v for v in trial.args if not isinstance(v, nn.Module | fx.Graph | fx.Node))
        return source_of(replace(trial, model=model, args=rest))
    return source_of(trial, case.expect.built_by) + construction(case, trial.model)


def _is_literal(call: str) -> bool:
    """Whether a call contains nothing that only the course knows."""
    return not re.search(r"\b(?:model|other|where)\b", call)


def _said(trial: Trial, where: str) -> str:
    training = trial.model is not None and trial.model.training
    traced = "Your code gets the trace of this model." if is_traced(trial) else ""
    mode = "The model is in training mode." if training else ""
    return " ".join(filter(None, (traced, mode, where and f"Here, {where}.")))


def pasted_model(text: str, case: Case, trial: Trial) -> nn.Module:
    """The model that a learner gets who pastes the text, with the weights of the case's model."""
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, "<a model of a question>", "exec"), space)
    known = case.make.begin(0).model if isinstance(case.make, Builder) else trial.model
    assert known is not None
    if isinstance(known, fx.GraphModule):
        model: nn.Module = type("Model", (nn.Module,), {"forward": space["forward"]})()
        model.__dict__.update(known.__dict__)
        return model
    made = space["model"] if "model" in space else space[type(known).__name__]()
    kinds = [value.dtype for value in known.state_dict().values() if value.is_floating_point()]
    model = made.to(kinds[0]) if kinds else made
    model.load_state_dict(known.state_dict())
    return model.train(known.training)


def rows_of(model: nn.Module) -> tuple[tuple[str, ...], ...]:
    """The nodes of a model's graph."""
    graph = model.graph if isinstance(model, fx.GraphModule) else fx.symbolic_trace(model).graph
    return tuple(
        (node.op, node.name, _target(node.target), str(node.args), str(node.kwargs))
        for node in graph.nodes
    )


def _target(target: Any) -> str:
    if isinstance(target, str):
        return target
    return plain_value(target) or str(getattr(target, "__name__", type(target)))


def _modes(model: nn.Module) -> dict[str, bool]:
    return {path: part.training for path, part in model.named_modules()}
