"""Names for the ``key.py`` of an exercise: rules, oracles, and the evidence that they read.

Only processes that judge answers import this module.
"""

from __future__ import annotations

from autograder.core.codec import Decoder, Encoded, Encoder, Tagged, kind_of, leaves, show, unwrap
from autograder.core.execution import CallResult, ErrorRecord, error_record, run_once, seed_all
from autograder.core.exercise import Exercise, Trial
from autograder.core.fake_values import memory_numbers, mode_of, tensors_of, val_text
from autograder.core.graph_program import NotListed
from autograder.core.graph_record import (
    CallRecord,
    GraphRecord,
    ModuleRecord,
    NodeRecord,
    Signature,
    TensorRecord,
    called_function,
    classes_of,
    describe,
    describe_nodes,
    reads,
    signature_of,
    target_path,
)
from autograder.core.graph_view import target_text
from autograder.core.node_label import function_label
from autograder.core.outcome import (
    CALLS,
    GIVEN,
    InsideRecord,
    Outcome,
    Part,
    Reference,
    ResultRecord,
    RunRecord,
    TimerRecord,
    Way,
)
from autograder.core.storage import Recorder, copy_of, recorded, run_recorder
from autograder.core.torch_private import (
    BatchNorm,
    OpOverload,
    codegen_of,
    fake_tensor_mode,
    memory_of,
    own_buffers,
    own_modules,
    own_parameters,
    pytree,
    schema_of,
)
from autograder.core.verdict import Finding
from autograder.judge.advice import advice_for
from autograder.judge.advice_row import AdviceRow, AdviceSlot
from autograder.judge.answer_key import AnswerKey, Oracle, RecipeOracle
from autograder.judge.compare import Difference, difference, ordinal, times
from autograder.judge.derived_graph import DerivedGraph
from autograder.judge.duels import Fight, nothing_compiled
from autograder.judge.error_text import came_from, error_text
from autograder.judge.evidence import Evidence
from autograder.judge.findings import unrecorded
from autograder.judge.oracles import answer_of, exchanging, model_itself, runs_of, without_dropout
from autograder.judge.oracles.add_as_mul import AddsByMultiplying
from autograder.judge.oracles.trace_nodes import nodes_made
from autograder.judge.rule import Rule, Stage, rule
from autograder.rules.additions import (
    OPERATOR_ADD,
    TORCH_ADD,
    TORCH_RELU,
    additions_replaced,
    calls,
    keyword,
)
from autograder.rules.answer_object import made_from_the_class, traceable
from autograder.rules.canonical import Table, call_of, expressions, missing_and_extra
from autograder.rules.conv_bn import (
    CONV_BN_CLASSES,
    CONV_CLASSES,
    NORM_CLASSES,
    kind_of_class,
    kinds_of_calls,
)
from autograder.rules.duels import duel_key
from autograder.rules.effects import has_effect, modules_by_path, needed
from autograder.rules.graph_reports import incomplete, unsound
from autograder.rules.passes import (
    GRAPH_MODULE,
    PASS,
    caller_untouched,
    copies,
    returns_graph_module,
    runs,
    same_result,
    same_result_by,
    signature_kept,
    ways_to_run,
)
from autograder.rules.places import Place, class_of, places_rewritten
from autograder.rules.removed_modules import (
    DROPOUT_FUNCTIONS,
    DROPOUT_MODULES,
    RELU_MODULE,
    leaves_as_they_are,
    no_dropout_left,
    no_relu_left,
    no_unused_modules,
    none_left,
    none_overwritten,
    nothing_for_dropout,
    overwritten,
    unused_modules,
)
from autograder.rules.runs import runs_as_asked
from autograder.rules.values import nothing_forbidden, returns, right_value, right_value_of
from autograder.rules.wellformed import known_targets, wellformed
from autograder.runner.kinds.latency import ON as GRADIENTS_ON
from autograder.runner.kinds.layer import LAYER as LAYER_PATH
from autograder.runner.kinds.shape_tracer import told as described_trace

__all__ = [
    # the key, its rules, and the order in which the judge applies them
    "AnswerKey", "Oracle", "RecipeOracle", "Rule", "Stage", "rule",
    # the evidence about one outcome, and a finding in it
    "Evidence", "Finding", "unrecorded",
    # rules for every graph
    "GRAPH_MODULE", "PASS", "caller_untouched", "copies", "returns_graph_module", "runs",
    "same_result", "same_result_by", "signature_kept", "ways_to_run", "known_targets",
    "wellformed",
    # rules for a value
    "nothing_forbidden", "returns", "right_value", "right_value_of",
    # rules for answers that are classes, and for results that the judge calls
    "made_from_the_class", "traceable", "runs_as_asked",
    # rules for additions, for fused normalizations, for effects
    "OPERATOR_ADD", "TORCH_ADD", "TORCH_RELU", "additions_replaced", "calls", "keyword",
    "CONV_BN_CLASSES", "CONV_CLASSES", "NORM_CLASSES", "kind_of_class", "kinds_of_calls",
    "has_effect", "modules_by_path", "needed",
    # rules for reports about graphs of ATen operators
    "incomplete", "unsound",
    # rules for rewritten places, and for removed modules
    "Place", "class_of", "places_rewritten", "DROPOUT_FUNCTIONS", "DROPOUT_MODULES",
    "RELU_MODULE", "leaves_as_they_are", "no_dropout_left", "no_relu_left", "no_unused_modules",
    "none_left", "none_overwritten", "nothing_for_dropout", "overwritten", "unused_modules",
    # rules for a graph that must equal a known one
    "Table", "call_of", "expressions", "missing_and_extra",
    # oracles: they compute the expected result, in another way than the solution
    "answer_of", "exchanging", "model_itself", "runs_of", "without_dropout",
    "AddsByMultiplying", "nodes_made",
    # a graph that the key derives and runs
    "DerivedGraph", "NotListed",
    # duels
    "Fight", "nothing_compiled", "duel_key",
    # texts about differences and errors, and advice
    "Difference", "difference", "ordinal", "times", "came_from", "error_text", "advice_for",
    "AdviceRow", "AdviceSlot",
    # the exercise, and the objects of one call
    "Exercise", "Trial",
    # values as JSON
    "Decoder", "Encoded", "Encoder", "Tagged", "kind_of", "leaves", "show", "unwrap", "mode_of",
    "val_text", "memory_numbers", "tensors_of",
    # records of graphs and nodes
    "CallRecord", "GraphRecord", "ModuleRecord", "NodeRecord", "Signature", "TensorRecord",
    "called_function", "classes_of", "describe", "describe_nodes", "reads", "signature_of",
    "target_path", "target_text", "function_label",
    # records of outcomes and of single runs
    "CallResult", "ErrorRecord", "error_record", "run_once", "seed_all", "CALLS", "GIVEN",
    "InsideRecord", "Outcome", "Part", "Reference", "ResultRecord", "RunRecord", "TimerRecord",
    "Way", "Recorder", "copy_of", "recorded", "run_recorder",
    # keys in the records of single answer kinds
    "GRADIENTS_ON", "LAYER_PATH", "described_trace",
    # private names of PyTorch
    "BatchNorm", "OpOverload", "codegen_of", "fake_tensor_mode", "memory_of", "own_buffers",
    "own_modules", "own_parameters", "pytree", "schema_of",
]  # fmt: skip
