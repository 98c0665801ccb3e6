"""Exercise 2b.1: every fault of a graph module."""

from __future__ import annotations

from collections.abc import Callable

from torch import fx

from autograder.authoring.question import (
    CALL_OPS,
    COMMON,
    INPUT_KINDS,
    Aspect,
    Case,
    Exercise,
    Expect,
    RandomModels,
    Recipe,
    Vocabulary,
    ops,
)
from autograder.exercises.ch02b_lint.wellformed import models
from autograder.exercises.ch02b_lint.wellformed import models_broken as plain
from autograder.exercises.ch02b_lint.wellformed import models_broken_places as places
from autograder.exercises.ch02b_lint.wellformed import models_faults as faults
from autograder.exercises.ch02b_lint.wellformed import models_faults_elsewhere as elsewhere
from autograder.exercises.ch02b_lint.wellformed import models_sound as harmless
from autograder.exercises.ch02b_lint.wellformed.models_faults import Step
from autograder.exercises.ch02b_lint.wellformed.models_random import chosen, with_faults

HINTS = (
    "Take the codes one after the other: each is a few lines, and none needs `lint`. "
    "Section 2b.2 breaks one model in each of these ways. "
    "To visit arguments, you have written the right walk in `inputs_of`; here it must give "
    "tensors, too.",
    "`set(gm.graph.nodes)` are the nodes that belong here; an erased node is not in it. "
    '`gm.graph.python_code("self").src` is the code that the graph generates now. '
    "`gm.modules()` gives every module, and `module._modules`, `module._parameters` and "
    "`module._buffers` are dictionaries. "
    'Follow a target part by part, `target.split(".")`, with `hasattr` and `getattr`.',
    "```python\n"
    "found = set()\n"
    "nodes = list(gm.graph.nodes)\n"
    "defined = set()\n"
    "for node in nodes:\n"
    "    for value in ...:  # everything in node.args and node.kwargs, nested\n"
    "        ...  # a tensor? a node that is not ours? one that is not defined yet?\n"
    "    ...  # its users; its target\n"
    "    defined.add(node)\n"
    "...  # the outputs; the code; the keys of each module\n"
    "return sorted(found)\n"
    "```",
)


def broken(name: str, aspect: str, spoil: models.Break, *, stale: bool = False) -> Case:
    """A case: a graph module with one fault."""
    return Case(name, aspect, models.Checked(models.Broken(spoil, stale)))


def sound(name: str, make: Callable[[], fx.GraphModule]) -> Case:
    """A case: a graph module without faults."""
    return Case(name, "sound", models.Checked(make))


TASK = (
    broken("an edit without recompile", "task", plain.an_edit, stale=True),
    broken("two output nodes", "task", plain.two_outputs),
    broken("an argument from another graph", "task", plain.foreign_argument),
    broken("a tensor as an argument", "task", plain.tensor_argument),
    broken("an argument that is computed later", "task", plain.later_argument),
    broken("a module that is not there", "task", plain.absent_module),
    broken("setattr with a dotted name", "task", plain.dotted_setattr),
)

SOUND = (
    sound("a fresh trace", harmless.fresh_trace),
    sound("a placeholder in the middle", harmless.late_placeholder),
    sound("tensors in node.meta", harmless.tensors_in_meta),
    sound("a plain attribute with a dot in its name", harmless.plain_dotted_attribute),
    sound("a parameter and a buffer that are None, read by get_attr", harmless.none_read),
    sound("a parameter of forward called output", harmless.input_called_output),
)

PLACES = (
    broken("no node at all", "places", places.nothing_left),
    broken("a node after the output", "places", places.node_behind_the_output),
    broken("a user in another graph", "places", places.user_elsewhere),
    broken("a tensor as a keyword argument", "places", places.tensor_keyword),
    broken("a parameter object as an argument", "places", places.parameter_object),
    broken("a tensor of a class of its own, in a list", "places", places.tensor_subclass),
    broken(
        "a tensor as a default value, no recompile", "places", places.tensor_as_default, stale=True
    ),
    broken("a node that reads itself", "places", places.reads_itself),
    broken("a later node in a list", "places", places.later_in_a_list),
    broken("a later node as a keyword argument", "places", places.later_keyword),
    broken("a node moved after its reader", "places", places.moved_behind_its_reader),
    broken("a parameter after its reader", "places", places.input_behind_its_reader),
    broken(
        "a missing module, called by a node without readers",
        "places",
        places.absent_module_unread,
    ),
    broken("a parameter with a dot in its key", "places", places.dotted_parameter),
    broken("a dotted key two levels down", "places", places.dotted_two_levels_down),
    broken(
        "a dot in the key of a buffer that is not saved", "places", places.dotted_not_persistent
    ),
    broken("a dotted key that holds no module", "places", places.dotted_no_module),
    broken("a user of the output, in another graph", "places", places.output_read_elsewhere),
)

SEVERAL = (
    broken("only a dotted key has the name of the target", "several", plain.only_a_dotted_key),
    broken("everything at once", "several", plain.everything, stale=True),
)

# ------------------------------------------------------------------ random models

SAYS: dict[Step, str] = {
    faults.foreign_argument: "a node of another graph among the arguments",
    faults.erased_argument: "an erased node among the arguments",
    faults.reader_elsewhere: "a reader in another graph",
    faults.erased_reader: "a reader that was erased",
    faults.tensor_argument: "a tensor among the arguments",
    faults.parameter_argument: "a parameter, the object itself, as an argument",
    faults.reads_itself: "a node that reads itself",
    faults.reads_a_later_one: "a node that reads a later one",
    faults.input_behind_its_reader: "a parameter of forward after its reader",
    faults.tensor_behind_its_reader: "a tensor or parameter after its reader",
    faults.absent_module: "a call of a module that is not there",
    faults.absent_attribute: "a get_attr of what is not there",
    faults.absent_module_returned: "a missing module whose value is returned",
    faults.other_target: "another target for a node",
    faults.dotted_target: "a dotted key with the name of the target",
    faults.dotted_key: "a key with a dot in the module",
    faults.dotted_key_below: "a key with a dot in some module below",
    faults.dotted_key_deep: "a key with a dot two levels down, in a module that is not called",
    elsewhere.two_outputs: "two outputs",
    elsewhere.no_output: "no output",
    elsewhere.node_behind_the_output: "a node after the output",
    elsewhere.output_in_the_middle: "a second output, in the middle",
    elsewhere.output_first: "the output first",
    elsewhere.node_added: "a node added without recompile",
    elsewhere.number_changed: "a number changed without recompile",
    elsewhere.other_method: "another method without recompile",
    elsewhere.other_result: "another result without recompile",
    elsewhere.tensor_as_default: "a tensor as a default value, without recompile",
    elsewhere.two_names: "one module under two names, both called",
    elsewhere.filled_meta: "nodes and tensors in node.meta",
    elsewhere.plain_dotted_attribute: "a plain attribute with a dot in its name",
    elsewhere.plain_things_read: "a plain tensor, a submodule and a deep weight read by get_attr",
    elsewhere.edit_taken_back: "an edit that was taken back",
    elsewhere.node_erased: "a node erased properly",
    elsewhere.constants: "a text that looks like a path, and other constants",
}


def told(recipe: Recipe) -> Expect:
    """The list of changes to the module, for the card of a failed case."""
    return Expect(built_by=tuple(SAYS[step] for step in chosen(recipe.choice)))


VOCABULARY = Vocabulary(
    ops(
        "torch.relu({a})",
        "[nn.ReLU()]({a})",
        "[nn.Sequential(nn.Identity(), nn.Sequential(nn.ReLU()))]({a})",
        "[nn.Parameter(torch.ones(()))] * {a}",
        "[nn.Softplus()]({a}) + [buffer(torch.ones(()))]",
    )
    + CALL_OPS[8:]
    + COMMON,
    results=("value", "tuple", "nothing", "dict", "nested", "nothing"),
    inputs=INPUT_KINDS,
    most=5,
)

EXERCISE = Exercise(
    number=1,
    title="Everything that can be wrong",
    stars=3,
    minutes=40,
    points=6,
    kind="analysis",
    aspects=(
        Aspect("task", 2, "each fault is found where it is plain to see"),
        Aspect("places", 2, "each fault is found in every place where it can be"),
        Aspect("several", 1, "several faults at once are distinguished"),
        Aspect("sound", 1, "sound modules that look suspicious get an empty list"),
    ),
    cases=(*TASK, *SOUND, *PLACES, *SEVERAL),
    fine_print={
        "A foreign or erased node is only `foreign-node`, not `undefined-use`.": (
            "an argument from another graph",
        ),
        "A registered parameter or buffer that is `None` exists.": (
            "a parameter and a buffer that are None, read by get_attr",
        ),
    },
    hints=HINTS,
    random=RandomModels(VOCABULARY, with_faults, expect=told),
)
