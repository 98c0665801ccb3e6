"""Right answers of several chapters in forms that a grader may not expect."""

from tests.security.unusual_but_honest import RETARGET, cell, honest
from tests.support.submissions.answer_text import text_of
from tests.support.submissions.edits import add

SUBMISSIONS = [
    honest(
        "whole-chapter",
        "all of chapter 03, in two styles",
        answers={
            "retarget": text_of("retarget", "retargeted while tracing"),
            "add_to_mul": text_of("add_to_mul", "a Transformer"),
            "relu_after_add": text_of("relu_after_add", "a new graph, the relu by keyword"),
            "relu_to_gelu": text_of("relu_to_gelu", "one nn.GELU for all"),
            "remove_dropout": text_of("remove_dropout", "a chain followed to its end"),
        },
    ),
    honest(
        "annotated",
        "a full signature, with defaults and a keyword more",
        answers={
            "retarget": """
                def retarget(
                    model: nn.Module,
                    old: Callable[..., Any],
                    new: Callable[..., Any],
                    *,
                    verbose: bool = False,
                ) -> "fx.GraphModule":
                    gm: fx.GraphModule = fx.symbolic_trace(model)
                    for node in gm.graph.find_nodes(op="call_function", target=old):
                        node.target = new
                        if verbose:
                            print(node.format_node())
                    gm.recompile()
                    return gm
            """
        },
    ),
    honest(
        "decorated",
        "a decorator with wraps around the answer",
        cell("""
            import time
            from functools import wraps

            def timed(function):
                @wraps(function)
                def run(*args, **kwargs):
                    start = time.perf_counter()
                    try:
                        return function(*args, **kwargs)
                    finally:
                        print(f"{time.perf_counter() - start:.3f} s")

                return run
        """),
        answers={"retarget": f"@timed\n{RETARGET}"},
    ),
    honest(
        "decorated-plainly",
        "a decorator that does not pass the name on",
        cell("""
            def logged(function):
                def run(*args):
                    print(len(args), "arguments")
                    return function(*args)

                return run
        """),
        answers={"retarget": f"@logged\n{RETARGET}"},
    ),
    honest(
        "no-grad-decorator",
        "@torch.no_grad() over the answer",
        answers={
            "retarget": f"@torch.no_grad()\n{RETARGET}",
        },
    ),
    honest(
        "assigned",
        "the name is assigned, to a function with another name",
        answers={
            "retarget": RETARGET.replace("retarget", "my_solution") + "\n\nretarget = my_solution",
        },
    ),
    honest(
        "a-lambda",
        "a lambda that calls a helper",
        answers={
            "retarget": RETARGET.replace("retarget", "helper")
            + "\n\nretarget = lambda model, old, new: helper(model, old, new)",
        },
    ),
    honest(
        "a-partial",
        "functools.partial of a function with one parameter more",
        answers={
            "retarget": "from functools import partial\n\n"
            + RETARGET.replace("retarget(", "general(op, ").replace('op="call_function"', "op=op")
            + '\n\nretarget = partial(general, "call_function")',
        },
    ),
    honest(
        "an-object",
        "an object that can be called",
        answers={
            "retarget": """
                class Retarget:
                    def __init__(self):
                        self.calls = 0

                    def __call__(self, model, old, new):
                        self.calls += 1
                        gm = fx.symbolic_trace(model)
                        for node in gm.graph.nodes:
                            if node.op == "call_function" and node.target is old:
                                node.target = new
                        gm.recompile()
                        return gm

                retarget = Retarget()
            """
        },
    ),
    honest(
        "a-method",
        "a bound method",
        answers={
            "retarget": """
                class Passes:
                    def retarget(self, model, old, new):
                        gm = fx.symbolic_trace(model)
                        for node in gm.graph.find_nodes(op="call_function", target=old):
                            node.target = new
                        gm.recompile()
                        return gm

                retarget = Passes().retarget
            """
        },
    ),
    honest(
        "class-inside",
        "a Transformer within the answer",
        answers={
            "retarget": text_of("retarget", "a Transformer that keeps names"),
        },
    ),
    honest(
        "tracer-outside",
        "a Tracer and a GraphModule subclass of the notebook",
        cell("""
            class OwnTracer(fx.Tracer):
                def is_leaf_module(self, m, module_qualified_name):
                    return super().is_leaf_module(m, module_qualified_name)

            class OwnModule(fx.GraphModule):
                pass
        """),
        answers={
            "retarget": """
                def retarget(model, old, new):
                    tracer = OwnTracer()
                    graph = tracer.trace(model)
                    for node in graph.nodes:
                        if node.op == "call_function" and node.target is old:
                            node.target = new
                    return OwnModule(tracer.root, graph)
            """
        },
    ),
    honest(
        "remembers",
        "the answer keeps what it made, in a list of the notebook",
        answers={
            "retarget": "made = []\n\n"
            + RETARGET.replace("    return", "    made.append(gm)\n    return"),
        },
    ),
    honest(
        "remembers-by-model",
        "the answer notes which models it has seen",
        answers={
            "retarget": "from weakref import WeakKeyDictionary\n\nseen = WeakKeyDictionary()\n\n"
            + RETARGET.replace("    gm =", "    seen[model] = seen.get(model, 0) + 1\n    gm =", 1),
        },
    ),
    honest(
        "helpers-apart",
        "helpers in a cell above, and in one below but above the check",
        cell(
            "def calls_of(gm, old):\n    return gm.graph.find_nodes(op='call_function', target=old)"
        ),
        cell("def finished(gm):\n    gm.recompile()\n    return gm", below="retarget"),
        answers={
            "retarget": """
                def retarget(model, old, new):
                    gm = fx.symbolic_trace(model)
                    for node in calls_of(gm, old):
                        node.target = new
                    return finished(gm)
            """
        },
    ),
    honest(
        "helper-redefined",
        "a helper means something else below the check",
        cell("def finished(gm):\n    gm.recompile()\n    return gm"),
        cell("def finished(one, other):\n    return one + other", below="check-retarget"),
        answers={
            "retarget": RETARGET.replace(
                "    gm.recompile()\n    return gm", "    return finished(gm)"
            )
        },
    ),
    honest(
        "written-twice",
        "a first attempt stands above the answer, under its name",
        cell("def retarget(model, old, new):\n    return model.no_such_thing"),
    ),
    honest(
        "written-again-below",
        "a wrong experiment under the answer's name, far below the check",
        add("def retarget(model):\n    return 'an experiment'", below="check-remove_dropout"),
    ),
    honest(
        "stars",
        "from torch.fx import *, and from torch import *",
        answers={
            "retarget": """
                from torch.fx import *
                from torch import *
                from torch.fx import symbolic_trace

                def retarget(model, old, new):
                    gm = symbolic_trace(model)
                    for node in gm.graph.find_nodes(op="call_function", target=old):
                        node.target = new
                    gm.recompile()
                    return gm
            """
        },
    ),
    honest(
        "renamed-imports",
        "everything under other names",
        answers={
            "retarget": """
                import torch as t
                import torch.fx as tfx
                from torch.fx import GraphModule as GM

                def retarget(model, old, new):
                    graph = (tracer := tfx.Tracer()).trace(model)
                    for node in graph.find_nodes(op="call_function", target=old):
                        node.target = new
                    return GM(tracer.root, graph)
            """
        },
    ),
    honest(
        "imports-inside",
        "imports within the answer",
        answers={
            "retarget": """
                def retarget(model, old, new):
                    import copy
                    from torch.fx import symbolic_trace

                    gm = copy.deepcopy(symbolic_trace(model))
                    for node in gm.graph.find_nodes(op="call_function", target=old):
                        node.target = new
                    gm.recompile()
                    return gm
            """
        },
    ),
    honest(
        "tested-at-once",
        "the answer's own cell tries it and prints",
        answers={
            "retarget": RETARGET
            + "\n\nprint(retarget(torch.nn.ReLU(), torch.relu, torch.tanh).code)\n"
            "assert callable(retarget)",
        },
    ),
    honest(
        "raises-after",
        "the answer's own cell raises below the answer",
        answers={
            "retarget": RETARGET + "\n\nretarget(5, torch.relu, torch.tanh)",
        },
    ),
    honest(
        "with-tabs",
        "tabs, and lines that go on",
        answers={
            "retarget": RETARGET.replace("    ", "\t").replace("gm = ", "gm = \\\n\t\t"),
        },
    ),
    honest(
        "other-letters",
        "names and comments in other languages",
        answers={
            "retarget": RETARGET.replace("node.", "узел.")
            .replace("node in", "узел in")
            .replace("gm", "größe")
            + "  # 这里返回结果 ✓",
        },
    ),
    honest(
        "windows-lines",
        "line ends of Windows in the answer",
        answers={
            "retarget": RETARGET.replace("\n", "\r\n"),
        },
    ),
    honest(
        "recursive-helper",
        "eval mode and train mode are left as the answer likes",
        cell("""
            def each(module):
                yield module
                for child in module.children():
                    yield from each(child)
        """),
        answers={
            "retarget": RETARGET.replace("    gm =", "    list(each(model))\n    gm =", 1),
        },
    ),
    honest(
        "wrapped",
        "fx.wrap at the top of a cell, for a function of the notebook",
        cell(
            """
        @fx.wrap
        def left_alone(x):
            return x if x.sum() > 0 else -x

        fx.wrap("len")
        print(fx.symbolic_trace(lambda x: left_alone(x) + 1).code)
    """,
            above="node_table",
        ),
        chapter="01_tracing",
        answers={
            "node_table": """
                def node_table(model):
                    return [
                        (node.op, node.name, len(node.all_input_nodes), len(node.users))
                        for node in fx.symbolic_trace(model).graph.nodes
                    ]
            """,
            "sign_flip": "def sign_flip(x):\n    return torch.where(x.sum() > 0, x, -x)",
        },
    ),
    honest(
        "torch-function",
        "a subclass of Tensor and a mode of the notebook",
        cell(
            """
        from torch.overrides import TorchFunctionMode

        class Loud(torch.Tensor):
            pass

        class Names(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                print(func)
                return func(*args, **(kwargs or {}))

        with Names():
            torch.ones(2).as_subclass(Loud) + 1
    """,
            above="sign_flip",
        ),
        chapter="01_tracing",
        answers={
            "sign_flip": "def sign_flip(x):\n    return torch.where(x.sum() > 0, x, -x)",
        },
    ),
    honest(
        "counter",
        "the answer returns a subclass of dict",
        chapter="02_nodes",
        answers={
            "count_ops": text_of("count_ops", "a Counter with every key"),
            "inputs_of": text_of("inputs_of", "a recursive function with an ordered dictionary"),
        },
    ),
    honest(
        "match-answer",
        "match and generators in an answer",
        chapter="02_nodes",
        answers={
            "inputs_of": text_of("inputs_of", "match and generators"),
            "build_by_hand": text_of("build_by_hand", "Proxies on nodes made by hand"),
        },
    ),
    honest(
        "lambdas-as-rules",
        "rules that are lambdas and closures",
        chapter="05_proxy",
        answers={
            "decompose": text_of("decompose", "an Interpreter on Proxies"),
            "decomposition_rules": text_of(
                "decomposition_rules", "rules that call rules, and a key more"
            ),
        },
    ),
    honest(
        "own-tracer",
        "Proxies from a Tracer of the student's own",
        chapter="05_proxy",
        answers={
            "build_with_proxies": text_of(
                "build_with_proxies", "a tracer of its own, an unused line erased again"
            ),
        },
    ),
    honest(
        "class-answers",
        "classes as answers, one a subclass of a subclass",
        chapter="06_interpreter",
        answers={
            "NegSigmSwap": text_of("NegSigmSwap", "a subclass of a subclass"),
            "AddToMul": text_of("AddToMul", "every handler notes the current node"),
        },
    ),
    honest(
        "decorated-class",
        "a class with a decorator and a base of the notebook",
        cell(
            """
        class Base(fx.Interpreter):
            swaps = {torch.neg: torch.sigmoid, torch.sigmoid: torch.neg}

        def marked(cls):
            cls.marked = True
            return cls
    """,
            above="NegSigmSwap",
        ),
        chapter="06_interpreter",
        answers={
            "NegSigmSwap": """
                @marked
                class NegSigmSwap(Base):
                    def call_function(self, target, args, kwargs):
                        return super().call_function(self.swaps.get(target, target), args, kwargs)

                    def call_method(self, target, args, kwargs):
                        names = {"neg": "sigmoid", "sigmoid": "neg"}
                        return super().call_method(names.get(target, target), args, kwargs)
            """
        },
    ),
    honest(
        "generators",
        "answers that use dictionaries up, and nested functions",
        chapter="07_features",
        answers={
            "backbone_c4_c5": text_of("backbone_c4_c5", "the names of the stages"),
            "extract": text_of("extract", "the dictionary is used up"),
        },
    ),
]
