"""What the class hands in of chapter 02."""

from __future__ import annotations

from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted, text_of

CHAPTER = "02_nodes"

RIGHT = {
    "count_ops": text_of("count_ops", "a Counter with every key"),
    "inputs_of": text_of("inputs_of", "a stack instead of recursion"),
    "build_by_hand": text_of("build_by_hand", "create_node, a nested name for the module"),
    "dead_nodes": text_of("dead_nodes", "recursion along the users"),
}
OTHERS = {
    "count_ops": text_of("count_ops", "an Interpreter that never computes"),
    "inputs_of": text_of("inputs_of", "match and generators"),
    "build_by_hand": text_of("build_by_hand", "Proxies on nodes made by hand"),
    "dead_nodes": text_of("dead_nodes", "from the output along what is read"),
}

PARTIAL = {
    "count_ops": text_of("count_ops", "submodules of the model instead of calls"),
    "inputs_of": text_of("inputs_of", "once among args and once among kwargs"),
    "build_by_hand": text_of("build_by_hand", "the layer is put into eval mode"),
    "dead_nodes": text_of("dead_nodes", "keyword arguments are not followed"),
}
PARTIAL_EARNS = {
    "count_ops": all_but("count_ops", "graphs"),  # a module that is called twice counts once
    "inputs_of": all_but("inputs_of", "once"),
    "build_by_hand": all_but("build_by_hand", "inputs"),  # one of them is in training mode
    "dead_nodes": all_but("dead_nodes", "ways"),
}

KIND = {
    "count_ops": text_of("count_ops", "a list of pairs"),
    "inputs_of": text_of("inputs_of", "a tuple"),
    "build_by_hand": text_of("build_by_hand", "the graph instead of a module"),
    "dead_nodes": text_of("dead_nodes", "a set"),
}
RAISES = {
    "count_ops": "def count_ops(model):\n    return {node.op: 1 for node in model.graph}",
    # Right wherever the output reads a node; None and constants are not nodes.
    "dead_nodes": text_of("dead_nodes", "what the output reads must be a node"),
}
RAISES_EARN = {
    "count_ops": NOTHING,
    "dead_nodes": all_but("dead_nodes", "ways"),
}

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", RIGHT),
    Submission("bert", CHAPTER, "all right, in other ways", OTHERS),
    mishaps.untouched(CHAPTER),
    Submission("dan", CHAPTER, "right in part", PARTIAL, earns=PARTIAL_EARNS),
    Submission(
        "eva",
        CHAPTER,
        "fitted to the visible cases",
        {
            "count_ops": fitted("count_ops", "a Counter with every key", "{}"),
            "dead_nodes": fitted("dead_nodes", "recursion along the users", "[]"),
        },
        # Both redraws of count_ops are of models not shown, one of them for the task itself;
        # those of dead_nodes too, for the two other aspects.
        earns={"count_ops": NOTHING, "dead_nodes": all_but("dead_nodes", "ways", "names")},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=RAISES_EARN),
    mishaps.endless_answer(CHAPTER, RIGHT, "dead_nodes"),
    mishaps.killed_in_answer_cell(CHAPTER, RIGHT, "inputs_of"),
    mishaps.killer(CHAPTER, RIGHT, "build_by_hand", "os.kill(os.getpid(), signal.SIGSEGV)"),
    mishaps.flood(CHAPTER, RIGHT, "dead_nodes"),
    mishaps.stderr(CHAPTER, OTHERS, "build_by_hand"),
    mishaps.deleted_checks(CHAPTER, OTHERS, "count_ops", "dead_nodes"),
    mishaps.duplicated_checks(CHAPTER, OTHERS, "inputs_of", "dead_nodes"),
    mishaps.edited_check(CHAPTER, RIGHT, "dead_nodes"),
    mishaps.retyped(CHAPTER, RIGHT, "inputs_of", "count_ops"),
    mishaps.lost_metadata(CHAPTER, OTHERS),
    mishaps.files_beside(CHAPTER, RIGHT, "count_ops"),
)
