"""The advice about an exception: a table that exercises share, and rows in an exercise's key.

A row says what the exception means about the learner's own line, in words of the course, and asks
the question that leads on. It never says what to write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from autograder.core.execution import ErrorRecord
from autograder.core.exercise import Exercise
from autograder.judge.advice_row import AdviceRow, AdviceSlot
from autograder.judge.answer_key import key_of
from autograder.judge.error_text import near_advice

Row = AdviceRow  # a short name for a long table

_ARGS = (
    "`args` holds only what was given by position, and here it has fewer entries than your line "
    "takes. What was given by keyword is in `kwargs`. How is this call written in the model below?"
)
_ONE_PLACEHOLDER = (
    "The replacement has another number of parameters than the pattern. `replace_pattern` traces "
    "both; every parameter of a function counts, also those with a default, and they are paired by "
    "their place. Which parameters do your two functions have?"
)

ADVICE: tuple[AdviceRow | AdviceSlot, ...] = (
    # -------------------------------------------------------------- the learner's own raise
    AdviceSlot.RAISE,
    Row(("Exception",), "", "You raise this exception yourself on the line above. Which condition "
        "leads there, and why does it hold here?", line=r"^raise\b"),
    Row(("AssertionError",), "", "Your own `assert` fails. What did you expect to hold there, and "
        "what is different in the model below?", line=r"^assert\b"),
    AdviceSlot.FIRST,
    # -------------------------------------------------------------- fixed order
    Row(("TypeError",), r"'[<>]=?' not supported between instances of '(\w+)' and '(\w+)'",
        "`sorted`, `min` and a heap compare what they are given, and here it is a `{1}` with a "
        "`{2}`. By which number do you order your entries, and what is compared when two "
        "numbers are equal?", where="call"),
    # -------------------------------------------------------------- a model for its trace
    Row(("AttributeError",), r"'Graph' object has no attribute 'graph'",
        "`fx.Tracer().trace` gives a `Graph`, which has the `nodes` itself; only a `GraphModule` "
        "has a `.graph`. Which of the two is on the left of the dot?"),
    Row(("AttributeError",), r"object has no attribute '(graph|module|submodules|env|name)'",
        "An Interpreter keeps its graph in `{1}`, which its own `__init__` sets. Does the "
        "`__init__` of your class call the one that it comes from?", where="run"),
    Row(("AttributeError",), r"'(\w+)' object has no attribute '(graph|recompile|code)'",
        "`{1}` has no `{2}`: only a `GraphModule` has, and tracing makes one. Is the model traced "
        "before this line, and does this line use the trace?"),
    Row(("AttributeError",), r"'Graph' object has no attribute '(\w+)'",
        "A `Graph` is the list of nodes; `{1}` may belong to its `GraphModule`, or be spelled "
        "differently. Which of the two do you hold on this line?"),
    Row(("TypeError",), r"'_node_list' object is not callable",
        "`nodes` is an attribute of the graph, not a method. What do the parentheses after it "
        "ask for?"),
    # -------------------------------------------------------------- numbers and containers
    Row(("AttributeError",), r"'(float|int|bool|NoneType|complex)' object has no attribute 'node'",
        "Not every result is a Proxy: here it is a `{1}`, which has no node. A rule or a function "
        "may give back a plain number, for example `0.5 * 4`. What should the new graph have "
        "instead?", exercises=("05_proxy", "05b_programs")),
    Row(("AttributeError",), r"'Node' object has no attribute 'node'",
        "This is a node already; only a Proxy has a `.node`. Which of your values are nodes, and "
        "which are Proxies?"),
    Row(("AttributeError",), r"'(?:immutable_list|tuple|list)' object has no attribute 'shape'",
        "The value of this node is a list or tuple, not a tensor. What does the exercise ask for "
        "in this case?"),
    Row(("AttributeError",),
        r"'(immutable_dict|immutable_list|tuple|list|dict|slice)' object has no attribute '(\w+)'",
        "Here `.{2}` is read from a `{1}`, which is a container. Arguments and values may be "
        "nested: which node of the model below has such a container among its arguments?"),
    Row(("AttributeError",), r"'str' object has no attribute '(__name__|__module__)'",
        "The target of `call_method`, `call_module` and `get_attr` is a string; only that of "
        "`call_function` is a function. Which opcode does the node have that your line looks at?"),
    Row(("AttributeError",), r"'str' object has no attribute '(\w+)'",
        "Here `.{1}` is read from a string. Names and some targets are strings; is the value on "
        "this line a node, or its name?"),
    Row(("AttributeError",), r"'(int|float|bool)' object has no attribute '(\w+)'",
        "Here `.{2}` is read from a plain `{1}`. Some of a node's arguments are numbers, and "
        "some functions give numbers. Which value of the model below is one?"),
    Row(("AttributeError", "TypeError"),
        r"'?NoneType'? object (?:has no attribute|is not (?:iterable|subscriptable|callable))",
        "Something on this line is `None`. Which call gave it: does that function end with "
        "`return`, or is the argument left out in this model?"),
    AdviceSlot.NAMES,
    Row(("AttributeError",), r"'(\w+)' object has no attribute '__name__'",
        "The target is a `{1}` object. A module is called by its path, a string, with "
        "`call_module`; a function by itself, with `call_function`. Which of them is meant here?"),
    Row(("AttributeError",), r"has no attribute '?([\w.]+)'?",
        "`call_module` names a module by its path, and there is none at `{1}`. Under which path is "
        "the new module registered, and is it there before this line?", line=r"call_module\(",
        exercises=("04_replace_pattern",)),
    Row(("AttributeError",), r"'Module' object has no attribute '(\w+)'",
        "`fx.GraphModule(root, graph)` takes from `root` all that the graph names. Your root has "
        "no `{1}`. Where should it come from?"),
    Row(("AttributeError",), r"'\w+' object has no attribute '[\w ]*\.[\w.]*'",
        "`getattr` and `setattr` do not follow the dots of a path. Where in the tree does this "
        "module lie?"),
    # -------------------------------------------------------------- by position, by keyword
    Row(("IndexError",), r"tuple index out of range", _ARGS, line=r"args"),
    Row(("IndexError",), r"tuple index out of range", "The tuple on this line has fewer entries "
        "than you take. If it holds what a call was given by position: which arguments does the "
        "model below give by keyword?"),
    Row(("ValueError",), r"(?:not enough|too many) values to unpack", _ARGS, line=r"\bargs\b"),
    Row(("ValueError",), r"(not enough|too many) values to unpack \(expected (\d+)",
        "Your line takes exactly {2} values apart, and here there are {1}. Which case has another "
        "number of them?"),
    Row(("IndexError",), r"list index out of range",
        "The list has fewer entries than your line assumes; it may be empty. For which model is "
        "nothing in it?"),
    Row(("KeyError",), r"^'?(input|other|self|dim|alpha|inplace|p|training)'?$",
        "`kwargs` holds only what was given by keyword, and `{1}` was not, here. How is this call "
        "written in the model below?", line=r"kwargs"),
    Row(("IndexError",), r"Replacement index \d+ out of range for positional args",
        "FX writes an operator such as `*` from its positional arguments, and a node of yours has "
        "too few. What were its `args` and `kwargs` before your edit, and where did they go?"),
    Row(("KeyError",), r"^\((.*)\)$",
        "The key is a tuple, ({1}). What a function returns may be a tuple of nodes; each of them "
        "has an entry of its own.", where="call", exercises=("inline", "decompose", "split_at")),
    AdviceSlot.KEYS,
    Row(("KeyError",), r"attribute '(\w+)' already exists",
        "`{1}` is the name of something else than a module: a parameter, a buffer or another "
        "attribute. Which question about a name finds all of them?"),
    Row(("AssertionError",), r"owning_module not set",
        "Dead code elimination asks the module of a graph, and this graph does not belong to a "
        "module yet. Does the exercise ask for dead nodes to go?"),
    Row(("TypeError",), r"'immutable_(dict|list)' object does not support mutation",
        "The `args` and `kwargs` of a node cannot be changed in place, since FX must notice each "
        "change. What happens if you assign a whole new value to them?"),
    Row(("AssertionError", "TypeError"), r"args must be a tuple",
        "The arguments are one tuple, even if there is only one: `(x)` is not a tuple. What makes "
        "a tuple of one item?"),
    Row(("TypeError",), r"'Node' object is not iterable",
        "FX walks through a tuple of arguments, and found a single node. Parentheses alone make no "
        "tuple: what makes a tuple of one item?", line=r"recompile|GraphModule|args|call_"),
    # -------------------------------------------------------------- editing graphs
    Row(("RuntimeError",), r"Tried to erase Node (\w+) but it still had \d+ users?[^{]*\{([^}]*)\}",
        "`{1}` is still read by another node ({2}). Who should read what in its place, and is that "
        "settled before this line?"),
    Row(("RuntimeError", "ValueError", "AssertionError"),
        r"(?:does not belong to this Graph|is not in this graph|belong to the same graph|"
        r"to owning graph)",
        "Every node belongs to the graph that made it. Which graph made the node on this line, and "
        "which one do you edit?"),
    Row(("ValueError",), r"(?s)Node \[graph = .* target (\w+) has type (.*?) but a Callable",
        "`call_function` takes the function itself, and its target here is the string `{1}`. A "
        "string is the target of a method. Which object is the function?"),
    Row(("RuntimeError",), r"changed (?:size )?during iteration",
        "Your loop walks over something that its own body changes. What does the loop walk over, "
        "and which line changes it?"),
    Row(("SyntaxError",), r"argument|parameter",
        "The parameters of a graph's code are its placeholders. Print the graph before a module is "
        "made of it, and look at their targets, their order, and which of them have defaults."),
    Row(("SyntaxError",), "",
        "FX wrote your graph down as Python code, and this line of it is no Python: "
        "`{generated}`. It contains something that is neither a node nor a plain value. Which of "
        "your edits put it there?", generated=r"\S"),
    Row(("AssertionError",), r"Placeholder count mismatch", _ONE_PLACEHOLDER),
    Row(("KeyError",), r"can't contain \"\.\"",
        "A name with dots is a path, and cannot be registered under one module. Which module of "
        "the tree should hold it?"),
    # -------------------------------------------------------------- tracing
    Row(("RuntimeError",), r"Found multiple different tracers",
        "All Proxies of one graph must have the same tracer. How often is a tracer made here: "
        "once, or for each Proxy?"),
    Row(("TypeError",), r"expected Tensor as element \d+ in argument \d+, but got NoneType",
        "One item of this list of tensors is `None`. What does it belong to in the model below?"),
    Row(("TypeError",), r"__cuda_array_interface__",
        "Here a tensor should be made from numbers, and while tracing there are none: `x` and all "
        "that is computed from it are Proxies. What is this value already, without making a tensor "
        "of it?", where="trace"),
    Row(("TraceError", "TypeError"), "",
        "While tracing, a shape is a Proxy, and a star cannot take it apart. Which functions take "
        "a shape as one argument, or a tensor that they take it from?",
        line=r"\*\s*\w+\.(?:shape|size\()", where="trace"),
    Row(("TraceError",), "",
        "Python asks a Proxy for its value, to decide something at once. While tracing there is no "
        "value. Which operation on tensors makes the choice when the graph runs?", where="trace"),
    Row(("TraceError",), "",
        "Python asks a Proxy for its value, to decide something at once, and a rule runs before "
        "there are values. Which operation on tensors makes the choice when the graph runs?",
        where="rule"),
    Row(("TypeError",), r"doesn't apply to a 'Proxy' object",
        "A method that is taken from the class takes tensors alone, and here it gets a Proxy. On "
        "what can the method be called, so that it is recorded?", where="trace"),
    Row(("TypeError",), r"not Proxy|Proxy",
        "A Proxy has no value that could be taken out: `.item()`, `float(...)`, `int(...)` and "
        "`bool(...)` ask for one. Which of your lines does so?", where="trace"),
    Row(("AssertionError",), r"Expected FunctionType, got",
        "`symbolic_trace` takes a module, or a function made by `def`; this is an object of "
        "another kind, such as `functools.partial`. Which tool of the chapter fixes parameters "
        "while tracing?"),
    # -------------------------------------------------------------- values and comparing
    Row(("TypeError",), r"received an invalid combination of arguments - got \((.*?)\)",
        "The function was given ({1}), and takes no such mixture. A `bool` or a number of Python "
        "is not a tensor: which of your values left the tensors, and on which line?"),
    Row(("TypeError",), r"argument of type '.*function.*' is not (?:iterable|a container)",
        "`in` looks into a string, and the target of `call_function` is a function. Which opcode "
        "does the node have that your line looks at?"),
    Row(("AssertionError",), r"Expected node.target to be str(?: for (\w+))?",
        "A node of another opcode than `call_function` got a function as its target; methods, "
        "modules and attributes are named by a string. Which nodes does your condition let "
        "through?"),
    Row(("TypeError",), r"must be Tensor, not Node",
        "This operation got a node, and it needs the node's value. An Interpreter hands values to "
        "its handlers; `n.args` are nodes still. What turns them into values?",
        exercises=("06_interpreter", "06b_measuring")),
    Row(("TypeError",), r"must be Tensor, not (tuple|list|dict|NoneType|int|float|bool|str)",
        "This function compares or computes with tensors only, and here a value is a `{1}`. Models "
        "may return nested values and plain numbers. Which kinds does the exercise name?",
        where="call"),
    Row(("TypeError",), r"must be Tensor, not NoneType",
        "In the graph that you returned, an argument of this call is `None`. Which value should it "
        "have, and does the model's call give it by position, by keyword, or by default?",
        where="result"),
    Row(("EOFError",), "", "`input()` waits for typed text, and in a check there is none. "
        "Where should that value come from?", line=r"\binput\("),
    Row(("TypeError",), r"torch\.return_types\.(max|min|sort|topk|mode|median)",
        "`{1}` with a dimension gives a pair: values and indices. Which of them do you compute "
        "with, or is there an operation that gives only the values?"),
    Row(("TypeError",), r"must be Tensor, not NoneType",
        "A value is `None` where a tensor is needed. Which of your methods has a path without "
        "`return`?"),
    Row(("AttributeError",), r"'Node' object has no attribute '(\w+)'",
        "A `Node` is a line of the graph, and has no `{1}`. A value that it computes is there only "
        "when the graph runs; an attribute that you give to a node is lost in a copy, and "
        "`node.meta` is not."),
    Row(("TypeError",), r"\bNode\b",
        "A `Node` is a line of the graph: it has no value, and does not record what is done with "
        "it. Is one left, inside a list perhaps, or among keyword arguments?"),
    Row(("KeyError",), r"^'?(tensor_meta)'?$",
        "`ShapeProp` writes `{1}` when it runs the graph, and only for nodes that give tensors. "
        "Has it run before this line, and what does this node give?"),
    Row(("RuntimeError",), r"Boolean value of Tensor with more than one",
        "`==` of two tensors gives a tensor of answers, one for each entry, and `if`, `all` and "
        "`in` need one. How are two tensors compared as a whole, and what about other values?"),
    Row(("RuntimeError",), r"Originating a \w+\(\) at item|Only Tensors created explicitly",
        "`copy.deepcopy` refuses a tensor that was computed with gradients. Which tensors do you "
        "copy: arguments, or results?", line=r"deepcopy"),
    Row(("RuntimeError",), r"Originating a \w+\(\) at item",
        "`torch.testing.assert_close` compares tensors and numbers; of something else, a string "
        "for example, it raises no `AssertionError` but this. Which values of the model below are "
        "neither?"),
    Row(("RuntimeError",), r"Only Tensors created explicitly",
        "A tensor that was computed with gradients cannot be copied by `copy.deepcopy`. Which "
        "tensors do you copy: arguments, or results?"),
    Row(("RecursionError",), "",
        "`self.run_node` is your own method, which calls itself here without end. How do you reach "
        "the method of the class that yours comes from?", line=r"\bself\.run_node\("),
    Row(("RecursionError",), "",
        "Your function calls itself without end. An item of a string is a string again: does it "
        "walk into strings as if they were containers?",
        exercises=("inputs_of", "wellformed", "node_table", "first_nonfinite", "record_shapes",
                   "is_faithful")),
    Row(("RecursionError",), "",
        "A function calls itself without end. Which of your methods calls itself, directly or "
        "through the class that it is made from?"),
    Row(("StopIteration",), "",
        "`next` found nothing: no item fulfils the condition, or all have been taken. For which "
        "node is that so here?"),
    Row(("TypeError",), r"Can't instantiate abstract class \w+ .*abstract methods? '?(\w+)'?",
        "The class that yours comes from leaves `{1}` to you. Is it a method of your class, under "
        "this name?"),
    AdviceSlot.LAST,
    Row(("TypeError",), r"unhashable type: '(\w+)'",
        "A `{1}` can be no key of a dictionary and no member of a set. Which argument of a node is "
        "one here?"),
    Row(("TypeError",), r"'(?:Node|int)' object is not callable|'str' object is not callable",
        "Your line calls a value that is not a function: the target of a method or of a module "
        "is a string. Which opcode does the node have?"),
    Row(("TypeError",), r"got an unexpected keyword argument '(\w+)'",
        "The recorded call has the argument `{1}`, and a rule is called with all arguments of the "
        "call. Which parameters does your rule have?", where="rule"),
    Row(("TypeError",), r"got an unexpected keyword argument '(\w+)'",
        "The function that is called now does not know `{1}`, which the old call had. What did "
        "`{1}` mean there, and what should become of it?", where="result"),
    Row(("TypeError",), r"missing \d+ required positional argument",
        "The call has fewer arguments than the function takes. Which arguments did the old call "
        "have, by position and by keyword, and which has the new one?", where="result"),
    Row(("NameError", "UnboundLocalError"), r"'(\w+)'",
        "`{1}` has no value when this line runs. Is it imported, spelled as it was "
        "defined, and set on every path to this line?", where="call"),
    Row(("ValueError",), r"node: '([\w.]+)' is not present in model",
        "The model below has no node or module called `{1}`: it has fewer blocks than others of "
        "its kind. Which name is right for every model of the exercise?"),
    Row(("AttributeError",), r"'(\w+)' object has no attribute '(\w+)'",
        "`{1}` has no `{2}`. What do you hold on this line, and did you expect an object of "
        "another kind?", where="call"),
    Row(("KeyError",), r"^'?([\w.]+)'?$",
        "The dictionary on this line has no key `{1}`. When is it filled, and under which keys: "
        "nodes, names or targets?", where="call"),
    Row(("RuntimeError",), r"must match the size|shapes? cannot be|size mismatch",
        "The operation exists, but these shapes do not go together. Write down the shape of each "
        "value, line by line; did a dimension get lost on the way?"),
    Row(("TypeError",), r"takes (?:from )?\d+ .*positional arguments? .*(?:was|were) given",
        "The call has more arguments by position than the function takes that it calls. What does "
        "each of them mean, and what should become of it?", where="result"),
    Row(("TypeError",), r"takes (?:from )?\d+ .*positional arguments? .*(?:was|were) given",
        "Your function takes fewer arguments than it is called with. Compare its parameters with "
        "the ones that the exercise gives."),
    Row(("TypeError",), r"missing \d+ required (?:positional|keyword-only) argument",
        "It is called with fewer arguments than it asks for. Compare its parameters with the ones "
        "that the exercise gives: which of them have a default there?", line=r"^$", where="call"),
    Row(("TypeError",), r"got an unexpected keyword argument '(\w+)'",
        "It is called with `{1}` by name. Compare the names of its parameters with the ones that "
        "the exercise gives.", line=r"^$", where="call"),
    # -------------------------------------------------------------- all other errors
    Row(("TraceError",), "",
        "Python asks a Proxy for its value on this line, and while tracing there is none. "
        "Is the question about something that is known now, such as a type or an argument?"),
    Row(("TypeError",), r"'Proxy' object cannot be interpreted as an integer",
        "Python asks a Proxy for a whole number here, as `range` and indices do, and while tracing "
        "there is none. Should your function trace what asks, or leave it as it is?"),
    Row(("RuntimeError",), r"Argument '(\w+)' of Node '(\w+)' was used before it has been defined",
        "`{2}` reads `{1}`, which the graph computes only later. Which of the two did you insert "
        "or change, and at which place?"),
    Row(("RuntimeError",), r"generator raised StopIteration",
        "`next` found nothing within a generator. For which model is there nothing left to take?"),
    Row(("KeyError",), r"(?s)^(.{1,60})$",
        "A dictionary has no entry for `{1}`. Which entries does it have when this line runs, and "
        "is this key of their kind?"),
    Row(("SystemExit",), "", "Something on this line ends Python. An answer returns, or raises."),
)  # fmt: skip
"""The first matching row applies. The rows of an exercise are inserted at the slots."""


def advice_for(exercise: Exercise, error: ErrorRecord, where: str) -> str:
    """The advice about an exception, or ``""`` if no row fits.

    Args:
        exercise: the exercise whose answer raised it.
        error: the record of the exception.
        where: the situation in which it was raised; see `AdviceRow`.
    """
    if near := near_advice(error):
        return near
    types = {error.get("type"), *error.get("types", ())}
    says = error.get("says") or error.get("message") or ""
    for row in rows_for(exercise):
        if types.isdisjoint(row.types) or row.where not in ("", where):
            continue
        found = re.search(row.says, says)
        if not found or not re.search(row.line, error.get("text", "")):
            continue
        if re.search(row.generated, error.get("generated", "")):
            return _filled(row.advice, found, error)
    return ""


def rows_for(exercise: Exercise) -> Iterator[AdviceRow]:
    """The shared rows and the exercise's own rows, in order."""
    own = key_of(exercise).advice
    for entry in ADVICE:
        if isinstance(entry, AdviceSlot):
            yield from (row for row in own if row.slot is entry)
        elif not entry.exercises or any(_is(exercise, name) for name in entry.exercises):
            yield entry


def _is(exercise: Exercise, name: str) -> bool:
    return exercise.name == name or exercise.chapter.startswith(name)


def _filled(advice: str, found: re.Match[str], error: ErrorRecord) -> str:
    """Fill in the placeholders of an advice; leave text from a student's code unchanged."""
    groups = {str(i): group or "" for i, group in enumerate(found.groups(), 1)}
    generated = re.sub(r" at 0x[0-9a-fA-F]+", "", error.get("generated", ""))
    values = groups | {"generated": generated, "line": error.get("text", "")}
    return re.sub(r"\{(\w+)\}", lambda hole: values.get(hole[1], hole[0]), advice)
